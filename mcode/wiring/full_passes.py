"""Full passes of the garbage collector while nobody waits for the loop: in a long session one holds it up for as long
as a tenth of a second, and left alone it comes in the middle of a key or an answer.
"""

from __future__ import annotations

import asyncio
import gc
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

_kept: list[tuple[int, int, int]] = []
"""The collector's own thresholds, once for every session that is open."""


class FullPasses:
    """Keeps the collector from making full passes by itself while a session is open."""

    def __init__(self, events: EventBus) -> None:
        _kept.append(_kept[0] if _kept else gc.get_threshold())
        young, middle, _ = _kept[0]
        gc.set_threshold(young, middle, AT_ANY_TIME)
        self._timer: asyncio.TimerHandle | None = None
        self._forget = events.subscribe(self._receive)

    def close(self) -> None:
        """Leave the collector as it was, where no other session is open."""
        self._forget()
        if self._timer is not None:
            self._timer.cancel()
        thresholds = _kept.pop()
        if not _kept:
            gc.set_threshold(*thresholds)

    def _receive(self, event: Event) -> None:
        if self._timer is None and isinstance(event, RequestStarted | TurnFinished):
            self._timer = asyncio.get_running_loop().call_later(AFTER, self._pass)

    def _pass(self) -> None:
        self._timer = None
        if gc.get_count()[2] >= DUE:
            gc.collect()
