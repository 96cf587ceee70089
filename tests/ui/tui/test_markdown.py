"""Markdown of the model's: rows, and that a streamed text ends as the same text that came at once."""

from __future__ import annotations

import random

import pytest

from mcode.text import cell_width
from mcode.ui.tui.block_rows import answer_rows, block_rows
from mcode.ui.tui.blocks import AnswerBlock
from mcode.ui.tui.look import ASCII, Glyphs
from mcode.ui.tui.markdown_stream import WINDOW, MarkdownStream
from mcode.ui.tui.rows import copied

PARTS = [
    "# Heading\n",
    "## Other *heading*\n\n",
    "A paragraph with **bold**, *emphasis*, `code` and [a link](https://example.org/x).\n",
    "Two lines\nof one paragraph.\n\n",
    "Over\n====\n",
    "- one\n- two\n  - inner\n  - other\n- three\n",
    "1. first\n2. second\n\n3. loose\n",
    "1. all\n1. are\n1. one\n\n",
    "   - indented item\n\n     with a second paragraph\n",
    "```python\ndef f():\n    return '''x\n'''\n```\n",
    "```\nno language\n\n\nblank lines\n```\n\n",
    "~~~\n```\ninner fence\n~~~\n",
    "paragraph\n```js\nlet a = 1;\n```\nfollowing\n",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n| **x** | a longer field |\n\n",
    "text\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "> quoted\n> more\nlazy\n\n",
    "> - list in quote\n> ```\n> code\n> ```\n",
    "---\n",
    "***\n\n",
    "    indented code\n\n    more\n",
    "\n\n\n",
    "[ref]: https://example.org 'title'\n[ref]\n",
    "<b>html</b> & entities &amp; &#x1b;[31m\n",
    "日本語のテキスト、幅が二倍。" * 6 + "\n",
    "a" * 300 + "\n",
    "tab\tseparated\tvalues\n",
    "windows line\r\nends\r\n",
    "- item\n```\nfence ends the list\n```\n- again\n",
    "word\n___\n__bold__ word\n_x_\n",
    "* * *\n+ plus list\n+ more\n",
    "unclosed ``` in a line\n",
    "``\x60not a fence`x`\n",
    "para\n-\n- \n-- \n",
    "10) ten\n11) eleven\n",
    "x\x1b]52;c;aGk=\x07y\x1b[2Jz\n",
]


def rows_at_once(text: str, width: int = 72) -> list[str]:
    block = AnswerBlock(0)
    block.feed(text)
    block.source.finish()
    return [row.text for row in block_rows(block, width, Glyphs())]


def rows_streamed(text: str, random_source: random.Random, width: int = 72) -> list[str]:
    block = AnswerBlock(0)
    at = 0
    while at < len(text):
        size = random_source.choice([1, 2, 3, 7, 20, 80, 400])
        block.feed(text[at : at + size])
        block.source.open_chunks()
        at += size
    block.source.finish()
    return [row.text for row in block_rows(block, width, Glyphs())]


@pytest.mark.parametrize("seed", range(40))
def test_a_text_in_pieces_ends_as_the_text_at_once(seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choice(PARTS) for _ in range(chance.randint(1, 25)))
    assert rows_streamed(text, chance) == rows_at_once(text)


def test_15_200_kilobytes_in_pieces_end_as_the_text_at_once() -> None:
    chance = random.Random(7)
    pieces: list[str] = []
    while sum(map(len, pieces)) < 200_000:
        pieces.append(chance.choice(PARTS))
    pieces += ["```text\n", *(f"line {number}\n" for number in range(1000)), "```\nend\n"]
    text = "".join(pieces)
    streamed = MarkdownStream()
    at = 0
    while at < len(text):
        size = chance.choice([1, 30, 500, 3000])
        streamed.feed(text[at : at + size])
        at += size
    streamed.finish()
    whole = MarkdownStream()
    whole.feed(text)
    whole.finish()
    assert [chunk.source for chunk in streamed.chunks] == [chunk.source for chunk in whole.chunks]
    assert [(chunk.gap, chunk.number) for chunk in streamed.chunks] == [
        (chunk.gap, chunk.number) for chunk in whole.chunks
    ]


def test_rows_that_are_final_never_change() -> None:
    chance = random.Random(3)
    text = "".join(chance.choice(PARTS) for _ in range(60))
    final = rows_at_once(text)
    block = AnswerBlock(0)
    compared = 0
    for at in range(0, len(text), 5):
        block.feed(text[at : at + 5])
        if chance.random() < 0.9:
            continue
        rows = [row.text for row in answer_rows(block.source.chunks, 72, Glyphs())]
        assert rows == final[: len(rows)]
        compared = len(rows)
    assert compared > len(final) * 0.8


