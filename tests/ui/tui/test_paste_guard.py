"""What is pasted is text, whatever it holds and however it arrives."""

from __future__ import annotations

import pytest
from textual.events import Key, Paste

from mcode.ui.tui.paste_guard import END, ENDED, START, Burst, GuardedParser, UnmarkedPaste
from tests.ui.tui.test_corpus import CORPUS


@pytest.mark.parametrize("size", [1, 2, 7, 100_000])
def test_t_no_key_comes_out_of_a_paste(size: int) -> None:
    text = "".join(text for name, text in CORPUS.items() if name not in {"long line", "null"})
    read = f"a{START}{text}\r\x1b[20{END}b"
    parser = GuardedParser()
    events = [event for at in range(0, len(read), size) for event in parser.feed(read[at : at + size])]
    (paste,) = (event for event in events if isinstance(event, Paste))
    assert paste.text == f"{text}\r\x1b[20".replace("\x1b", "\u241b")
    assert [event.key for event in events if isinstance(event, Key)] == ["a", "b"]
    assert isinstance(events[1], Paste)


def test_18_ten_thousand_lines_without_marks_are_one_paste_and_no_enter() -> None:
    text = "".join(f"line {number}\r" for number in range(10_000))
    parser = GuardedParser()
    pieces = [text[at : at + 4096] for at in range(0, len(text), 4096)]
    assert [event for piece in pieces for event in parser.feed(piece)] == []
    events = list(parser.feed("\x1b[A"))
    assert isinstance(events[0], UnmarkedPaste)
    assert events[0].text == text
    assert [event.key for event in events[1:] if isinstance(event, Key)] == ["up"]


@pytest.mark.parametrize(
    "typed",
    [
        "a message of one line that a program types at once and that ends with an Enter of its own\r",
        "a\rb\rc\r",
    ],
)
def test_what_a_program_types_is_no_paste(typed: str) -> None:
    assert not Burst().takes(typed, 0.0)


def test_an_unmarked_paste_ends_with_the_first_pause_and_none_is_looked_for_inside_a_marked_one() -> None:
    lines = "one line of several\r" * 5
    burst = Burst()
    assert burst.takes(lines, 1.0)
    assert burst.ended(1.0 + ENDED / 2) == ""
    assert burst.takes("the rest", 1.01)
    assert burst.ended(1.01 + ENDED) == f"{lines}the rest"
    parser = GuardedParser()
    list(parser.feed(START))
    list(parser.feed(lines))
    (paste,) = parser.feed(END)
    assert isinstance(paste, Paste)
    assert not isinstance(paste, UnmarkedPaste)
