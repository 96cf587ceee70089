"""Follows a session to the moment its first request has been sent: expensive background work waits for that."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.events import AssistantMessage, RequestStarted, RetryScheduled, TurnFinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.events import Event, EventBus


@dataclass(slots=True)
class Departure:
    """Follows one session from its opening to the moment its first request has left."""

    sent: asyncio.Event
    """Set by the endpoint's client once it has sent any request."""
    _begun: asyncio.Event = field(default_factory=asyncio.Event)
    """A request is being made."""
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    """An answer is there, or there will be none: for clients that do not say when they have sent."""
    _forget: Callable[[], None] = field(default=lambda: None)

    @classmethod
    def of(cls, events: EventBus, sent: asyncio.Event) -> Departure:
        """The one of the session that these events are of."""
        departure = cls(sent)
        departure._forget = events.subscribe(departure._receive)
        return departure

    async def request(self) -> None:
        """Wait until the first request has gone out, however long the user takes to write it."""
        await self._begun.wait()
        await self.clear()

    async def clear(self) -> None:
        """Wait while a first request is on its way out; returns at once where none was begun."""
        if not self._begun.is_set():
            return
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.sent, self._over)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    def close(self) -> None:
        """Follow the session no further."""
        self._forget()

    def _receive(self, event: Event) -> None:
        match event:
            case RequestStarted():
                self._begun.set()
            case AssistantMessage() | RetryScheduled() | TurnFinished():
                if self._begun.is_set():
                    self._over.set()
            case _:
                pass
