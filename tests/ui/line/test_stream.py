"""Streamed text, cut into lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as some

from mcode.ui.line.stream import LONGEST, LineStream


def lines_of(pieces: list[str]) -> list[str]:
    stream = LineStream()
    return [line for piece in pieces for line in stream.feed(piece)] + stream.finish()


def test_lines_come_out_once_each_when_they_are_complete() -> None:
    stream = LineStream()
    assert stream.feed("one\ntw") == ["one"]
    assert stream.pending == "tw"
    assert stream.feed("o\r\n\nthree") == ["two", ""]
    assert stream.finish() == ["three"]
    assert stream.pending == ""
    assert stream.finish() == []


@given(some.text("ab\n", max_size=60), some.lists(some.integers(0, 60), max_size=8))
def test_it_does_not_matter_how_the_text_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert lines_of(pieces) == lines_of([text])


def test_a_line_without_end_comes_out_in_pieces_and_whole() -> None:
    text = "x" * (3 * LONGEST + 5)
    assert "".join(lines_of([text[at : at + 1000] for at in range(0, len(text), 1000)])) == text
    stream = LineStream()
    stream.feed(text)
    assert len(stream.pending) <= LONGEST
    assert [len(piece) for piece in stream.feed("\n" + text + "\n")][-1] == 5
