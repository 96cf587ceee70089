"""The order in which a program's calls run: what only reads side by side, everything else one by one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ASKED_TOGETHER = 64
"""Calls with effects that may wait for their decision at the same time."""


@dataclass(slots=True)
class Mark:
    """Is set once. What an event does, made for where seldom anybody waits: a call has several."""

    is_set: bool = False
    _event: asyncio.Event | None = None

    def set(self) -> None:
        self.is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        if not self.is_set:
            if self._event is None:
                self._event = asyncio.Event()
            await self._event.wait()


@dataclass(slots=True, eq=False)
class Ticket:
    """One call's place in the order."""

    turn: Mark | None
    """Set when every earlier call with effects has ended; None for a call that only reads."""
    known: Mark = field(default_factory=Mark)
    """Set when it is known what the call would change, or when it has left."""
    settled: Mark = field(default_factory=Mark)
    """Set when the user is asked about the call, or need not be as things stand, or when it has left."""
    has_left: bool = False
    writes: frozenset[Path] = frozenset()
    """The files that it would change."""
    anything: bool = False
    """It may change any file, as commands do."""
    let_through: bool = False
    """It was decided on, and its body may have run; before that, what is cancelled has done nothing."""

    def touches(self, writes: frozenset[Path]) -> bool:
        """True where these files may look different after the call."""
        return self.anything or bool(self.writes & writes)


class Lanes:
    """The calls of one program. `join` in the order of issue; then `road` and `set_out` around the call.

    With `together`, calls with effects set out side by side, so that they can be decided on together, and the
    road awaits `body` before each one's body; without, each sets out when the one before has ended.
    """

    def __init__(self, at_once: int, *, together: bool) -> None:
        self._reading = asyncio.Semaphore(at_once)
        self._asking = asyncio.Semaphore(ASKED_TOGETHER)
        self.together = together
        self._order: list[Ticket] = []
        self._reads: list[Ticket] = []

    def join(self, *, read_only: bool) -> Ticket:
        """Take a place behind all calls that were made before."""
        ticket = Ticket(None if read_only else Mark())
        self._line_of(ticket).append(ticket)
        if not read_only:
            self._call_next()
        return ticket

    def road(self, ticket: Ticket) -> asyncio.Semaphore:
        """What the call holds from its `set_out` on until it is back."""
        return self._reading if ticket.turn is None else self._asking

    async def set_out(self, ticket: Ticket) -> None:
        """Wait until the call may set out."""
        if not self.together:
            await self.body(ticket)

    async def preview(self, ticket: Ticket, writes: frozenset[Path], *, anything: bool) -> None:
        """Note what the call would change; wait until no earlier call will still change the same files."""
        ticket.writes, ticket.anything = writes, anything
        ticket.known.set()
        if ticket.turn is None or ticket.turn.is_set or not writes:
            return
        for earlier in self._order[: self._order.index(ticket)]:
            await earlier.known.wait()
            if earlier.touches(writes) and earlier in self._order:
                await self.body(ticket)
                return

    async def asking(self, ticket: Ticket) -> None:
        """Wait until the user is asked about every earlier call of the kind, or need not be: so all are shown in
        the order of the program."""
        line = self._line_of(ticket)
        for earlier in line[: line.index(ticket)]:
            await earlier.settled.wait()
        ticket.settled.set()

    async def body(self, ticket: Ticket) -> bool:
        """Wait until the call's body may run; True where it had to wait."""
        ticket.settled.set()
        if ticket.turn is None or ticket.turn.is_set:
            return False
        await ticket.turn.wait()
        return True

    def leave(self, ticket: Ticket) -> None:
        """The call has ended, or will never run."""
        if ticket.has_left:
            return
        ticket.has_left = True
        ticket.known.set()
        ticket.settled.set()
        self._line_of(ticket).remove(ticket)
        self._call_next()

    def _line_of(self, ticket: Ticket) -> list[Ticket]:
        return self._reads if ticket.turn is None else self._order

    def _call_next(self) -> None:
        if self._order and (turn := self._order[0].turn) is not None:
            turn.set()
