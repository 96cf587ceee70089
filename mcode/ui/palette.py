"""Colour for finished lines. It only ever repeats what a word or a sign says already."""

from __future__ import annotations

from dataclasses import dataclass

_RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Palette:
    """Wraps text in the terminal's own sixteen colours, or leaves it alone."""

    color: bool

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        return self._wrap("1;31", text)

    def warn(self, text: str) -> str:
        return self._wrap("33", text)

    def accent(self, text: str) -> str:
        return self._wrap("36", text)

    def added(self, text: str) -> str:
        return self._wrap("32", text)

    def removed(self, text: str) -> str:
        return self._wrap("31", text)

    def _wrap(self, codes: str, text: str) -> str:
        return f"\x1b[{codes}m{text}{_RESET}" if self.color and text else text
