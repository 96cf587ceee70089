"""Which blocks are old, so that their text lies in a file: all but the newest, and those that are looked at."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.tui.blocks import Block
    from mcode.ui.tui.old_texts import OldTexts
    from mcode.ui.tui.text_holder import TextHolder

KEPT = 2_000
"""Blocks at the end of the transcript whose text stays in memory."""

KEPT_BORROWED = 32
"""Texts that were read back and stay in memory; drawn rows are kept apart from them (`row_cache.py`)."""

STEP, STEP_BYTES = 64, 250_000
"""How much is put away at once, so that no key waits for it."""

LOOKED_AT = 1_000
"""Blocks that are found to be old at once, where many came together."""

REST = 200
"""Blocks that must come before another try, where nothing could be written."""


class OldBlocks:
    """Follows a document and puts away, a little at a time, what is old in it."""

    def __init__(self, blocks: Sequence[Block], texts: OldTexts, kept: int) -> None:
        self._blocks = blocks
        self._texts = texts
        self._kept = kept
        self._reached = 0
        """Blocks before this one are old."""
        self._changed: dict[int, None] = {}
        """Old blocks that have changed since they were looked at."""
        self._due: deque[TextHolder] = deque()
        self._rests_until = 0
        """Number of blocks before which nothing is tried."""

    def changed(self, block: Block) -> None:
        """Note that there may be text in an old block again."""
        if block.number < self._reached:
            self._changed[block.number] = None

    @property
    def untidy(self) -> bool:
        """Whether there is something to put away."""
        new = self._changed or self._reached < len(self._blocks) - self._kept
        late = self._due and not self._rests
        return bool(new or late) or len(self._texts.borrowed) > KEPT_BORROWED

    def tidy(self) -> None:
        """Put away some of what is old."""
        self._look_around()
        borrowed, room = self._texts.borrowed, STEP_BYTES
        for queue, count in ((borrowed, len(borrowed) - KEPT_BORROWED), (self._due, len(self._due))):
            if queue is self._due and self._rests:
                continue
            for _ in range(min(STEP, count)):
                size = (holder := queue.popleft()).put_away(self._texts)
                if size is None:
                    self._due.appendleft(holder)
                    self._rests_until = len(self._blocks) + REST
                    break
                room -= size
                if room <= 0:
                    return

    @property
    def _rests(self) -> bool:
        return len(self._blocks) < self._rests_until

    def _look_around(self) -> None:
        """Find what has become old and what has changed since."""
        newest = len(self._blocks) - self._kept
        reached = max(self._reached, min(newest, self._reached + LOOKED_AT))
        numbers = [*self._changed, *range(self._reached, reached)]
        self._changed.clear()
        self._reached = reached
        for number in numbers:
            self._due += self._blocks[number].holders()
