"""Cutting text to the terminal's width, in cells."""

from __future__ import annotations

from mcode.text import cell_width


def wrap_cells(text: str, width: int) -> list[str]:
    """A line without line ends as rows of at most `width` cells; nothing is left out. Linear time."""
    if width < 1:
        return [text]
    if len(text) * 2 <= width:
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
