"""The event pump: what the core emits is shown in order, gathered to a few times a second."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from mcode.events import TextDelta, ThinkingDelta, ToolProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.events import Event

STREAM_GAP = 0.1
"""Seconds between two repaints for streamed text and progress; over a slow line twice that."""

GAP = 1 / 30
"""Seconds between two repaints for everything else."""

_GRADUAL = (TextDelta, ThinkingDelta, ToolProgress)
"""Events that may wait: more of the same kind follow."""


class EventPump:
    """Collects events and hands them over in batches. While nothing comes, nothing wakes up."""

    def __init__(self, show: Callable[[Sequence[Event]], None], *, stream_gap: float = STREAM_GAP) -> None:
        self._show = show
        self._stream_gap = stream_gap
        self._waiting: deque[Event] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._stopped = False

    def receive(self, event: Event) -> None:
        """Take an event of the core. Returns at once."""
        if self._stopped:
            return
        if self._waiting and isinstance(event, TextDelta) and isinstance(self._waiting[-1], TextDelta):
            self._waiting[-1] = TextDelta(self._waiting[-1].text + event.text)
        elif (
            self._waiting
            and isinstance(event, ThinkingDelta)
            and isinstance(self._waiting[-1], ThinkingDelta)
        ):
            self._waiting[-1] = ThinkingDelta(self._waiting[-1].text + event.text)
        else:
            self._waiting.append(event)
        self._due_in(self._stream_gap if isinstance(event, _GRADUAL) else GAP)

    def flush(self) -> None:
        """Show now what has come so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._last = asyncio.get_running_loop().time()
        events = tuple(self._waiting)
        self._waiting.clear()
        if events:
            self._show(events)

    def stop(self) -> None:
        """Show nothing any more: the screen is gone."""
        self._stopped = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due_in(self, gap: float) -> None:
        loop = asyncio.get_running_loop()
        due = max(loop.time(), self._last + gap)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self.flush)
