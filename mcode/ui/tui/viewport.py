"""Which row of which block stands in which row of the screen.

The position is a block and a row of it, never a number of rows from the beginning: what changes elsewhere does
not move what is read. Only blocks in view are laid out; the heights of all others are estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.tui.blocks import AnswerBlock
from mcode.ui.tui.heights import Heights

if TYPE_CHECKING:
    from mcode.ui.tui.blocks import Block
    from mcode.ui.tui.document import Document
    from mcode.ui.tui.row_cache import RowCache

WALK = 2_000
"""Rows that scrolling goes one by one, over exact heights; further jumps go by the estimates."""


class Viewport:
    """A window of rows over a document."""

    def __init__(self, document: Document, cache: RowCache) -> None:
        self._document = document
        self._cache = cache
        self.heights = Heights()
        self.width = 0
        self.height = 0
        self.following = True
        """Whether the last rows are in view and stay so."""
        self.top = (0, 0)
        """Block, and row of it, that the first row of the screen shows."""
        self.places: list[tuple[int, int]] = []
        """Block and row of it for each row of the screen; fewer than `height` while there is little to show."""
        self._total_left_at = 0
        """Rows that there were when the reader scrolled away from the end."""

    @property
    def row(self) -> int:
        """The row that the screen begins with, counted from the beginning of the transcript."""
        return self.heights.top(self.top[0]) + self.top[1] if len(self.heights) else 0

    @property
    def behind(self) -> int:
        """About how many rows have come since the reader scrolled away; 0 at the end."""
        return 0 if self.following else max(0, self.heights.total - self._total_left_at)

    def take_changes(self) -> None:
        """Note which blocks were added or changed."""
        blocks = self._document.blocks
        width = max(1, self.width)
        first, last = (self.places[0][0], self.places[-1][0]) if self.places else (0, -1)
        for number in self._document.take_changes():
            if number >= len(self.heights):
                for block in blocks[len(self.heights) : number + 1]:
                    self.heights.append(estimate(block, width))
            elif isinstance(blocks[number], AnswerBlock) and not first <= number <= last:
                self.heights.set(number, max(self.heights[number], estimate(blocks[number], width)))

    def resize(self, width: int, height: int) -> None:
        """Take another size: new estimates for all, and the block at the top stays there."""
        self.height = height
        if width == self.width:
            return
        number, row = self.top
        before = self.heights[number] if number < len(self.heights) else 1
        self.width = width
        self._cache.reset(width)
        self._document.take_changes()
        self.heights.reset(estimate(block, max(1, width)) for block in self._document.blocks)
        self._total_left_at = self.heights.total
        if row and number < len(self.heights):
            after = len(self._cache.rows(number))
            self.top = (number, min(row * after // max(1, before), max(0, after - 1)))

    def lay_out(self) -> None:
        """Find what each row of the screen shows."""
        if not self.following:
            self.places = self._from(self.top)
            if len(self.places) < self.height:
                self.following = True
        if self.following:
            self.places = self._from_end()
        if self.places:
            self.top = self.places[0]

    def scroll(self, by: int, target: int) -> None:
        """Move by some rows; `target`: the row that the screen would begin with, by the estimates."""
        total = self.heights.total
        place = self._walked(by) if abs(by) <= WALK else self.heights.find(target)
        self._total_left_at += self.heights.total - total
        self.go(place)
        if by > 0 and self._at_end():
            self.following = True

    def go(self, place: tuple[int, int]) -> None:
        """Begin the screen with a row of a block, as far as there is enough beneath it."""
        if self.following:
            self.following = False
            self._total_left_at = self.heights.total
        self.top = place
        total = self.heights.total
        self.lay_out()
        self._total_left_at += self.heights.total - total  # an estimate that became exact is no new row

    def fits(self, number: int) -> bool:
        """Whether all from a block on fits the screen."""
        rows = 0
        for each in range(number, len(self._document.blocks)):
            rows += self._measure(each)
            if rows > self.height:
                return False
        return True

    def _at_end(self) -> bool:
        if not self.places:
            return True
        number, row = self.places[-1]
        return row == self.heights[number] - 1 and all(
            self._measure(each) == 0 for each in range(number + 1, len(self._document.blocks))
        )

    def _from_end(self) -> list[tuple[int, int]]:
        height = self.height
        found: list[tuple[int, int]] = []
        number = len(self._document.blocks) - 1
        while number >= 0 and len(found) < height:
            count = self._measure(number)
            found += [(number, row) for row in range(count - 1, max(-1, count - 1 - height), -1)]
            number -= 1
        return found[:height][::-1]

    def _from(self, start: tuple[int, int]) -> list[tuple[int, int]]:
        number, first = start
        found: list[tuple[int, int]] = []
        while number < len(self._document.blocks) and len(found) < self.height:
            count = self._measure(number)
            stop = min(count, first + self.height - len(found))
            found += [(number, row) for row in range(first, stop)]
            number, first = number + 1, 0
        return found

    def _walked(self, by: int) -> tuple[int, int]:
        """The place that many rows from the top one, over exact heights."""
        number, row = self.top
        row += by
        while row < 0 and number > 0:
            number -= 1
            row += self._measure(number)
        last = len(self._document.blocks) - 1
        while number < last and row >= (count := self._measure(number)):
            row -= count
            number += 1
        return number, max(0, row)

    def _measure(self, number: int) -> int:
        count = len(self._cache.rows(number))
        self.heights.set(number, count)
        return count


def estimate(block: Block, width: int) -> int:
    """About how many rows a block takes."""
    return block.lines + block.cells // width + 1
