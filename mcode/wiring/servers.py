"""MCP servers between the start and its sessions: they outlive a session, and each session gets their tools."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.events import Notice
from mcode.mcp.resource_tools import ListMcpResources, ReadMcpResource
from mcode.mcp.server import Surroundings
from mcode.mcp.servers import Servers
from mcode.pipeline.validate import shape_fault
from mcode.tool import Tool
from mcode.wiring.departure import Departure
from mcode.wiring.long_calls import LongCalls
from mcode.wiring.remote_servers import RemoteServers
from mcode.wiring.server_news import ServerNews
from mcode.wiring.server_rules import ServerRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.catalog.catalog import Catalog
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.mcp.definitions import Definition
    from mcode.pipeline.run import Pipeline
    from mcode.tool import ToolResult, ToolServices
    from mcode.wiring.core import SessionCore
    from mcode.wiring.workbench import Workbench

AFTER_REQUEST = 0.3
"""Seconds after the first request went out at which unknown servers are connected: it has the processor first."""

HOLD = 5.0
"""Seconds that the first request waits for servers that are always loaded."""

AFTER_START = 1.5
"""Seconds after a session began in a terminal, where the first request may be long in coming."""

CHARACTERS = 4
"""Of a token, about."""

MUCH = 10_000
"""Tokens of a result of which the user is told, since the conversation carries it on."""

TOKENS_VARIABLE = "MAX_MCP_OUTPUT_TOKENS"


def open_servers(bench: Workbench) -> Servers:
    """The servers of a start, with what they offered the last time. Nothing is started yet."""
    remote = RemoteServers.of(bench)
    around = Surroundings(
        start=bench.start,
        environment=bench.environment,
        state=bench.places.state,
        logs=bench.places.logs,
        mask=bench.masker.mask,
        keys=bench.endpoint.secrets,
        roots=lambda: (bench.start, *bench.settings.additional_directories),
        remote=remote.transport,
        sign_in=remote.sign_in,
    )
    servers = Servers(bench.servers.entries, around)
    servers.load()
    servers.check = shape_fault
    bench.server_trust.approved = servers.approve
    servers.approve_named = bench.server_trust.approve
    return servers


@dataclass(slots=True)
class SessionServers:
    """The servers' tools in one session's catalogue, and the session's calls to them."""

    servers: Servers
    catalog: Catalog
    events: EventBus
    departure: Departure
    """Whoever costs much in the background waits for it."""
    interactive: bool
    rules: ServerRules
    long_calls: LongCalls
    output_limit: int = Tool.output_limit
    pipeline: Pipeline | None = None
    """Knows which calls the user has seen; set as soon as it is made."""
    takes: Callable[[Tool], bool] = field(default=lambda tool: True)
    """Whether a tool of theirs belongs into this catalogue."""
    _held: bool = False
    _starting: asyncio.Task[None] | None = None
    _ends: list[Callable[[], None]] = field(default_factory=list["Callable[[], None]"])

    @classmethod
    def join(cls, core: SessionCore, catalog: Catalog) -> SessionServers:
        """Put the tools that are known into the catalogue, and keep them there as they change."""
        bench, events, policy = core.bench, core.events, core.policy
        asked = bench.environment.get(TOKENS_VARIABLE, "")
        limit = int(asked) * CHARACTERS if asked.isdecimal() else Tool.output_limit
        rules = ServerRules(bench.pool, policy)
        departure = Departure.of(events, bench.endpoint.sent)
        long_calls = LongCalls(events, moves=bench.interactive)
        session = cls(bench.pool, catalog, events, departure, bench.interactive, rules, long_calls, limit)
        bench.pool.show = lambda text: events.emit(Notice(text))
        if bench.interactive:
            bench.pool.on_state = ServerNews(bench.pool.statuses, events).look
        bench.pool.working_directories = lambda: policy.workspace.roots
        for status in bench.pool.statuses():
            if status.tools:
                session.refresh(status.name)
        if any(status.state != "disabled" for status in bench.pool.statuses()):
            catalog.add(ListMcpResources(bench.pool.extras))
            catalog.add(ReadMcpResource(bench.pool.extras))
        session._ends += [bench.pool.listen(session.refresh), departure.close]
        return session

    def refresh(self, name: str) -> None:
        """Give the catalogue the tools of one server as they are now."""
        tools = self.servers.tools(name, self, self.output_limit)
        self.catalog.replace_server(name, [tool for tool in tools if self.takes(tool)])
        self.rules.meet(name)

    def start(self, wake: Callable[[str], object]) -> None:
        """Have servers connected: at once those that the first request waits for, the others behind it.

        `wake` gives the model a message that nobody typed.
        """
        self.long_calls.wake = wake
        if self.pipeline is not None:
            self.long_calls.conclude = self.pipeline.conclude_later
        waiting = self.servers.waiting()
        self.servers.start(held_only=True)
        if any(not server.holds_request for server in waiting):
            self._starting = asyncio.create_task(self._start_in_background())

    async def _start_in_background(self) -> None:
        """Nothing of a server, nor of the library for them, may stand between the user and the first answer."""
        sent = asyncio.create_task(self.departure.request())
        try:
            await asyncio.wait({sent}, timeout=AFTER_START if self.interactive else None)
        finally:
            sent.cancel()
        await self.departure.clear()
        await asyncio.sleep(AFTER_REQUEST)
        self.servers.start()

    async def ready(self) -> None:
        """Hold the first request for servers that are always loaded and not yet known, a few seconds at most."""
        if self._held:
            return
        self._held = True
        await self.servers.hold(HOLD)

    async def close(self) -> None:
        """Leave the servers to the next session."""
        if self._starting is not None:
            self._starting.cancel()
        while self._ends:
            self._ends.pop()()
        await self.long_calls.close()
        await self.rules.close()

    def origin_of(self, tool: str) -> JsonObject | None:
        """The server that a tool comes from and which settings define it, in the words of hooks; None for others."""
        found = self.catalog.find(tool)
        scope = self.servers.scope_of(found.source) if found is not None else ""
        if found is None or not scope:
            return None
        return {"name": found.source, "source": "dynamic" if scope == "flag" else scope}

    def objection(self, server: str, definition: Definition) -> str | None:
        return self.servers.objection(server, definition)

    def doubt(self, server: str, definition: Definition) -> str:
        return self.servers.doubt(server, definition)

    async def call(
        self, server: str, definition: Definition, arguments: JsonObject, services: ToolServices
    ) -> ToolResult:
        if self.pipeline is not None and services.call.id in self.pipeline.approved:
            await self.servers.accept(server, [definition])
        return await self.long_calls.result_of(self._call(server, definition, arguments, services), services)

    async def _call(
        self, server: str, definition: Definition, arguments: JsonObject, services: ToolServices
    ) -> ToolResult:
        result = await self.servers.call(server, definition, arguments, services)
        size = len(result.text) // CHARACTERS
        if size > MUCH and services.call.parent is None:
            most = self.output_limit // CHARACTERS
            said = (
                f"{definition.name} answered with some {size:,} tokens; the model is given {most:,} at most"
            )
            self.events.emit(Notice(f"{said} ({TOKENS_VARIABLE} sets that).", "warning"))
        return result
