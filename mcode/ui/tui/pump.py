"""The event pump: what the core emits is shown in order, gathered to a few times a second."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcode.events import Event

STREAM_GAP = 0.1
"""Seconds between two repaints for streamed text and progress; in a terminal over SSH twice that."""

GAP = 1 / 30
"""Seconds between two repaints for everything else."""

PAINT = 0.025
"""Seconds in which a key is painted; what streams waits for it."""


def stream_gap(environment: Mapping[str, str]) -> float:
    """STREAM_GAP for the terminal that this environment tells of."""
    return 2 * STREAM_GAP if "SSH_CONNECTION" in environment else STREAM_GAP


class EventPump:
    """Collects events and hands them over in batches. While nothing comes, nothing wakes up."""

    def __init__(self, show: Callable[[Sequence[Event]], None], *, stream_gap: float) -> None:
        self._show = show
        self._stream_gap = stream_gap
        self._waiting: deque[Event] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._stopped = False

    def receive(self, event: Event) -> None:
        """Take an event of the core. Returns at once."""
        from mcode.events import TextDelta, ThinkingDelta, ToolProgress

        if self._stopped:
            return
        before = self._waiting[-1] if self._waiting else None
        match event, before:
            case TextDelta(text=text), TextDelta(text=earlier):
                self._waiting[-1] = TextDelta(earlier + text)
            case ThinkingDelta(text=text), ThinkingDelta(text=earlier):
                self._waiting[-1] = ThinkingDelta(earlier + text)
            case _:
                self._waiting.append(event)
        gradual = isinstance(event, (TextDelta, ThinkingDelta, ToolProgress))  # more of the same kind follow
        self._due_in(self._stream_gap if gradual else GAP)

    def key_pressed(self) -> None:
        """A key is on its way to the screen: it comes first, but holds nothing up for longer than one repaint."""
        if self._timer is None:
            return
        loop = asyncio.get_running_loop()
        painted = loop.time() + PAINT
        if self._timer.when() < painted <= self._last + 2 * self._stream_gap:
            self._timer.cancel()
            self._timer = loop.call_at(painted, self.flush)

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