def test_the_open_part_stays_small_however_long_a_block_is() -> None:
    stream = MarkdownStream()
    for _ in range(100):
        stream.feed("a long paragraph that does not end, " + "word after " * 20 + "word\n")
        assert sum(len(chunk.source) for chunk in stream.open_chunks()) <= WINDOW + 100
    stream.feed("x" * 100_000)
    assert sum(len(chunk.source) for chunk in stream.open_chunks()) <= WINDOW + 5_000


def test_an_open_fence_is_shown_as_code_before_it_ends() -> None:
    block = AnswerBlock(0)
    block.feed("Look:\n\n```python\nx = **1**\n")
    assert [row.text for row in block_rows(block, 60, Glyphs())] == ["  Look:", "", "    x = **1**"]


def test_a_code_block_of_200_lines_becomes_whole_again_when_it_ends() -> None:
    stream = MarkdownStream()
    stream.feed("```python\n" + "".join(f"x{number} = {number}\n" for number in range(200)))
    assert len(stream.chunks) == 5
    stream.feed("```\n")
    assert [chunk.closes for chunk in stream.chunks] == [True]
    assert len(stream.chunks[0].code()) == 200


def test_a_list_keeps_its_numbers_when_its_items_are_frozen_one_by_one() -> None:
    stream = MarkdownStream()
    for line in ("1. a\n", "1. b\n", "1. c\n", "\n", "text\n"):
        stream.feed(line)
    stream.finish()
    assert [chunk.number for chunk in stream.chunks] == [1, 2, 3, None]


def test_rows_of_the_usual_things() -> None:
    text = (
        "## Title\n\nWords **here** and `there`, see [docs](https://example.org/a) or <https://example.org>.\n\n"
        "1. one\n   - inner\n2. two\n\n| a | bb |\n|---|---:|\n| x | 1 |\n\n> said\n\n---\n![alt](pic.png)\n"
    )
    assert rows_at_once(text, 78) == [
        "  Title",
        "",
        "  Words here and there, see docs (https://example.org/a) or",
        "  https://example.org.",
        "",
        "  1. one",
        "     • inner",
        "  2. two",
        "",
        "  a │ bb",
        "  ──┼───",
        "  x │  1",
        "",
        "  │ said",
        "",
        "  ────────────────────────────────────────",
        "  image: alt (pic.png)",
    ]


def test_in_ascii_there_is_no_sign_beyond_it() -> None:
    block = AnswerBlock(0)
    block.feed("- a\n\n> b\n\n| c | d |\n|---|---|\n| e | f |\n\n---\n")
    block.source.finish()
    assert "".join(row.text for row in block_rows(block, 60, ASCII)).isascii()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("javascript:alert(1)", "[click](javascript:alert(1))"),
        ("file:///etc/passwd", "[click](file:///etc/passwd)"),
        ("https://user:pw@example.org/", "click (https://user:pw@example.org/)"),
        ("https://exämple.org/", "click (https://xn--exmple-cua.org/)"),
    ],
)
def test_the_target_of_a_link_is_shown_as_it_is(address: str, shown: str) -> None:
    assert rows_at_once(f"[click]({address})\n", 90) == [f"  {shown}"]


@pytest.mark.parametrize("width", [20, 40, 60, 100])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    text = (
        "".join(PARTS)
        + "| "
        + " | ".join(f"column {n}" for n in range(9))
        + " |\n"
        + "|---" * 9
        + "|\n"
        + "| 漢字漢字 " * 9
        + "|\n"
    )
    block = AnswerBlock(0)
    block.feed(text)
    block.source.finish()
    for row in block_rows(block, width, Glyphs()):
        assert row.cells <= width, row.text
        assert cell_width(row.text) == row.cells


def test_a_copied_paragraph_is_one_line_and_code_keeps_its_lines() -> None:
    block = AnswerBlock(0)
    block.feed("word " * 30 + "\n\n```\nfirst\n    second\n```\n")
    block.source.finish()
    text = copied(block_rows(block, 40, Glyphs()))
    assert text == ("word " * 30).rstrip() + "\n\nfirst\n    second"


def test_emphasis_nests_and_code_is_never_interpreted() -> None:
    block = AnswerBlock(0)
    block.feed("**bold *both* `**code**`** [/oops] [@click=app.quit]q[/]\n")
    block.source.finish()
    spans = [(span.text, span.style) for row in block_rows(block, 90, Glyphs()) for span in row.spans]
    assert ("both", "strong emphasis") in spans
    assert ("**code**", "strong code") in spans
    assert "".join(text for text, _ in spans).strip() == "bold both **code** [/oops] [@click=app.quit]q[/]"
