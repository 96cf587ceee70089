"""The model's Markdown as rows."""

from __future__ import annotations

import re

from mcode.text import cell_width
from mcode.ui.line.prose import Prose
from mcode.ui.look import Look

TABLE = (
    "| file | what it does | lines |",
    "|---|---|---:|",
    "| `src/cli.py` | reads the **whole** command line and starts one of the front ends | 226 |",
    "| src/start.py | a pipe \\| in a cell | 9 |",
)


def rows_of(*lines: str, width: int = 40, color: bool = False) -> list[str]:
    prose = Prose(Look(color=color), lambda: width)
    return [*(row for line in lines for row in prose.feed(line)), *prose.end()]


def without_colour(rows: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", row) for row in rows]


def test_a_table_is_laid_out_to_the_width_and_no_word_of_it_is_lost() -> None:
    rows = rows_of(*TABLE, "after it")
    assert rows[-1] == "after it"
    assert all(cell_width(row) <= 40 for row in rows)
    shown = " ".join(rows).split()
    for word in ("file", "226", "9", "command", "front", "ends"):
        assert word in shown
    assert "a pipe | in a" in "\n".join(rows)


def test_numbers_stand_flush_right_where_the_table_says_so() -> None:
    rows = rows_of("| n |", "|--:|", "| 7 |", "| 1234 |", width=30)
    (seven,) = [row for row in rows if "7" in row]
    (thousand,) = [row for row in rows if "1234" in row]
    assert seven.index("7") == thousand.index("4")


def test_a_row_with_bars_that_is_no_table_stays_as_it_is() -> None:
    assert rows_of("| a table | without a second line |") == ["| a table | without a second line |"]
    assert rows_of("```", "| a | b |", "|---|---|", "```") == ["```", "| a | b |", "|---|---|", "```"]


def test_a_table_that_is_being_written_can_be_seen() -> None:
    prose = Prose(Look(color=False), lambda: 40)
    assert prose.feed("| a | b |") == []
    assert prose.held == ["| a | b |"]


def test_strong_words_stay_strong_across_a_break_and_lose_their_stars() -> None:
    rows = rows_of("first **a long run of strong words here** last", width=20, color=True)
    assert without_colour(rows) == ["first a long run of", "strong words here", "last"]
    assert rows[0] == "first \x1b[1ma long run of\x1b[0m"
    assert rows[1] == "\x1b[1mstrong words here\x1b[0m"


def test_stars_stay_where_there_is_no_colour_to_stand_for_them() -> None:
    assert rows_of("a **strong** word") == ["a **strong** word"]


def test_stars_in_code_are_code() -> None:
    (row,) = rows_of("call `f(**a, **b)` now", color=True)
    assert without_colour([row]) == ["call `f(**a, **b)` now"]


def test_a_list_item_keeps_its_hanging_indent_with_strong_words_in_it() -> None:
    rows = rows_of("- one **two three four** five six seven", width=16, color=True)
    assert without_colour(rows) == ["- one two three", "  four five six", "  seven"]


def test_repeated_words_are_styled_where_they_stand() -> None:
    (row,) = rows_of("a a **a** a", color=True)
    assert row == "a a \x1b[1ma\x1b[0m a"
