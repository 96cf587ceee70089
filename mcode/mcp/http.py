"""A server reached over HTTP, streamable or by events alone, in the shape in which the library takes transports."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode.mcp.headers import all_headers
from mcode.mcp.http_guard import BODY_LIMIT, Guard, status_text
from mcode.mcp.library import explain, failures, innermost
from mcode.mcp.server_facts import scrubber

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.tokens import TokenStore

WAITING = 64
"""Messages that wait between the server and the library; then the server waits."""

PROBE = "server/discover"
"""The first question of the newest protocol, which does not go over events alone."""

SIGN_IN = "it wants you to sign in"


@dataclass(slots=True)
class HttpTransport:
    """Connects on entering, and leaves nothing open on leaving. Enter and leave it in one task."""

    entry: ServerEntry
    start: Path
    """Where a helper for headers runs."""
    environment: Mapping[str, str]
    """What a helper for headers gets."""
    tokens: TokenStore | None = None
    fault: str = ""
    """Why the connection ended, where it was not mcode that ended it."""
    _guard: Guard | None = None
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _pumps: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _streams: list[Any] = field(default_factory=list[Any])
    _refused: bool = False

    @property
    def needs_sign_in(self) -> bool:
        """True where the server refused for want of a sign-in, which only the user can give."""
        return self._refused or (self._guard is not None and self._guard.needs_sign_in)

    async def __aenter__(self) -> tuple[Any, Any]:
        """Raises OSError where a helper gives no headers, and what the HTTP library raises for a stream of events."""
        import anyio

        headers = await all_headers(self.entry, self.start, self.environment)
        secret = frozenset(name.lower() for name in headers)
        self._guard = Guard(self.entry.url, secret, self._lose, events_only=self.entry.kind == "sse")
        async with contextlib.AsyncExitStack() as stack:
            try:
                server_reads, server_writes = await self._open(stack, self._guard, headers)
            except failures() as error:
                self._refused = self._guard.needs_sign_in
                self.fault = (
                    SIGN_IN if self._refused else self.fault or scrubber(self.entry)(_in_words(error))
                )
                raise
            self._stack = stack.pop_all()
        incoming, reading = anyio.create_memory_object_stream[Any](WAITING)
        writing, outgoing = anyio.create_memory_object_stream[Any](WAITING)
        self._streams = [incoming, outgoing]
        self._pumps = [
            asyncio.create_task(self._receive(server_reads, incoming)),
            asyncio.create_task(self._send(outgoing, server_writes, incoming)),
        ]
        return reading, writing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        for stream in self._streams:
            stream.close()
        return await self._stack.__aexit__(kind, error, trace)

    async def _open(
        self, stack: contextlib.AsyncExitStack, guard: Guard, headers: dict[str, str]
    ) -> tuple[Any, Any]:
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        from mcode.mcp.oauth import stored_sign_in

        auth: Any = stored_sign_in(self.entry, headers, self.tokens)

        transport: Any = guard  # it has the methods; the library's own class would have to be imported early

        def make_client(*_: Any, **__: Any) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(transport=transport, headers=headers, auth=auth)

        if self.entry.kind == "sse":
            return await stack.enter_async_context(
                sse_client(self.entry.url, httpx_client_factory=make_client)
            )
        client = await stack.enter_async_context(make_client())
        return await stack.enter_async_context(
            streamable_http_client(self.entry.url, http_client=client, max_sse_event_size=BODY_LIMIT)
        )

    def _lose(self, why: str) -> None:
        """The connection is of no use any more: whoever reads from it comes to its end."""
        if not self.fault:
            self.fault = scrubber(self.entry)(why)
        for stream in self._streams[:1]:
            stream.close()

    async def _receive(self, server_reads: Any, incoming: Any) -> None:
        import anyio

        try:
            async for message in server_reads:
                self._clean(message)
                await incoming.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the library is gone, or the connection was lost
        finally:
            incoming.close()

    async def _send(self, outgoing: Any, server_writes: Any, incoming: Any) -> None:
        import anyio

        try:
            async for message in outgoing:
                if self.entry.kind == "sse" and getattr(message.message, "method", "") == PROBE:
                    await incoming.send(_unknown_method(message.message.id))
                    continue
                await server_writes.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._lose("it takes no more messages")

    def _clean(self, item: Any) -> None:
        """Take our secrets out of an error's words; a refusal for want of a sign-in says so."""
        error = getattr(getattr(item, "message", None), "error", None)
        if error is not None:
            error.message = SIGN_IN if self.needs_sign_in else scrubber(self.entry)(error.message)


def _unknown_method(identifier: Any) -> Any:
    """What a server of an older protocol says to the probe for the newest: it is not bothered with it."""
    from mcp.shared.message import SessionMessage
    from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError

    error = ErrorData(code=METHOD_NOT_FOUND, message="an older protocol")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


def _in_words(error: BaseException) -> str:
    """Why no connection was made; the library's own words may hold the address."""
    import httpx2

    cause = innermost(error)
    if isinstance(cause, httpx2.HTTPStatusError):
        return status_text(cause.response.status_code)
    return explain(cause)
