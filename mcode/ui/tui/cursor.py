"""The block that keys and commands act on: the last one clicked or stepped to, else the last card in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.tui.blocks import CallBlock

if TYPE_CHECKING:
    from mcode.ui.tui.document import Document
    from mcode.ui.tui.row_cache import RowCache
    from mcode.ui.tui.viewport import Viewport


class Cursor:
    """A block of the document; it counts only while it is in view."""

    def __init__(self, document: Document, viewport: Viewport, cache: RowCache) -> None:
        self._document = document
        self._viewport = viewport
        self._cache = cache
        self._block: int | None = None

    def put(self, block: int) -> None:
        """Mean that block from now on."""
        self._block = block

    def step(self, by: int) -> int:
        """Go to the block after (1) or before (-1) the one at the top that shows anything; returns its number."""
        top, row = self._viewport.top
        last = len(self._document.blocks) - 1
        number = min(max(0, top + (1 if by < 0 and row else 0) + by), last)
        while 0 < number < last and not self._cache.rows(number):
            number += by
        self._block = number
        return number

    def click(self, y: int) -> int | None:
        """Go to the block in that row of the screen; returns its number where the row is its first."""
        if y >= len(self._viewport.places):
            return None
        number, row = self._viewport.places[y]
        rows = self._cache.rows(number)
        self._block = number
        return number if row == (0 if rows and rows[0].spans else 1) else None

    @property
    def block(self) -> int | None:
        """Its number; None where it is nowhere in view."""
        return self._block if any(number == self._block for number, _ in self._viewport.places) else None

    @property
    def card(self) -> int | None:
        """Its number, or that of the last card in view, or of the last card."""
        if (block := self.block) is not None:
            return block
        blocks = self._document.blocks
        visible = (number for number, _ in reversed(self._viewport.places))
        found = next((number for number in visible if isinstance(blocks[number], CallBlock)), None)
        if found is not None:
            return found
        return next((each.number for each in reversed(blocks) if isinstance(each, CallBlock)), None)

    @property
    def text(self) -> str:
        """All that the block holds, clean; empty where it is nowhere in view."""
        return self._document.blocks[block].whole_text() if (block := self.block) is not None else ""
