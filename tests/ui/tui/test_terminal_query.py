"""Asking a real pseudo-terminal for its background."""

from __future__ import annotations

import os
import pty
import termios
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mcode.ui.tui.terminal_query import Background, ask_background, may_ask, read_answer

if TYPE_CHECKING:
    from collections.abc import Generator

KIND = b"\x1b[?62;22c"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer may take its time here: no test but one waits for a limit."""
    for name in ("LIMIT", "REST"):
        monkeypatch.setattr(f"mcode.ui.tui.terminal_query.{name}", 30.0)


@contextmanager
def terminal(*answer: bytes) -> Generator[int]:
    """A terminal that gives an answer, in pieces, once it is asked."""
    ours, theirs = pty.openpty()

    def reply() -> None:
        asked = b""
        while not asked.endswith(b"\x1b[c"):
            asked += os.read(ours, 100)
        for piece in answer:
            os.write(ours, piece)
            time.sleep(0.02)

    replying = threading.Thread(target=reply, daemon=True)
    replying.start()
    try:
        yield theirs
    finally:
        replying.join(2)
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("colour", "dark"),
    [(b"1e1e/1e1e/2e2e", True), (b"ffff/ffff/ffff", False), (b"00/00/00", True), (b"fd/f6/e3", False)],
)
def test_a_terminal_tells_its_background(colour: bytes, dark: bool) -> None:
    with terminal(b"\x1b]11;rgb:" + colour + b"\x1b\\" + KIND) as file:
        assert ask_background(file, file) == Background(dark)


def test_an_answer_may_come_in_pieces_with_keys_between() -> None:
    with terminal(b"fi", b"\x1b]11;rgb:ff/f", b"f/ff\x07", b"x", KIND) as file:
        assert ask_background(file, file) == Background(False, "fix")


def test_a_terminal_tells_whether_it_knows_shift_enter() -> None:
    with terminal(b"\x1b]11;rgb:00/00/00\x07", b"x\x1b[?0u", KIND) as file:
        assert ask_background(file, file) == Background(True, "x", all_keys=True)
    assert not read_answer(KIND).all_keys


def test_a_terminal_that_does_not_know_the_question_costs_no_waiting() -> None:
    with terminal(KIND) as file:
        began = time.monotonic()
        assert ask_background(file, file) == Background(None)
        assert time.monotonic() - began < 20


def test_a_silent_terminal_is_not_waited_for_and_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcode.ui.tui.terminal_query.LIMIT", 0.1)
    with terminal() as file:
        before = termios.tcgetattr(file)
        assert ask_background(file, file) == Background(None)
        assert termios.tcgetattr(file) == before


def test_a_pipe_is_not_asked() -> None:
    read, write = os.pipe()
    assert ask_background(read, write) == Background(None)
    os.close(read)
    os.close(write)


def test_over_ssh_nobody_asks() -> None:
    assert may_ask({"TERM": "xterm"})
    assert not may_ask({"SSH_CONNECTION": "a b c d"})


def test_control_characters_among_what_was_typed_are_dropped() -> None:
    assert read_answer(b"a\x1b[Ab\r" + KIND).typed == "a[Ab"
