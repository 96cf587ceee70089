"""Rows of a width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from mcode.text import cell_width
from mcode.ui.line.wrap import wrap_cells


@given(some.text("a\u4f60 b\u0301", max_size=80), some.integers(2, 20))
def test_nothing_is_lost_and_no_row_is_wider(text: str, width: int) -> None:
    rows = wrap_cells(text, width)
    assert "".join(rows) == text
    assert all(cell_width(row) <= width for row in rows)


def test_a_wide_character_moves_to_the_next_row_as_a_whole() -> None:
    assert wrap_cells("abc\u4f60d", 4) == ["abc", "\u4f60d"]
