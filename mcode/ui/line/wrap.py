"""Cutting text to the terminal's width, in cells."""

from __future__ import annotations

from mcode.text import cell_width


def wrap_cells(text: str, width: int) -> list[str]:
    """A line without line ends as rows of at most `width` cells; nothing is left out. Linear time."""
    if width < 1 or len(text) * 2 <= width:
        return [text]
    rows: list[str] = []
    start = used = 0
    for at, letter in enumerate(text):
        cells = cell_width(letter)
        if used + cells > width and at > start:
            rows.append(text[start:at])
            start, used = at, 0
        used += cells
    rows.append(text[start:])
    return rows


def wrap_words(text: str, width: int) -> list[str]:
    """A line as rows that break between words and keep its indentation.

    A word that is wider than the terminal stays whole, so that an address can still be copied: the terminal
    breaks it.
    """
    if width < 1 or cell_width(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))]
    rows: list[str] = []
    row, used = "", 0
    for word in text[len(indent) :].split(" "):
        cells = cell_width(word)
        if row and used + 1 + cells > width:
            rows.append(row.rstrip(" "))
            row, used = "", 0
        row, used = (f"{row} {word}", used + 1 + cells) if row else (indent + word, len(indent) + cells)
    return [*rows, row.rstrip(" ")]
