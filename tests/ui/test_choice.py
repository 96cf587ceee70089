"""Which front end a terminal gets."""

from __future__ import annotations

import pytest

from mcode.ui.choice import wants_screen


def test_a_capable_terminal_gets_the_screen() -> None:
    assert wants_screen({"TERM": "xterm-256color"}, plain=False, terminal=True)


@pytest.mark.parametrize("term", ["", "dumb", "unknown"])
def test_a_dumb_terminal_gets_lines(term: str) -> None:
    assert not wants_screen({"TERM": term}, plain=False, terminal=True)


def test_whoever_asks_for_lines_gets_them_and_a_pipe_gets_no_screen() -> None:
    environment = {"TERM": "xterm"}
    assert not wants_screen(environment, plain=True, terminal=True)
    assert not wants_screen(environment, plain=False, terminal=False)
    assert not wants_screen({**environment, "MCODE_SCREEN": "0"}, plain=False, terminal=True)
