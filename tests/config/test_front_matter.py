"""Front matter as people write it, which is often no YAML."""

from __future__ import annotations

import pytest

from mcode.config.front_matter import read_front_matter


def head(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "Body"))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("hint: [area] [count]", "[area] [count]"),
        ("hint: [area]", "[area]"),
        ("hint: Use when: x", "Use when: x"),
        ("hint: **/*.ts", "**/*.ts"),
        ("hint: @x and more", "@x and more"),
        ('hint: "x" and y', '"x" and y'),
        ("hint: on", "on"),
        ("hint: #fff", "#fff"),
        ("hint: Fix issue #12 now", "Fix issue #12 now"),
        ("hint: opus # the large one", "opus"),
        ('hint: "a \\"b\\""', 'a "b"'),
        ("hint: 'it''s'", "it's"),
        ("hint:   ", ""),
    ],
)
def test_a_value_is_what_was_written(line: str, text: str) -> None:
    front = read_front_matter(head(line))
    assert front.text("hint") == text
    assert front.body == "Body"
    assert not front.problem


def test_lists_are_read_in_every_form_and_blocks_keep_their_lines() -> None:
    lines = (
        "a: [x, Bash(git log, y), 'z']",
        "b:",
        "- one",
        '- "two"',
        "c: |",
        "  l1",
        "  l2",
        "d: >",
        "  p",
        "  q",
    )
    front = read_front_matter(head(*lines, "e: first", "  second", "f: Read, Edit"))
    assert front.get("a").items == ("x", "Bash(git log, y)", "z")
    assert front.get("b").items == ("one", "two")
    assert front.text("c") == "l1\nl2"
    assert front.text("d") == "p q"
    assert front.text("e") == "first second"
    assert front.get("f").listed == ("Read, Edit",)


def test_a_byte_order_mark_and_carriage_returns_are_no_obstacle() -> None:
    front = read_front_matter("\ufeff---\r\nname: x\r\n---\r\nBody\r\n")
    assert (front.text("name"), front.body) == ("x", "Body\n")


def test_what_cannot_be_read_is_a_problem_and_the_rest_counts() -> None:
    front = read_front_matter(head("what is this", "name: x"))
    assert front.text("name") == "x"
    assert "what is this" in front.problem
    unclosed = read_front_matter("---\nname: x\n")
    assert not unclosed.values
    assert "never closed" in unclosed.problem
