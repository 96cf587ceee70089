"""Periodic work of a transcript: it refreshes the times of running calls and moves old texts to disk.

While there is nothing to do, no timer runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.timer import Timer

    from mcode.ui.tui.blocks import Block
    from mcode.ui.tui.transcript_view import TranscriptView
    from mcode.ui.tui.viewport import Viewport

TICK = 1.0
"""Seconds between two paintings of a call that runs."""

TIDY_GAP = 0.02
"""Seconds between two steps of putting old texts away."""


class Chores:
    """Sets a timer for each of them when there is something to do."""

    def __init__(self, view: TranscriptView, viewport: Viewport) -> None:
        self._view = view
        self._viewport = viewport
        self.ticker: Timer | None = None
        """Counts the seconds of a visible call."""
        self._tidier: Timer | None = None

    def plan(self) -> None:
        """Something was painted: see what is to be done later."""
        if self.ticker is None and self._visible_running():
            self.ticker = self._view.set_timer(TICK, self._tick)
        if self._tidier is None and self._view.document.untidy:
            self._tidier = self._view.set_timer(TIDY_GAP, self._tidy)

    def _tick(self) -> None:
        self.ticker = None
        for block in self._visible_running():
            self._view.document.touch(block)
        self._view.flush()

    def _tidy(self) -> None:
        self._tidier = None
        self._view.document.tidy()
        self.plan()

    def _visible_running(self) -> list[Block]:
        places = self._viewport.places
        if not places:
            return []
        first, last = places[0][0], places[-1][0]
        return [block for block in self._view.document.running if first <= block.number <= last]
