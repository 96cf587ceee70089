"""Selections: which characters of a row are marked, and the text that is copied.

Selections name a row by its block and its place in it (`block << SHIFT | row`), so that they stay where they
are while the transcript grows.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from mcode.ui.tui.blocks import AnswerBlock
from mcode.ui.tui.rows import copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.selection import Selection

    from mcode.ui.tui.document import Document
    from mcode.ui.tui.row_cache import RowCache

SHIFT = 20
"""Bits of a selection's row number that count rows inside a block; the others count blocks."""

SLICE = 0.02
"""Seconds that a large selection is gathered at once."""

_ROWS = (1 << SHIFT) - 1
_FAR = 1 << 30


def mark_span(selection: Selection, block: int, row: int) -> tuple[int, int] | None:
    """First and last marked character of a row, or None."""
    span = selection.get_span(block << SHIFT | row)
    if span is None:
        return None
    start, end = span
    return (start, _FAR if end < 0 else end)


class MarkedText:
    """Makes the text of a selection; of None that is nothing."""

    def __init__(self, document: Document, cache: RowCache) -> None:
        self._document = document
        self._cache = cache

    def text(self, selection: Selection | None) -> str:
        """All of it, at once."""
        return "\n".join(self.parts(selection))

    async def gather(self, selection: Selection | None) -> str:
        """All of it, in slices: keys and frames have their turn between them, and old texts go where they were."""
        parts: list[str] = []
        since = time.monotonic()
        for part in self.parts(selection):
            parts.append(part)
            if time.monotonic() - since > SLICE:
                self._document.tidy()
                await asyncio.sleep(0)
                since = time.monotonic()
        return "\n".join(parts)

    def parts(self, selection: Selection | None) -> Iterator[str]:
        """It block by block, as lines. An answer that is selected whole gives its Markdown source."""
        blocks = self._document.blocks
        if not blocks or selection is None:
            return
        first, first_row, first_character = _place(selection.start, (0, 0, 0))
        last, last_row, last_character = _place(selection.end, (len(blocks) - 1, _ROWS, _FAR))
        begun = False
        for number in range(min(first, len(blocks) - 1), min(last, len(blocks) - 1) + 1):
            rows = list(self._cache.rows(number))
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
                yield ("\n" if gap and start == 0 and begun else "") + block.whole_text().rstrip("\n")
            else:
                yield copied(rows[start : stop + 1], character, end)
            begun = True


def _place(offset: tuple[int, int] | None, otherwise: tuple[int, int, int]) -> tuple[int, int, int]:
    if offset is None:
        return otherwise
    character, y = offset
    return y >> SHIFT, y & _ROWS, character
