"""Logs when the event loop was blocked during a turn, so that the screen could not take a key (L-03).

Each entry says how much of that time the loop itself was working: on a busy machine it may stand without doing so.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from mcode.events import TurnFinished, TurnStarted

if TYPE_CHECKING:
    from mcode.events import Event, EventBus

TICK = 0.1
"""Seconds between two looks at the clock."""

TOO_LONG = 0.2
"""Seconds that the loop may be late without a note."""

NOTES = 20
"""Notes of one session at most; a busy machine is late all the time."""


class Watchdog:
    """Looks at the clock while a turn runs, and at nothing while nobody waits."""

    def __init__(self, events: EventBus) -> None:
        self._last = "nothing"
        """Name of the last event before a look, which tells what went on."""
        self._due = 0.0
        self._worked = 0.0
        """Seconds of the processor that the thread had used at the last look."""
        self._timer: asyncio.TimerHandle | None = None
        self._left = NOTES
        events.subscribe(self._receive)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _receive(self, event: Event) -> None:
        self._last = type(event).__name__
        if isinstance(event, TurnStarted):
            self.close()
            self._wait()
        elif isinstance(event, TurnFinished):
            self.close()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._due = loop.time() + TICK
        self._worked = time.thread_time()
        self._timer = loop.call_at(self._due, self._look)

    def _look(self) -> None:
        late = asyncio.get_running_loop().time() - self._due
        if late > TOO_LONG:
            logging.getLogger(__name__).warning(
                "the event loop stood still for %d ms, of which it worked %d; the last event was %s",
                late * 1000,
                (time.thread_time() - self._worked) * 1000,
                self._last,
            )
            self._left -= 1
        if self._left > 0:
            self._wait()
