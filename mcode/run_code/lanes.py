"""The order in which a program's calls run: what only reads side by side, everything else one by one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

ASKED_TOGETHER = 64
"""Calls with effects that may wait for their decision at the same time."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One call's place in the order."""

    turn: asyncio.Event | None
    """Set when every earlier call with effects has ended; None for a call that only reads."""


class Lanes:
    """The calls of one program. `join` in the order of issue; then `road` around the call.

    With `together`, calls with effects set out side by side, so that they can be decided on together, and the
    road awaits `body` before each one's body; without, each sets out when the one before has ended.
    """

    def __init__(self, at_once: int, *, together: bool) -> None:
        self._reading = asyncio.Semaphore(at_once)
        self._asking = asyncio.Semaphore(ASKED_TOGETHER)
        self._together = together
        self._order: list[Ticket] = []

    def join(self, *, read_only: bool) -> Ticket:
        """Take a place behind all calls that were made before."""
        if read_only:
            return Ticket(None)
        ticket = Ticket(asyncio.Event())
        self._order.append(ticket)
        self._call_next()
        return ticket

    @asynccontextmanager
    async def road(self, ticket: Ticket) -> AsyncGenerator[None]:
        """Wait until the call may set out; its place is free again when the block ends."""
        async with self._reading if ticket.turn is None else self._asking:
            if not self._together:
                await self.body(ticket)
            yield

    async def body(self, ticket: Ticket) -> None:
        """Wait until the call's body may run."""
        if ticket.turn is not None:
            await ticket.turn.wait()

    def leave(self, ticket: Ticket) -> None:
        """The call has ended, or will never run."""
        if ticket in self._order:
            self._order.remove(ticket)
            self._call_next()

    def _call_next(self) -> None:
        if self._order and (turn := self._order[0].turn) is not None:
            turn.set()
