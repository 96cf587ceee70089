"""All configured servers: their states, their tools, calls to them. Nothing here is ever fatal for a session."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.call import FailureKind
from mcode.mcp.adapt import ForeignTool
from mcode.mcp.cache import CatalogueCache, cache_directory
from mcode.mcp.connection import UnavailableError
from mcode.mcp.elicitation import Asker
from mcode.mcp.extras import Extras
from mcode.mcp.names import rivalry
from mcode.mcp.restarts import Restarts
from mcode.mcp.results import tool_result
from mcode.mcp.server import Server
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from mcode.catalog.servers import ServerStatus
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.mcp.adapt import Caller
    from mcode.mcp.definitions import Definition
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.server import Surroundings
    from mcode.tool import ToolServices

AT_ONCE = 3
"""Servers that are started at the same time in the background."""

CLOSE_TIME = 3.0
"""Seconds within which all servers are gone."""

THREAD_FROM = 256 * 1024
"""Characters of a result from which a thread makes text of it."""


class Servers:
    """Every server of a start; lives as long as mcode, beyond any one session."""

    def __init__(self, entries: Sequence[ServerEntry], around: Surroundings) -> None:
        self._around = around
        self._cache = CatalogueCache(cache_directory(around.state))
        self._servers: dict[str, Server] = {}
        self.extras = Extras(self._servers)
        """Their resources and prompts."""
        self._listeners: list[Callable[[str], None]] = []
        self._changed = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None
        self.check: Callable[[JsonObject, JsonValue], str] = lambda schema, value: ""
        """Says what is wrong with a structured result under the schema that was promised."""
        self.approve_named: Callable[[str], Awaitable[str]] | None = None
        """Has a project's server approved for good, in the user's name; None where nobody keeps that."""
        self.working_directories: Callable[[], tuple[Path, ...]] = around.roots
        """Those of the session that is open now, for servers that are told of them."""
        self.show: Callable[[str], None] = lambda text: None
        """Tells the user of the session that is open now what has to be done."""
        self.on_state: Callable[[], None] = lambda: None
        """Told when one of them stands otherwise than before."""
        for entry in sorted(entries, key=lambda each: each.name):
            refused = rivalry(entry.name, self._servers)
            self._servers[entry.name] = self._make(entry, refused)

    def __bool__(self) -> bool:
        return bool(self._servers)

    def beside(self, entries: Sequence[ServerEntry], roots: tuple[Path, ...] = ()) -> Servers:
        """Other servers in the same surroundings, with what they offered the last time. Nothing is started.

        `roots`: working directories of their own, the start directory first; empty for the session's.
        """
        around = replace(self._around, start=roots[0], roots=lambda: roots) if roots else self._around
        others = Servers(entries, around)
        others.check, others.approve_named = self.check, self.approve_named
        others.show = lambda text: self.show(text)  # noqa: PLW0108 -- whatever it is by then
        others.load()
        return others

    def load(self) -> None:
        """Take from the cache what the servers offered the last time."""
        for server in self._servers.values():
            server.load()

    def statuses(self) -> tuple[ServerStatus, ...]:
        """All servers that are configured, in order of their names."""
        return tuple(server.status() for server in self._servers.values())

    def get(self, name: str) -> Server | None:
        """One server by its name."""
        return self._servers.get(name)

    def tools(self, name: str, caller: Caller, output_limit: int) -> list[ForeignTool]:
        """The tools of a server as a session has them."""
        server = self._servers[name]
        return [
            ForeignTool(name, each, caller, always_load=server.entry.always_load, output_limit=output_limit)
            for each in server.definitions
        ]

    def listen(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with a server's name when its tools have changed; returns what ends it."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def waiting(self) -> list[Server]:
        """Those that are to be connected without waiting for a call."""
        return [server for server in self._servers.values() if server.wants_connection and not server.queued]

    def start(self, *, held_only: bool = False) -> None:
        """Begin to connect those that wait for it, a few at a time, in the background.

        `held_only`: no others than those that the first request waits for.
        """
        waiting = [each for each in self.waiting() if each.holds_request or not held_only]
        if not waiting:
            return
        for server in waiting:
            server.queued = True
        before = self._starting
        self._starting = asyncio.create_task(self._start_in_turn(waiting, before))

    async def settle(self, seconds: float) -> None:
        """Connect what is to be connected, and wait, so long at most, until no server is connecting any more."""
        self.start()
        await self._wait_for(lambda: all(status.state != "connecting" for status in self.statuses()), seconds)

    async def hold(self, seconds: float) -> None:
        """Wait, so long at most, for servers whose tools belong into the first request and are not known yet."""
        self.start(held_only=True)
        held = [each for each in self._servers.values() if each.holds_request]
        await self._wait_for(lambda: all(each.status().state != "connecting" for each in held), seconds)

    async def _wait_for(self, condition: Callable[[], bool], seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()

    async def reconnect(self, name: str) -> str:
        """End the server's connection, if there is one, and connect anew; returns a sentence on how it went."""
        server = self._servers.get(name)
        if server is None:
            return f"There is no server called {name}."
        if not server.usable:
            status = server.status()
            return f"{name} is not started: {status.state}{f', {status.error}' if status.error else ''}."
        await server.connection.stop()
        server.connection.restarts = Restarts.of(server.entry.kind)
        server.connection.start()
        await server.connection.settled()
        status = server.status()
        if status.state == "connected":
            return f"{name} is connected and has {status.tools} tools."
        return f"{name} could not be connected: {status.error or status.state}."

    async def stop(self, name: str) -> str:
        """End the server's connection and its program, until a call begins it anew; returns a sentence on it."""
        server = self._servers.get(name)
        if server is None or not server.usable:
            return f"{name} does not run: nothing was stopped."
        server.queued = False
        await server.connection.stop()
        return f"{name} is stopped. A call of one of its tools, or reconnect, starts it again."

    async def sign_in(self, name: str) -> str:
        """Sign the user in at the server and connect it; returns a sentence on how it went."""
        server = self._servers.get(name)
        if server is None or not server.usable or self._around.sign_in is None:
            return f"There is no server called {name} to sign in at; /mcp shows those that there are."
        worked, said = await self._around.sign_in(server.entry, self.show)
        return f"{said} {await self.reconnect(name)}" if worked else said

    def log_path(self, name: str) -> Path | None:
        """The file that keeps the server's standard error; None where it has none."""
        server = self._servers.get(name)
        return server.log.path if server is not None and server.entry.kind == "stdio" else None

    def scope_of(self, name: str) -> str:
        """Which settings define the server: `user`, `project`, `local`, `managed` or `flag`; empty for no server."""
        server = self._servers.get(name)
        return server.entry.scope if server is not None else ""

    def doubt(self, server: str, definition: Definition) -> str:
        """Why permissions that were given earlier do not cover this definition; empty where they do."""
        known = self._servers.get(server)
        return known.pins.doubt(server, definition) if known is not None else ""

    def approve(self, entry: ServerEntry) -> None:
        """The user has approved a project's server: it may run from now on."""
        server = self._servers.get(entry.name)
        if server is None or server.entry.hash != entry.hash or not server.entry.needs_approval:
            return
        approved = replace(entry, needs_approval=False, why_unapproved="")
        self._servers[entry.name] = self._make(approved, server.refused)
        self._servers[entry.name].load()
        self._tell_tools(entry.name)
        self.start()

    def _make(self, entry: ServerEntry, refused: str) -> Server:
        around = replace(self._around, roots=self._directories)
        return Server(entry, around, self._cache, self._tell_tools, self._tell_state, refused=refused)

    def objection(self, server: str, definition: Definition) -> str | None:
        """Why a call cannot succeed as things stand, before anybody is asked about it."""
        kept = self._servers[server]
        status = kept.status()
        why = ""
        if not kept.usable:
            why = f"is not available: {status.error or status.state}"
        elif status.state == "failed" and kept.connection.is_down:
            why = f"is not available: {kept.connection.why_failed}"
        elif kept.catalogue is not None and definition.name not in kept.catalogue.lookup:
            why = "no longer offers it"
        if not why:
            return None
        return f"{definition.name} was not called: the MCP server {server} {why}. Nothing was done."

    async def call(
        self, server: str, definition: Definition, arguments: JsonObject, services: ToolServices
    ) -> ToolResult:
        """Call a tool, connecting its server where need be; a failure is a result."""
        kept = self._servers[server]
        called = definition.name
        try:
            await kept.connection.ready()
            stale = self._stale(kept, definition)
            if stale is not None:
                return stale
            arguments = definition.arguments_for_server(arguments)
            result = await kept.connection.call(definition.own_name, arguments, Asker(server, services))
        except TimeoutError:
            limit = kept.connection.limits
            text = (
                f"{called} gave no answer within its limit of {limit.call:g} s and was cancelled; it may have had "
                f'effects. The server {server} stays connected. "timeout" in its entry raises the limit.'
            )
            return ToolResult(text, failure=FailureKind.TIMEOUT, summary="timed out")
        except UnavailableError as error:
            said = kept.around.mask(str(error))
            text = f"{called} failed at the MCP server {server}: {said}"
            return ToolResult(text, failure=FailureKind.TOOL_ERROR, summary="failed")
        schema = definition.body["output_schema"]

        def check(value: JsonValue) -> str:
            return self.check(schema, value) if schema is not None else ""

        if _is_large(result):
            return await asyncio.to_thread(tool_result, result, services.spill_path, check)
        return tool_result(result, services.spill_path, check)

    async def accept(self, name: str, definitions: Sequence[Definition]) -> None:
        """The user has let a call of these run: permissions may cover them as they are now."""
        server = self._servers.get(name)
        if server is not None and server.pins.accept(definitions):
            await asyncio.to_thread(server.pins.save)

    async def permit(
        self, name: str, rules: Mapping[str, Sequence[Definition]], *, anew: bool = False
    ) -> None:
        """Rules of the user's, each with what it covers: they hold for that as it is now, see `Pins.permit`."""
        server = self._servers.get(name)
        if server is None:
            return
        changed = [server.pins.permit(rule, covered, anew=anew) for rule, covered in rules.items()]
        if any(changed):
            await asyncio.to_thread(server.pins.save)

    async def close(self) -> None:
        """End all servers, side by side."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        closing = [asyncio.ensure_future(server.connection.close()) for server in self._servers.values()]
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_TIME + 1)
        await asyncio.to_thread(self._cache.prune)

    def _stale(self, server: Server, definition: Definition) -> ToolResult | None:
        """A refusal where the tool is no longer what the caller was shown."""
        catalogue = server.catalogue
        current = catalogue.lookup.get(definition.name) if catalogue is not None else None
        if current is not None and current.digest == definition.digest:
            return None
        if current is None:
            why = f"the MCP server {server.name} no longer offers it"
        else:
            import json

            now = json.dumps(current.body["input_schema"], ensure_ascii=False)[:4000]
            why = (
                f"the MCP server {server.name} has changed its definition since it was shown. Look at the new one "
                f"and call it again.\n{current.shown_description}\nIts input schema: {now}"
            )
        text = f"{definition.name} was not called: {why}\nNothing was done."
        return ToolResult(text, failure=FailureKind.TOOL_ERROR, summary="not called: it has changed")

    async def _start_in_turn(self, waiting: Sequence[Server], before: asyncio.Task[None] | None) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def start(server: Server) -> None:
            async with places:
                server.queued = False
                server.connection.start()
                await server.connection.settled()

        if before is not None:
            await asyncio.wait({before})
        async with asyncio.TaskGroup() as group:
            for server in sorted(waiting, key=lambda each: not each.entry.always_load):
                group.create_task(start(server))

    def _directories(self) -> tuple[Path, ...]:
        """As they are when a server asks."""
        return self.working_directories()

    def _tell_tools(self, name: str) -> None:
        for callback in tuple(self._listeners):
            callback(name)

    def _tell_state(self) -> None:
        self._changed.set()
        self.on_state()


def _is_large(result: JsonObject) -> bool:
    parts = result.get("content") or ()
    if any(part.get("type") in {"image", "resource"} for part in parts):
        return True  # an image may have to be scaled
    held = (part.get("text") or part.get("data") or part.get("resource") or "" for part in parts)
    return sum(len(str(each)) for each in held) > THREAD_FROM
