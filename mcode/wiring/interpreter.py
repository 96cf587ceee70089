"""Tunes the interpreter while a session is open, so that it does not hold up the event loop.

A full garbage collection takes up to a tenth of a second in a long session, and by itself it comes in the middle of a
key or an answer: here it runs while nobody waits. And a busy thread hands the interpreter over after a millisecond:
starting a program releases it a dozen times, and with Python's own 5 ms until it is given back each time, a thread that
read a large result blocked the loop for 60 ms.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.events import RequestStarted, TurnFinished

if TYPE_CHECKING:
    from mcode.events import Event, EventBus

DUE = 20
"""Passes over the middle generation after which a full one is worth its time."""

AT_ANY_TIME = 200
"""The same for a turn that goes on without a request: the memory that cycles hold must not grow for ever."""

AFTER = 0.25
"""Seconds after a request was begun, when it has left and the model thinks, or after the end of a turn."""

HAND_OVER = 0.001
"""Seconds after which a busy thread lets another go on."""


@dataclass(frozen=True, slots=True)
class _Usual:
    """How the interpreter was before the first session."""

    thresholds: tuple[int, int, int]
    hand_over: float


_kept: list[_Usual] = []
"""The same one for every session that is open."""


class Interpreter:
    """Sets up the interpreter for a session, and sees to the collector's full passes."""

    def __init__(self, events: EventBus) -> None:
        _kept.append(_kept[0] if _kept else _Usual(gc.get_threshold(), sys.getswitchinterval()))
        young, middle, _ = _kept[0].thresholds
        gc.set_threshold(young, middle, AT_ANY_TIME)
        sys.setswitchinterval(HAND_OVER)
        self._timer: asyncio.TimerHandle | None = None
        self._forget = events.subscribe(self._receive)

    def close(self) -> None:
        """Leave the interpreter as it was, where no other session is open."""
        self._forget()
        if self._timer is not None:
            self._timer.cancel()
        usual = _kept.pop()
        if not _kept:
            gc.set_threshold(*usual.thresholds)
            sys.setswitchinterval(usual.hand_over)

    def _receive(self, event: Event) -> None:
        if self._timer is None and isinstance(event, RequestStarted | TurnFinished):
            self._timer = asyncio.get_running_loop().call_later(AFTER, self._pass)

    def _pass(self) -> None:
        self._timer = None
        if gc.get_count()[2] >= DUE:
            gc.collect()
