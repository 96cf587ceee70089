"""Whether the screen takes the mouse, changed while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ON = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
"""The reports that Textual asks for; it has no public way to give them up before its end."""


class Mouse:
    """Taken at the start by Textual's driver, or not at all."""

    def __init__(self, write: Callable[[str], None], *, on: bool) -> None:
        """`write` sends to the terminal past the screen."""
        self._write = write
        self.on = on

    def turn(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal, which then selects text by itself."""
        self.on = on
        self._write(_ON if on else _OFF)

    def again(self) -> None:
        """Another program had the terminal, and Textual has taken everything back."""
        if not self.on:
            self._write(_OFF)
