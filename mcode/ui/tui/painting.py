"""What each row of the screen shows of a transcript, and which of them another picture changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.tui.marking import mark_span
from mcode.ui.tui.rows import Row, Span

if TYPE_CHECKING:
    from textual.selection import Selection
    from textual.strip import Strip

    from mcode.ui.tui.row_cache import RowCache
    from mcode.ui.tui.viewport import Viewport


class Painting:
    """The strips of a viewport, before offsets for the mouse are put in."""

    def __init__(self, viewport: Viewport, cache: RowCache) -> None:
        self._viewport = viewport
        self._cache = cache
        self.strips: list[Strip] = []

    def renew(self, selection: Selection | None) -> list[int] | None:
        """Take the viewport as it is now; returns the rows that differ by that, None for all of them."""
        before, self.strips = self.strips, self._made(selection)
        if len(before) != len(self.strips):
            return None
        pairs = zip(before, self.strips, strict=True)
        return [y for y, (old, new) in enumerate(pairs) if old is not new and old != new]

    def _made(self, selection: Selection | None) -> list[Strip]:
        viewport, cache = self._viewport, self._cache
        strips: list[Strip] = []
        for number, row in viewport.places:
            marked = mark_span(selection, number, row) if selection is not None else None
            strips.append(cache.strip(number, row, marked))
        empty = cache.line(Row())
        strips += [empty] * (viewport.height - len(strips))
        behind = behind_text(viewport.behind)
        if behind and strips:
            text = f" {behind} "
            pad = Span(" " * max(0, viewport.width - len(text)))
            strips[-1] = cache.line(Row((pad, Span(text, "selected"))))
        return strips


def behind_text(rows: int) -> str:
    """`50+ new rows, End` for 50 to 99: in steps, so that the row is seldom painted; empty for none."""
    if rows <= 0:
        return ""
    power = 10 ** (len(str(rows)) - 1)
    step = next(power * each for each in (5, 2, 1) if power * each <= rows)
    return f"{step}{'+' if step > 2 else ''} new row{'' if rows == 1 else 's'}, End"
