"""Tools and servers as tests of the catalogue need them: in this process, with nothing behind them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode.catalog.servers import ServerStatus
from mcode.tool import Effect, Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.catalog.servers import ServerState
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices
    from tests.stage import Stage

TITLE: JsonObject = {
    "type": "object",
    "properties": {
        "project": {"type": "string", "description": "Key of the project."},
        "title": {"type": "string"},
        "priority": {"type": "integer"},
    },
    "required": ["project", "title"],
}


class ServerTool(Tool):
    """A tool of a server. It answers with its arguments and remembers them."""

    effects = frozenset({Effect.NETWORK})

    def __init__(
        self, server: str, name: str, description: str, schema: JsonObject | None = None, **others: Any
    ) -> None:
        self.name = f"mcp__{server}__{name}"
        self.description = description
        self.input_schema = schema or {"type": "object", "properties": {"id": {"type": "string"}}}
        self.source = server
        self.always_load = False
        self.meta: JsonObject = {}
        self.calls: list[JsonObject] = []
        for key, value in others.items():
            setattr(self, key, value)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        self.calls.append(arguments)
        return ToolResult(f"{self.name} did it", data={"done": arguments}, summary="done")


@dataclass(slots=True)
class Servers:
    """Whoever keeps the servers."""

    known: dict[str, ServerStatus] = field(default_factory=dict[str, ServerStatus])
    waits: list[float] = field(default_factory=list[float])
    on_settle: Callable[[], None] | None = None

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(self.known[name] for name in sorted(self.known))

    async def settle(self, seconds: float) -> None:
        self.waits.append(seconds)
        if self.on_settle is not None:
            self.on_settle()

    def put(self, name: str, state: ServerState = "connected", **others: Any) -> None:
        before = self.known.get(name) or ServerStatus(name, state, 0)
        self.known[name] = replace(before, state=state, **others)


def jira(count: int = 60) -> list[ServerTool]:
    """The tools of an issue tracker: three real ones, and many that fill the catalogue."""
    filler = [
        ServerTool("jira", f"report_{n}", f"Report number {n} on sprints. " + "It has many details. " * 36)
        for n in range(count)
    ]
    return [
        ServerTool("jira", "create_issue", "Create an issue in a project.", TITLE),
        ServerTool("jira", "delete_issue", "Delete an issue for good."),
        ServerTool("jira", "list_boards", "List the boards that you can see."),
        *filler,
    ]


def join(
    session: Stage, tools: Sequence[ServerTool], servers: Servers | None = None, **others: Any
) -> Servers:
    """Put the tools of one server into a session, as a server that has connected does."""
    servers = servers or Servers()
    shelf = session.agent.builder.shelf
    shelf.servers = servers
    name = tools[0].source
    servers.put(name, tools=len(tools), **others)
    session.agent.catalog.replace_server(name, tools)
    shelf.placements.refresh()
    return servers


def system_text(body: dict[str, Any], tool: str) -> str:
    """The description of one tool in a request."""
    return next(each["description"] for each in body["tools"] if each["name"] == tool)


def names(body: dict[str, Any]) -> list[str]:
    """Names of the tools in a request."""
    return [each["name"] for each in body["tools"]]
