"""Lines on their way to the screen, a few times a second instead of one by one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.line.screen import Screen

_PACE = 0.05
"""Seconds from one write to the next; what comes in between goes out together."""


class Printer:
    """Gathers lines and hands them to the screen."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.written = 0
        """Lines that have gone out so far; tells whether anything came after a certain line."""
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, lines: Sequence[str]) -> None:
        """Lines for the scrollback; they go out soon."""
        self._lines += lines
        self.changed()

    def changed(self) -> None:
        """The redrawn rows are different; they are drawn soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PACE, self.flush)

    def now(self, lines: Sequence[str] = ()) -> None:
        """Lines that must be on the screen when this returns, after all that came before."""
        self._lines += lines
        self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        self.written += len(lines)
        self.screen.write(lines)

    def new_prompt(self) -> None:
        """Another line has the keys from now on."""
        self.screen.entered()
        self.screen.changed()
