"""Telling a user who looks elsewhere: the bell, the window's title, and the desktop's notification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

_PUSH_TITLE, _POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"


class Notifier:
    """Writes the few sequences that are no part of a frame. All of their text is clean and our own."""

    def __init__(self, write: Callable[[str], None], *, bell: bool, title: bool, place: str) -> None:
        """`write` goes to the terminal, past the screen; `place` names the session's folder."""
        self._write = write
        self.bell = bell
        self._title = title
        self._place = shorten(clean(place, Kind.LINE), 40)
        self._shown = ""
        self.looking = True
        """False while the terminal has lost the focus."""

    def start(self) -> None:
        """Keep the title that the terminal has."""
        if self._title:
            self._write(_PUSH_TITLE)
        self.show("")

    def stop(self) -> None:
        """Bring the old title back."""
        if self._title:
            self._write(_POP_TITLE)

    def show(self, state: str) -> None:
        """What the title says beside the folder: a state, or nothing."""
        title = f"mcode: {self._place}{f' - {state}' if state else ''}"
        if self._title and title != self._shown:
            self._shown = title
            self._write(f"\x1b]0;{title}\x07")

    def waits(self, what: str) -> None:
        """Something waits for the user."""
        self.show(what)
        self._ring(what)

    def ended(self) -> None:
        """A turn is over; worth telling only to one who looks elsewhere."""
        self.show("")
        if not self.looking:
            self._ring("the turn has ended")

    def _ring(self, what: str) -> None:
        if self.bell:
            self._write("\x07")
        if not self.looking:
            self._write(f"\x1b]9;mcode: {what}\x07")
