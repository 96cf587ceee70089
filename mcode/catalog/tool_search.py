"""tool_search: finds tools that are not in the request, and loads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.catalog.directory import directory
from mcode.catalog.found import write
from mcode.catalog.placement import TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.tool import Placement, Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.catalog.found import Report
    from mcode.catalog.servers import ServerStatus
    from mcode.catalog.shelf import Shelf
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices

PATIENCE = 10.0
"""Seconds that a search waits for servers that are connecting."""

QUERIES = 8
"""Queries of one call."""

MOST = 10
"""Definitions that one call may ask for."""

FRUITLESS = 2
"""Searches in a row without a find, after which the model is told to stop."""

_TEXT = (
    "Find tools that are not in your list, of servers and of mcode's own, and load them: what it returns can be "
    "called from then on. One query for each thing you need: free words in any language, `select:a,b` for names, "
    "`/regex/` over names, `+word` for a word that must occur."
)

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "queries": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": QUERIES},
        "server": {"type": "string", "description": "search one server only"},
        "k": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST,
            "description": "definitions at most, default 5",
        },
    },
    "required": ["queries"],
    "additionalProperties": False,
}


@dataclass(slots=True)
class _Waited:
    """What earlier searches of the session leave behind."""

    servers: set[str] = field(default_factory=set[str])
    """Servers that were waited for once already."""
    fruitless: int = 0


class ToolSearch(Tool):
    """The resident door to everything that is deferred."""

    name = TOOL_SEARCH
    input_schema = _SCHEMA
    placement = Placement.TOP_LEVEL_ONLY
    output_limit = 200_000

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._before = _Waited()
        self._listed: tuple[tuple[tuple[ServerStatus, ...], tuple[Tool, ...]], str] | None = None
        """The directory, and what it was written of."""

    @property
    @override
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- as things stand when asked; the prefix keeps it
        """The fixed text, and the directory of servers as it is now."""
        state = tuple(self._shelf.servers.statuses()), self._shelf.placements.deferred()
        if self._listed is None or self._listed[0] != state:
            self._listed = state, directory(*state)
        listed = self._listed[1]
        return f"{_TEXT} There are (in the servers' own words):\n{listed}" if listed else _TEXT

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        shelf, queries = self._shelf, list(dict.fromkeys(arguments["queries"]))
        server = arguments.get("server")
        if server is not None and shelf.status(server) is None and not self._has_tools(server):
            return ToolResult(self._no_such_server(server), summary="no such server")
        await self._wait(services, server, again=False)
        findings = [await shelf.find(query, server) for query in queries]
        if any(each.missed for each in findings) and await self._wait(services, server, again=True):
            findings = [await shelf.find(query, server) for query in queries]
        self._before.fruitless = (
            0 if any(not each.missed for each in findings) else self._before.fruitless + 1
        )
        report = write(findings, arguments.get("k", 5), shelf, self._state_of_servers(server))
        shelf.seen.load(
            report.loaded, "search", query="; ".join(queries), turn=services.call.turn, call=services.call.id
        )
        return self._result(report)

    def _result(self, report: Report) -> ToolResult:
        text = report.text
        if self._before.fruitless >= FRUITLESS:
            text += (
                "\nSearching further will not help: the catalogue holds nothing closer. Do it with the tools that you "
                "have, or tell the user what is missing."
            )
        names = [str(each["name"]) for each in report.loaded]
        summary = f"{len(names)} loaded" if names else ("nothing fits" if report.missed else "nothing new")
        return ToolResult(text, data={"loaded": names, "others": list(report.others)}, summary=summary)

    async def _wait(self, services: ToolServices, server: str | None, *, again: bool) -> bool:
        """Wait for servers that are connecting; True where one was waited for.

        A server without known tools is waited for once; any other, and a second time, only after a miss (`again`).
        """
        connecting = [
            each
            for each in self._shelf.servers.statuses()
            if each.state == "connecting"
            and server in (None, each.name)
            and (again or (not each.tools and each.name not in self._before.servers))
        ]
        if not connecting:
            return False
        names = ", ".join(each.name for each in connecting)
        services.progress(f"waiting for {names}")
        self._before.servers.update(each.name for each in connecting)
        await self._shelf.servers.settle(PATIENCE)
        return True

    def _state_of_servers(self, server: str | None) -> list[str]:
        """Why some servers' tools may be missing, a line each."""
        return [
            f"{each.name}: {each.state}{f', {each.error}' if each.error else ''}"
            for each in self._shelf.servers.statuses()
            if server in (None, each.name) and (each.state in UNAVAILABLE or each.state == "connecting")
        ]

    def _has_tools(self, server: str) -> bool:
        return any(tool.source == server for tool in self._shelf.catalog)

    def _no_such_server(self, server: str) -> str:
        names = self._server_names()
        listed = f"There are: {', '.join(names)}." if names else "No server is configured."
        return f"There is no server called {server!r}; nothing was searched. {listed} Leave `server` out to search all."

    def _server_names(self) -> Sequence[str]:
        named = {each.name for each in self._shelf.servers.statuses()}
        return sorted(named | {tool.source for tool in self._shelf.catalog if tool.source != "core"})
