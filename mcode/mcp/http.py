"""A server reached over HTTP, streamable or by events alone, in the shape in which the library takes transports."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode.mcp.headers import all_headers
from mcode.mcp.http_guard import BODY_LIMIT, Guard, status_text
from mcode.mcp.library import explain, innermost
from mcode.mcp.server_facts import scrubber

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from mcode.jsontext import JsonObject
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.screen import Screen
    from mcode.mcp.tokens import TokenStore

WAITING = 64
"""Messages that wait between the server and the library; then the server waits."""

SIGN_IN = "it wants you to sign in"


@dataclass(slots=True)
class HttpTransport:
    """Connects on entering, and leaves nothing open on leaving. Enter and leave it in one task."""

    entry: ServerEntry
    screen: Screen
    start: Path
    """Where a helper for headers runs."""
    environment: Mapping[str, str]
    """What a helper for headers gets."""
    tokens: TokenStore | None = None
    on_end: Callable[[], None] = lambda: None
    """Told, once, when nothing more can come from the server."""
    fault: str = ""
    """Why the connection ended, where it was not mcode that ended it."""
    _guard: Guard | None = None
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _pumps: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _streams: list[Any] = field(default_factory=list[Any])
    _ended: bool = False
    _refused: bool = False

    @property
    def needs_sign_in(self) -> bool:
        """True where the server refused for want of a sign-in, which only the user can give."""
        return self._refused or (self._guard is not None and self._guard.needs_sign_in)

    async def __aenter__(self) -> tuple[Any, Any]:
        """Raises OSError where a helper gives no headers, and what the HTTP library raises for a stream of events."""
        import anyio

        headers = await all_headers(self.entry, self.start, self.environment)
        self._guard = Guard(self.entry.url, frozenset(name.lower() for name in headers), self._lose)
        try:
            server_reads, server_writes = await self._open(self._guard, headers)
        except BaseException as error:
            self._refused = self._guard.needs_sign_in
            self.fault = SIGN_IN if self._refused else self.fault or scrubber(self.entry)(_in_words(error))
            await self._stack.__aexit__(type(error), error, error.__traceback__)
            raise
        incoming, reading = anyio.create_memory_object_stream[Any](WAITING)
        writing, outgoing = anyio.create_memory_object_stream[Any](WAITING)
        self._streams = [incoming, outgoing]
        self._pumps = [
            asyncio.create_task(self._receive(server_reads, server_writes, incoming)),
            asyncio.create_task(self._send(outgoing, server_writes)),
        ]
        return reading, writing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        for stream in self._streams:
            stream.close()
        await self._stack.__aexit__(kind, error, trace)

    async def _open(self, guard: Guard, headers: dict[str, str]) -> tuple[Any, Any]:
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        from mcode.mcp.oauth import stored_sign_in

        auth: Any = stored_sign_in(self.entry, headers, self.tokens)

        transport: Any = guard  # it has the methods; the library's own class would have to be imported early

        def make_client(*_: Any, **__: Any) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(transport=transport, headers=headers, auth=auth)

        if self.entry.kind == "sse":
            return await self._stack.enter_async_context(
                sse_client(self.entry.url, httpx_client_factory=make_client)
            )
        client = await self._stack.enter_async_context(make_client())
        return await self._stack.enter_async_context(
            streamable_http_client(self.entry.url, http_client=client, max_sse_event_size=BODY_LIMIT)
        )

    def _lose(self, why: str) -> None:
        if not self.fault:
            self.fault = scrubber(self.entry)(why)
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self.on_end()

    async def _receive(self, server_reads: Any, server_writes: Any, incoming: Any) -> None:
        import anyio

        try:
            async for message in server_reads:
                if isinstance(message, Exception):
                    self.screen.traffic.noise += 1
                    continue
                sifted = self.screen.incoming(_as_json(message))
                if sifted.reply is not None:
                    await server_writes.send(_as_message(sifted.reply, None))
                if sifted.forward is not None:
                    wrapped = _as_message(self._clean(sifted.forward), message.metadata)
                    await incoming.send(wrapped)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the library is gone
        finally:
            incoming.close()
            self._end()

    async def _send(self, outgoing: Any, server_writes: Any) -> None:
        import anyio

        try:
            async for message in outgoing:
                self.screen.outgoing(_as_json(message))
                await server_writes.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._lose("it takes no more messages")

    def _clean(self, message: JsonObject) -> JsonObject:
        """The message without our secrets in an error's words; a refusal for want of a sign-in says so."""
        error = message.get("error")
        if not isinstance(error, dict):
            return message
        said = (
            SIGN_IN if self.needs_sign_in else scrubber(self.entry)(str(message["error"].get("message", "")))
        )
        return {**message, "error": {**message["error"], "message": said}}


def http_transport(
    entry: ServerEntry,
    screen: Screen,
    on_end: Callable[[], None],
    *,
    start: Path,
    environment: Mapping[str, str],
    tokens: TokenStore | None = None,
) -> HttpTransport:
    """The transport of one connection to a server of kind `http` or `sse`.

    `environment` is what a child process may have. Without `tokens` nobody can be signed in.
    """
    return HttpTransport(entry, screen, start, environment, tokens, on_end)


def _in_words(error: BaseException) -> str:
    """Why no connection was made; the library's own words may hold the address."""
    import httpx2

    cause = innermost(error)
    if isinstance(cause, httpx2.HTTPStatusError):
        return status_text(cause.response.status_code)
    return explain(cause)


def _as_json(message: Any) -> JsonObject:
    return message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)


def _as_message(value: JsonObject, metadata: Any) -> Any:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False), metadata)
