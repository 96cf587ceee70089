"""Steps through earlier input, with the unsent draft kept at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOUND = 50


class Past:
    """A position in the history. The last position is the draft itself."""

    def __init__(self) -> None:
        self._entries: tuple[str, ...] = ()
        self._at = 0
        self._draft = ""

    def older(self, entries: Sequence[str], draft: str) -> str | None:
        """The entry before; None where there is none. The draft is kept when one goes away from it."""
        if self._at == len(self._entries):
            self._entries = tuple(entries)
            self._at = len(self._entries)
            self._draft = draft
        if self._at == 0:
            return None
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The entry after, or the draft at the end; None where one is there already."""
        if self._at == len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]

    def leave(self) -> None:
        """What stands in the prompt counts as the draft from now on."""
        self._entries = ()
        self._at = 0
        self._draft = ""


def found_in(entries: Sequence[str], words: str) -> list[str]:
    """Entries that contain all words, newest first, each once."""
    wanted = words.lower().split()
    newest = dict.fromkeys(reversed(entries))
    return [text for text in newest if all(word in text.lower() for word in wanted)][:_FOUND]


def as_row(text: str) -> str:
    """An entry in one row."""
    return clean(" \u23ce ".join(text.splitlines()), Kind.LINE)
