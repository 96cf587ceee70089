"""Rows of a width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from mcode.text import cell_width
from mcode.ui.wrap import wrap_all, wrap_cells, wrap_columns, wrap_words


@given(some.text("a\u4f60 b\u0301", max_size=80), some.integers(2, 20))
def test_nothing_is_lost_and_no_row_is_wider(text: str, width: int) -> None:
    rows = wrap_cells(text, width)
    assert "".join(rows) == text
    assert all(cell_width(row) <= width for row in rows)


def test_a_wide_character_moves_to_the_next_row_as_a_whole() -> None:
    assert wrap_cells("abc\u4f60d", 4) == ["abc", "\u4f60d"]


@given(some.text("ab\u4f60 ", max_size=80), some.integers(2, 20))
def test_words_stay_whole_and_in_order(text: str, width: int) -> None:
    assert " ".join(wrap_words(text, width)).split() == text.split()


def test_rows_break_between_words_and_keep_the_indentation() -> None:
    assert wrap_words("  - one two three", 10) == ["  - one", "  two", "  three"]
    assert wrap_words("see https://example.org/a/long/path now", 12) == [
        "see",
        "https://example.org/a/long/path",
        "now",
    ]
    assert wrap_words("a  b", 80) == ["a  b"]


def test_a_word_that_is_wider_than_a_row_is_broken_and_goes_on_under_itself() -> None:
    rows = wrap_all("  2  Allow edits under src/a_directory_with_a_long_name/ here", 24, 5)
    assert "".join(row.strip() for row in rows).replace(" ", "") == (
        "2Alloweditsundersrc/a_directory_with_a_long_name/here"
    )
    assert all(len(row) <= 24 for row in rows)
    assert all(row.startswith("       ") for row in rows[1:])


def test_the_last_column_of_a_table_goes_on_under_itself_and_no_word_of_it_is_broken() -> None:
    row = "  general-purpose  mcode  all tools  any task of several steps, such as a search"
    assert wrap_columns(row, 60) == [
        "  general-purpose  mcode  all tools  any task of several",
        "                                     steps, such as a search",
    ]
    assert wrap_columns("  3  1  2,197  165  209  877  3,448  list_employees, get_budget", 44) == [
        "  3  1  2,197  165  209  877  3,448",
        "      list_employees, get_budget",
    ]
    assert wrap_columns("  a   b      c", 11) == ["  a   b   c"]  # blanks give way first
