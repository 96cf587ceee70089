"""Puts the screen between the library and one of its own transports: HTTP servers are checked like those on pipes."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from mcode.jsontext import JsonObject
    from mcode.mcp.screen import Screen


@dataclass(slots=True)
class ScreenedTransport:
    """Enters another transport and puts the screen into both of its streams."""

    inner: Any
    screen: Screen
    on_end: Callable[[], None]
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def __aenter__(self) -> tuple[Any, Any]:
        reading, writing = await self._stack.enter_async_context(self.inner)
        sender = _Writing(writing, self.screen)
        return _Reading(reading, writing, self.screen, self.on_end), sender

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)


@dataclass(slots=True)
class _Writing:
    """What the library writes to."""

    inner: Any
    screen: Screen

    async def send(self, item: Any) -> None:
        message = item.message
        self.screen.outgoing(
            {
                "id": getattr(message, "id", None),
                "method": getattr(message, "method", None),
                "params": getattr(message, "params", None),
            }
        )
        await self.inner.send(item)

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self.inner.__aexit__(kind, error, trace)


@dataclass(slots=True)
class _Reading:
    """What the library reads from; messages that the screen keeps back are passed over."""

    inner: Any
    writing: Any
    screen: Screen
    on_end: Callable[[], None]

    @property
    def last_context(self) -> Any:
        """The sender's context of the last message, where the transport tells it."""
        return getattr(self.inner, "last_context", None)

    async def receive(self) -> Any:
        import anyio

        try:
            while True:
                item = await self.inner.receive()
                if isinstance(item, Exception) or await self._passes(item.message):
                    return item
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.on_end()
            raise

    async def _passes(self, message: Any) -> bool:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        seen: JsonObject = {
            key: value
            for key in ("id", "method", "params", "result", "error")
            if (value := getattr(message, key, None)) is not None
        }
        sifted = self.screen.incoming(seen)
        if sifted.reply is not None:
            await self.writing.send(SessionMessage(jsonrpc_message_adapter.validate_python(sifted.reply)))
        # A result is one object for both: what the screen replaces in it, it replaces in the message.
        return sifted.forward is not None

    async def aclose(self) -> None:
        await self.inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self.inner.__aexit__(kind, error, trace)
