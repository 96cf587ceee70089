"""Selections: which characters of a row are marked, and the text that is copied.

Selections name a row by its block and its place in it (`block << SHIFT | row`), so that they stay where they
are while the transcript grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.tui.blocks import AnswerBlock
from mcode.ui.tui.rows import Row, copied

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.selection import Selection

    from mcode.ui.tui.blocks import Block

SHIFT = 20
"""Bits of a selection's row number that count rows inside a block; the others count blocks."""

_ROWS = (1 << SHIFT) - 1
_FAR = 1 << 30


def mark_span(selection: Selection, block: int, row: int) -> tuple[int, int] | None:
    """First and last marked character of a row, or None."""
    span = selection.get_span(block << SHIFT | row)
    if span is None:
        return None
    start, end = span
    return (start, _FAR if end < 0 else end)


def marked_text(
    blocks: Sequence[Block], rows_of: Callable[[int], Sequence[Row]], selection: Selection
) -> str:
    """The text of a selection. An answer that is selected whole is copied as its Markdown source."""
    if not blocks:
        return ""
    first, first_row, first_character = _place(selection.start, (0, 0, 0))
    last, last_row, last_character = _place(selection.end, (len(blocks) - 1, _ROWS, _FAR))
    parts: list[str] = []
    for number in range(min(first, len(blocks) - 1), min(last, len(blocks) - 1) + 1):
        rows = list(rows_of(number))
        start, character = (first_row, first_character) if number == first else (0, 0)
        stop, end = (last_row, last_character) if number == last else (len(rows) - 1, _FAR)
        stop = min(stop, len(rows) - 1)
        if not rows or start > stop:
            continue
        block = blocks[number]
        gap = 0 if rows[0].spans else 1
        whole = (
            start <= gap
            and character <= rows[gap].margin
            and stop == len(rows) - 1
            and end >= len(rows[-1].text)
        )
        if isinstance(block, AnswerBlock) and whole and not block.void:
            parts.append(("\n" if gap and start == 0 and parts else "") + block.whole_text().rstrip("\n"))
        else:
            parts.append(copied(rows[start : stop + 1], character, end))
    return "\n".join(parts)


def _place(offset: tuple[int, int] | None, otherwise: tuple[int, int, int]) -> tuple[int, int, int]:
    if offset is None:
        return otherwise
    character, y = offset
    return y >> SHIFT, y & _ROWS, character
