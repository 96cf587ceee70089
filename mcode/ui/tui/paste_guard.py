"""Pasted text stays text: an ESC in it can neither end the paste nor become a key.

Textual's parser reads escape sequences also between the marks of a bracketed paste, and hands what it cannot make
sense of on as keys: a pasted BEL would open the editor, a pasted CR would send. Most terminals take such characters
out of what they paste; tmux does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.message import Message

START, END = "\x1b[200~", "\x1b[201~"
SHOWN = "\u241b"
"""Stands for an ESC in pasted text."""


class PasteGuard:
    """Follows the marks in what is read, piece by piece."""

    def __init__(self) -> None:
        self._inside = False
        self._before = ""
        """Outside a paste: the last that was passed on, since a start mark may come in two pieces. Inside: what is
        held back, since it may be the beginning of the end mark."""

    def pass_on(self, data: str) -> str:
        """What of a piece may be read on; an ESC inside a paste is shown instead."""
        parts: list[str] = []
        while data:
            passed, data = self._of_paste(data) if self._inside else self._of_keys(data)
            parts.append(passed)
        return "".join(parts)

    def _of_keys(self, data: str) -> tuple[str, str]:
        known = len(self._before)
        before, found, rest = (self._before + data).partition(START)
        self._inside = bool(found)
        self._before = "" if found else before[1 - len(START) :]
        return (before + found)[known:], rest

    def _of_paste(self, data: str) -> tuple[str, str]:
        text, found, rest = (self._before + data).partition(END)
        kept = 0 if found else next((n for n in range(len(END) - 1, 0, -1) if text.endswith(END[:n])), 0)
        self._inside = not found
        self._before = text[len(text) - kept :] if kept else ""
        return text[: len(text) - kept].replace("\x1b", SHOWN) + found, rest


class GuardedParser(XTermParser):
    """Textual's parser behind a guard."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._guard = PasteGuard()

    @override
    def feed(self, data: str) -> Iterable[Message]:
        passed = self._guard.pass_on(data) if data else data
        return super().feed(passed) if passed or not data else ()


def guard_pastes() -> None:
    """From now on every driver that starts reads through a guard."""
    linux_driver.XTermParser = GuardedParser  # pyright: ignore[reportPrivateImportUsage] -- no public hook for it
