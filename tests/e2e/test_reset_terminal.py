"""`mcode --reset-terminal` in a terminal that a killed program has left in disorder."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
import tty
from typing import TYPE_CHECKING

from mcode import cli
from mcode.ui.reset import SEQUENCES

if TYPE_CHECKING:
    import pytest


def test_j_08_a_terminal_left_raw_with_a_mouse_is_put_back_in_order() -> None:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    tty.setraw(slave)
    command = [sys.executable, "-m", "mcode", "--reset-terminal"]
    ran = subprocess.run(command, stdin=slave, stdout=slave, stderr=slave, timeout=120)
    after = termios.tcgetattr(slave)
    said = os.read(master, 4096).decode()
    os.close(master)
    os.close(slave)
    assert ran.returncode == 0
    assert after[3] == before[3]
    assert after[1] == before[1]
    assert SEQUENCES in said
    for off in ("\x1b[?1003l", "\x1b[?1004l", "\x1b[?1049l", "\x1b[?2004l", "\x1b[?25h"):
        assert off in said
    assert "The terminal is back in order." in said


def test_without_a_terminal_it_says_that_there_is_none() -> None:
    command = [sys.executable, "-m", "mcode", "--reset-terminal"]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2
    assert "not a terminal" in ran.stdout
    assert "\x1b" not in ran.stdout


def test_it_stands_alone_and_is_never_dropped_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--reset-terminal", "--plain"]) == 2
    assert "--reset-terminal stands alone" in capsys.readouterr().err
