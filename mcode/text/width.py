"""How many terminal cells a text takes. `clean` comes first: control characters have no width here."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

TAB_CELLS = 4
"""Cells that a tab is counted as; front ends expand tabs to at most this many."""


def cell_width(text: str) -> int:
    """Cells that one line of text takes; wide characters count two, combining marks and joined parts none."""
    if text.isascii() and text.isprintable():
        return len(text)
    width = 0
    previous = ""
    for character in text:
        width += _step(previous, character)
        previous = character
    return width


def shorten(text: str, width: int, cut: str = "…") -> str:
    """Cut one line of text to at most `width` cells, with `cut`, one cell, at the end where something was cut."""
    if width <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text if len(text) <= width else text[: width - 1] + cut
    used = 0
    fits = 0
    previous = ""
    for index, character in enumerate(text):
        used += _step(previous, character)
        if used > width:
            return text[:fits] + cut
        if used < width:
            fits = index + 1
        previous = character
    return text


def _step(previous: str, character: str) -> int:
    """Cells that a character adds after the one before it."""
    if previous == "\u200d":
        return 0
    if "\U0001f3fb" <= character <= "\U0001f3ff" and previous >= "\u2600":
        return 0
    if character == "\ufe0f":
        # The emoji form of a character that is narrow by itself is drawn wide.
        return 1 if previous >= "\u2000" and _own_cells(previous) == 1 else 0
    return _own_cells(character)


@lru_cache(maxsize=4096)
def _own_cells(character: str) -> int:
    if character == "\t":
        return TAB_CELLS
    if unicodedata.category(character) in {"Mn", "Me", "Cf", "Cc", "Cs", "Zl", "Zp"}:
        return 0
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff":
        return 0  # vowels and finals of Hangul, drawn into the syllable before them
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
