"""Cutting text to the terminal's width, in cells."""

from __future__ import annotations

import re

from mcode.text import cell_width

_ITEM = re.compile(r" *(?:[-*+]|\d{1,3}[.)]) +(?=\S)")
_BELOW = 4
"""Cells by which the rest of a row of a table is set in, where it does not fit beside the others."""

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


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


def wrap_words(text: str, width: int, hang: int = 0) -> list[str]:
    """A line as rows that break between words and keep its indentation; `hang`: cells that later rows have more.

    A word that is wider than the terminal stays whole, so that an address can still be copied: the terminal
    breaks it.
    """
    if width < 1 or cell_width(text) <= width:
        return [text]
    indent = first = text[: len(text) - len(text.lstrip(" "))]
    rows: list[str] = []
    row, used = "", 0
    for word in text[len(indent) :].split(" "):
        cells = cell_width(word)
        if row and used + 1 + cells > width:
            rows.append(row.rstrip(" "))
            row, used = "", 0
            indent = first + " " * hang
        row, used = (f"{row} {word}", used + 1 + cells) if row else (indent + word, len(indent) + cells)
    return [*rows, row.rstrip(" ")]


def wrap_all(text: str, width: int, hang: int = 0) -> list[str]:
    """As `wrap_words`, and a word that is wider than a row is broken, too; what goes on keeps the indentation."""
    rows: list[str] = []
    for row in wrap_words(text, width, hang):
        indent = row[: len(row) - len(row.lstrip(" "))][: width // 2]
        rows += [indent + piece for piece in wrap_cells(row[len(indent) :], width - len(indent))]
    return rows


def wrap_item(text: str, width: int) -> list[str]:
    """As `wrap_words`; the later rows of a list item stand under its first word, not under its mark."""
    mark = _ITEM.match(text)
    indent = len(text) - len(text.lstrip(" "))
    return wrap_words(text, width, len(mark[0]) - indent if mark else 0)


def wrap_columns(text: str, width: int) -> list[str]:
    """As `wrap_item`; a name with its meaning beside it keeps the meaning in one column.

    A row of three columns or more is a row of a table: it has less blank in its widest gap, and where even that is
    too wide, its last column goes on under itself, or below the row where there is no room beside the others.
    """
    if width < 1 or cell_width(text) <= width:
        return [text]
    gaps = list(_GAP.finditer(text))
    if text.lstrip().startswith("|"):
        return [text]
    if len(gaps) > 1:
        start, end = max((gap.span() for gap in gaps), key=lambda span: span[1] - span[0])
        blank = max(2, end - start - (cell_width(text) - width))
        text = text[:start] + " " * blank + text[end:]
        if cell_width(text) <= width:
            return [text]
        last = list(_GAP.finditer(text))[-1].end()
        fits = cell_width(text[:last]) <= width * 2 // 3
        return _beside(text, last, width) if fits else wrap_words(text, width, _BELOW)
    if not gaps or cell_width(text[: gaps[0].end()]) > width // 2:
        return wrap_item(text, width)
    return _beside(text, gaps[0].end(), width)


def _beside(text: str, at: int, width: int) -> list[str]:
    """What stands from `at` on goes on under itself."""
    taken = cell_width(text[:at])
    first, *more = wrap_words(text[at:], width - taken)
    return [text[:at] + first, *(" " * taken + row for row in more)]
