"""Heights of blocks and where each begins: exact where a block has been drawn, else estimated."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Heights:
    """Rows of each block, with their sums. A change near the end costs what comes after it."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._ends: list[int] = []
        """Sums of the rows up to and with each block, as far as they are valid."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, block: int) -> int:
        return self._rows[block]

    def reset(self, rows: Iterable[int]) -> None:
        """Take new heights for all blocks."""
        self._rows = list(rows)
        self._ends = list(accumulate(self._rows))

    def append(self, rows: int) -> None:
        """Add a block at the end."""
        self._rows.append(rows)

    def set(self, block: int, rows: int) -> None:
        """Correct the height of a block."""
        if self._rows[block] != rows:
            self._rows[block] = rows
            del self._ends[block:]

    @property
    def total(self) -> int:
        """Rows of all blocks."""
        self._complete()
        return self._ends[-1] if self._ends else 0

    def top(self, block: int) -> int:
        """The row that a block begins with."""
        self._complete()
        return self._ends[block - 1] if block else 0

    def find(self, row: int) -> tuple[int, int]:
        """The block that a row belongs to, and the row's place in it. Rows out of range are brought in."""
        self._complete()
        if not self._rows:
            return 0, 0
        row = min(max(0, row), self._ends[-1] - 1)
        block = min(bisect_right(self._ends, row), len(self._rows) - 1)
        return block, row - self.top(block)

    def _complete(self) -> None:
        known = len(self._ends)
        if known < len(self._rows):
            start = self._ends[-1] if known else 0
            self._ends += [start + each for each in accumulate(self._rows[known:])]
