"""Pasted text stays text: an ESC in it can neither end the paste nor become a key, and no line end of it sends.

Textual's parser reads escape sequences also between the marks of a bracketed paste, and hands what it cannot make
sense of on as keys: a pasted BEL would open the editor, a pasted CR would send. Most terminals take such characters
out of what they paste; tmux does not. Where a terminal does not mark pastes at all, many lines that arrive in one
piece are taken for one: no hands type so fast, and thousands of single keys would be long on their way.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.events import Paste
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.message import Message

START, END = "\x1b[200~", "\x1b[201~"
SHOWN = "\u241b"
"""Stands for an ESC in pasted text."""

LEAST = 64
"""Characters in one piece, with two line ends or more among them, that nobody types."""

ENDED = 0.03
"""Seconds without a further piece after which such a paste is over."""

_LINES = re.compile(r"[\r\n]+(?=[^\r\n])")


class UnmarkedPaste(Paste):
    """A paste that the terminal has not marked."""


UnmarkedPaste.handler_name = Paste.handler_name


class Burst:
    """Gathers the pieces of an unmarked paste."""

    def __init__(self) -> None:
        self._text = ""
        self._last = 0.0

    def takes(self, data: str, now: float) -> bool:
        """Take a piece that begins such a paste or goes on with it; False where it is for the parser of keys."""
        plain = all(letter.isprintable() or letter in "\r\n\t" for letter in data)
        begins = len(data) >= LEAST and len(_LINES.findall(data)) >= 2
        if not plain or not (self._text or begins):
            return False
        self._text += data
        self._last = now
        return True

    def ended(self, now: float) -> str:
        """The whole paste, once nothing follows any more; empty before."""
        return self.take() if self._text and now - self._last >= ENDED else ""

    def take(self) -> str:
        """What was gathered so far, which something else follows."""
        text, self._text = self._text, ""
        return text


class PasteGuard:
    """Follows the marks in what is read, piece by piece."""

    def __init__(self) -> None:
        self._inside = False
        self._before = ""
        """Outside a paste: the last that was passed on, since a start mark may come in two pieces. Inside: what is
        held back, since it may be the beginning of the end mark."""

    @property
    def inside(self) -> bool:
        """True in the middle of a paste that is marked."""
        return self._inside

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
        self._burst = Burst()

    @override
    def feed(self, data: str) -> Iterable[Message]:
        if data and not self._guard.inside and self._burst.takes(data, time.monotonic()):
            return
        if text := self._burst.take():
            yield UnmarkedPaste(text)
        passed = self._guard.pass_on(data) if data else data
        if passed or not data:
            yield from super().feed(passed)

    @override
    def tick(self) -> Iterable[Message]:
        if text := self._burst.ended(time.monotonic()):
            yield UnmarkedPaste(text)
        yield from super().tick()


def guard_pastes() -> None:
    """From now on every driver that starts reads through a guard."""
    linux_driver.XTermParser = GuardedParser  # pyright: ignore[reportPrivateImportUsage] -- no public hook for it
