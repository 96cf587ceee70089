"""How calls look: whole pictures of the transcript as rows, in both backgrounds, in ASCII and at 60 columns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from mcode.call import Status
from mcode.ui.tui.block_rows import block_rows, rows_between
from mcode.ui.tui.blocks import CallBlock, Fold
from mcode.ui.tui.card_rows import MOST_ROWS, Card, card_rows, change_rows
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import ASCII, LEAST_CONTRAST, Glyphs, Look, contrast, look_for
from mcode.ui.tui.rows import Row, copied
from tests.ui.tui.stories import DIFF, finish, program_at_work, start, troubles, work_done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.events import Event
    from mcode.ui.tui.call_node import CallNode

PICTURES = Path(__file__).parent / "pictures"
STORIES: dict[str, Callable[[], Iterable[Event]]] = {
    "program": program_at_work,
    "turn": work_done,
    "troubles": troubles,
}


def rows_of(events: Iterable[Event], width: int, glyphs: Glyphs) -> list[Row]:
    now = 0.0
    document = Document(lambda: now)
    for event in events:
        document.apply(event)
    now = 4.2
    rows: list[Row] = []
    for block in document.blocks:
        made = block_rows(block, width, glyphs, now)
        before = document.blocks[block.number - 1] if block.number else None
        rows += [*[Row()] * (rows_between(block, before) if made else 0), *made]
    return rows


def styled(rows: Iterable[Row], look: Look) -> str:
    """Rows with the style of each span in front of it."""
    lines: list[str] = []
    for row in rows:
        spans = [(str(look.style(span.style)), span.text) for span in row.spans]
        lines.append(
            "".join(text if style in {"none", ""} else f"<{style}>{text}</>" for style, text in spans)
        )
    return "\n".join(lines)


def compare(name: str, text: str) -> None:
    file = PICTURES / f"{name}.txt"
    text = "\n".join(line.rstrip() for line in text.split("\n")) + "\n"
    if os.environ.get("MCODE_NEW_PICTURES"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_the_picture_in_both_backgrounds(story: str, theme: str) -> None:
    rows = rows_of(STORIES[story](), 100, Glyphs())
    compare(f"{story}-{theme}", styled(rows, look_for(BUILTIN_THEMES[theme])))


@pytest.mark.parametrize("story", STORIES)
def test_the_picture_in_ascii_and_without_colour(story: str) -> None:
    rows = rows_of(STORIES[story](), 100, ASCII)
    look = look_for(BUILTIN_THEMES["ansi-dark"], unicode=False, colour=False)
    assert not any(look.style(span.style).color for row in rows for span in row.spans)
    text = "\n".join(row.text for row in rows)
    assert text.isascii()
    compare(f"{story}-ascii", text)


@pytest.mark.parametrize("story", STORIES)
def test_the_picture_at_60_columns(story: str) -> None:
    rows = rows_of(STORIES[story](), 60, Glyphs())
    assert max(row.cells for row in rows) <= 60
    compare(f"{story}-60", "\n".join(row.text for row in rows))


@pytest.mark.parametrize("width", [12, 24, 40, 79, 80, 200])
def test_no_card_is_wider_than_the_screen(width: int) -> None:
    for row in rows_of([*work_done(), *program_at_work()], width, Glyphs()):
        assert row.cells <= max(width, 26), row.text


def test_every_state_is_a_word() -> None:
    text = "\n".join(row.text for row in rows_of([*work_done(), *program_at_work()], 100, ASCII))
    for word in ("ok", "FAIL", "denied", "exit 1", "ask", "...", "cut off", "interrupted", "warning:"):
        assert word in text


@pytest.mark.parametrize("name", sorted(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi))
def test_every_colour_of_every_theme_can_be_read(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    look = look_for(theme)
    background = Color.parse(theme.background or ("#121212" if theme.dark else "#e0e0e0"))
    for style in look.styles.values():
        if style.color is not None and style.color.triplet is not None:
            assert contrast(Color(*style.color.triplet), background) >= LEAST_CONTRAST


def card(width: int = 100, fold: Fold = Fold.AUTO) -> Card:
    return Card(width, Glyphs(), 0.0, fold)


def node_of(*events: Event) -> CallNode:
    document = Document(lambda: 0.0)
    for event in events:
        document.apply(event)
    block = document.blocks[0]
    assert isinstance(block, CallBlock)
    return block.node


def test_of_a_long_output_the_end_is_shown_and_all_of_it_when_it_is_unfolded() -> None:
    started = start("b", "Bash", "make", command="make")
    text = "\n".join(f"line {number}" for number in range(500))
    node = node_of(started, finish(started, "exit 0", text, data={"stdout": text, "exit_code": 0}))
    rows = [row.text.strip() for row in card_rows(node, card())]
    assert rows[1:3] == ["(492 more lines before; Ctrl+O)", "line 492"]
    assert rows[-1] == "line 499"
    assert len(card_rows(node, card(fold=Fold.OPEN))) == 501
    assert len(card_rows(node, card(fold=Fold.FOLDED))) == 1


@pytest.mark.parametrize("tool", ["Read", "run_code"])
def test_a_single_line_is_not_left_out_for_a_row_that_says_so(tool: str) -> None:
    started = start("b", tool, "it", **({"code": "return 1"} if tool == "run_code" else {"file_path": "a"}))
    rows: list[str] = []
    for lines in range(2, 30):
        text = "\n".join(f"reason {number}" for number in range(lines))
        rows = [
            row.text
            for row in card_rows(node_of(started, finish(started, "failed", text, Status.FAILED)), card())
        ]
        assert not any("(1 more line below" in row for row in rows)
    assert any("more lines below; Ctrl+O" in row for row in rows)


def test_of_an_output_that_was_too_big_the_card_says_what_the_model_got_and_where_the_whole_is() -> None:
    started = start("b", "Bash", "seq", command="seq")
    text = "1\n" * 400_000
    told = "1\n[\u2026 9,000 bytes left out; the whole output is in /tmp/out.txt \u2026]\n1"
    node = node_of(started, finish(started, "exit 0", told, data={"stdout": text, "exit_code": 0}))
    rows = [row.text.strip() for row in card_rows(node, card())]
    assert (
        rows[1] == "(399,992 more lines before; Ctrl+O)"
    )  # counted over all of it, though only the end is kept
    assert rows[-1] == (
        f"(9,000 bytes left out; the whole output is in /tmp/out.txt; the model got {len(told)} characters)"
    )
    other = start("m", "mcp__a__b", "", source="a")
    told = "x\n[\u2026 70000 characters left out; the whole text is in /tmp/text.txt \u2026]\ny"
    rows = [row.text.strip() for row in card_rows(node_of(other, finish(other, "done", told)), card())]
    assert "70,000 characters left out; the whole text is in /tmp/text.txt" in rows[-1]


def test_why_a_program_was_ended_is_broken_between_words() -> None:
    started = start("p", "run_code", "f()", code="f()")
    text = f"failed (cpu_limit): no calls\n\n{'limit of one second ' * 12}"
    node = node_of(started, finish(started, "cpu limit", text, Status.FAILED))
    for row in card_rows(node, card(60))[1:]:
        assert set(row.text.split()) <= {"limit", "of", "one", "second", "f()", "\u2514", "\u2502"}


def test_a_line_of_a_megabyte_is_cut_before_it_is_laid_out() -> None:
    started = start("b", "Bash", "cat", command="cat")
    text = "x" * 1_000_000
    node = node_of(started, finish(started, "exit 0", text, data={"stdout": text, "exit_code": 0}))
    assert len(card_rows(node, card())) <= 10
    assert len(card_rows(node, card(fold=Fold.OPEN))) <= 60


def test_rows_of_a_block_are_bounded() -> None:
    started = start("b", "Read", "big", file_path="big")
    node = node_of(started, finish(started, "", "line\n" * 100_000))
    assert len(card_rows(node, card(fold=Fold.OPEN))) <= MOST_ROWS + 2


def test_the_colours_of_a_command_are_styles() -> None:
    started = start("b", "Bash", "ls", command="ls")
    text = "\x1b[1;31mred\x1b[0m plain \x1b[38;5;120mgreen\x1b[m"
    node = node_of(started, finish(started, "exit 0", text, data={"stdout": text, "exit_code": 0}))
    spans = card_rows(node, card())[1].spans[1:]
    assert [span.text for span in spans] == ["red", " plain ", "green"]
    look = look_for(BUILTIN_THEMES["ansi-dark"])
    assert [str(look.style(span.style)) for span in spans] == ["bold color(1)", "none", "color(120)"]
    plain = look_for(BUILTIN_THEMES["ansi-dark"], colour=False)
    assert not any(plain.style(span.style).color for span in spans)


def test_a_change_is_copied_with_its_signs_and_without_its_numbers() -> None:
    rows = change_rows(DIFF, 80)
    assert [row.text for row in rows][1:3] == [
        "    42 -     parse_line(line)",
        "    42 +     result = parse_line(line)",
    ]
    assert copied(rows).split("\n")[:2] == ["  def run_line(line):", "-     parse_line(line)"]


def test_a_wide_line_of_a_change_is_broken_and_copied_whole() -> None:
    rows = change_rows(f"--- a\n+++ b\n@@ -1,0 +1,1 @@\n+{'漢字' * 60}\n", 40)
    assert len(rows) > 2
    assert all(row.cells <= 40 for row in rows)
    assert copied(rows) == f"+ {'漢字' * 60}"


def test_of_a_long_change_40_rows_are_shown_and_the_rest_is_counted() -> None:
    diff = "--- a\n+++ b\n@@ -0,0 +1,100 @@\n" + "".join(f"+line {number}\n" for number in range(100))
    started = start("e", "Edit", "a")
    node = node_of(started, finish(started, "+100", "done", diff=diff))
    rows = card_rows(node, card())
    assert len(rows) == 42
    assert rows[-1].text.strip() == "(60 more rows of this change)"
    assert len(card_rows(node, card(fold=Fold.OPEN))) == 101


def test_a_change_that_the_user_has_just_approved_is_folded() -> None:
    started = start("e", "Edit", "a")
    node = node_of(started, finish(started, "+4 -1", "done", diff=DIFF, decision="approved by you"))
    (row,) = card_rows(node, card())
    assert row.text.endswith("ok   +4 -1   approved by you")


def test_who_approved_is_told_however_narrow_the_screen() -> None:
    started = start("e", "Edit", "src/some/long/path/to/a/file/of/ours.py")
    node = node_of(started, finish(started, "+4 -1", "done", decision="approved by you", duration=3.0))
    assert "approved by you" in card_rows(node, card(60))[0].text


def test_a_program_that_failed_shows_why_even_when_it_is_folded() -> None:
    started = start("p", "run_code", "f()", code="f()\ng()")
    text = "failed (exception): no calls\n\nLine 1: ReferenceError: f is not defined"
    node = node_of(started, finish(started, "exception, no calls", text, Status.FAILED))
    for fold in Fold:
        assert any("ReferenceError" in row.text for row in card_rows(node, card(fold=fold)))


@pytest.mark.parametrize("width", [80, 60, 44])
def test_of_a_long_path_the_name_of_the_file_stays(width: int) -> None:
    started = start("r", "Read", "src/a_rather_long_directory/of_a_package/cells.py", file_path="x")
    node = node_of(started, finish(started, "31 lines", "text", decision="reads in the workspace"))
    assert "/cells.py" in card_rows(node, card(width))[0].text
    assert "src/a_rather" in card_rows(node, card(width))[0].text
    assert len(card_rows(node, card(width))[0].text) <= width
