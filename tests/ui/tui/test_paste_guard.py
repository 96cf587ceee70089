"""What is pasted is text, whatever it holds and however it arrives."""

from __future__ import annotations

import pytest
from textual.events import Key, Paste

from mcode.ui.tui.paste_guard import END, START, GuardedParser
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
