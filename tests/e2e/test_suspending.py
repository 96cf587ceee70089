"""Stopped and gone on with by the shell's job control, in both front ends: the terminal is the shell's meanwhile."""

from __future__ import annotations

import os
import signal
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.model.script import parse_script
from tests.children import living
from tests.e2e.binary import endpoint
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.binary import Machine

JOB = """
set -m
"$@"
echo "STOPPED $?"; read -r line; fg > /dev/null
echo "STOPPED $?"; read -r line; fg > /dev/null
echo "ENDED $?"
"""
"""A shell with job control, as users have it: a job in a process group of its own that can be stopped."""


@dataclass(frozen=True)
class Shell:
    """The machine, with mcode as a job of a shell."""

    machine: Machine

    @property
    def project(self) -> Path:
        return self.machine.project

    @property
    def environment(self) -> Mapping[str, str]:
        return self.machine.environment

    def command(self, *arguments: str) -> list[str]:
        return ["bash", "--norc", "--noprofile", "-c", JOB, "bash", *self.machine.command(*arguments)]


def line_by_line(terminal: BinaryTerminal) -> bool:
    """Whether the terminal is as a shell wants it: it hands over lines, and shows what is typed."""
    local = termios.tcgetattr(terminal.child.child_fd)[3]
    return bool(local & termios.ICANON) and bool(local & termios.ECHO)


@pytest.mark.parametrize("front", ["--plain", "--tui"])
def test_j_08_stopped_mcode_gives_the_terminal_back_and_takes_it_again(machine: Machine, front: str) -> None:
    script = parse_script({"turns": [{"reply": "Still here."}]}, "stop")
    full = front == "--tui"
    options = () if full else (front,)
    with (
        running_server(script) as server,
        BinaryTerminal(Shell(machine), *options, *endpoint(server)) as terminal,
    ):
        terminal.wait_for("mcode 0." if full else PROMPT)
        terminal.until(lambda: not line_by_line(terminal), "keys one by one")
        for by_key in (True, False):
            seen = len(terminal.written)
            if by_key:
                terminal.child.send("\x1a")
            else:
                (job,) = (pid for pid in living() if is_mcode(pid))
                os.kill(job, signal.SIGTSTP)
            terminal.wait_for_bytes(b"STOPPED", seen)
            assert line_by_line(terminal)
            given_back = terminal.written[seen:].partition(b"STOPPED")[0]
            for off in (b"\x1b[?1049l", b"\x1b[?1003l", b"\x1b[?1004l", b"\x1b[?2004l") if full else ():
                assert off in given_back
            assert b"\x1b[?25h" in given_back
            seen = len(terminal.written)
            terminal.child.send("\r")
            terminal.wait_for_bytes(b"\x1b[?1049h" if full else PROMPT.encode(), seen)
            terminal.until(lambda: not line_by_line(terminal), "keys one by one")
        terminal.say("are you there?")
        terminal.wait_for("Still here.")
        assert not line_by_line(terminal)
        terminal.say("/quit")
        terminal.wait_for("ENDED 0")
        assert line_by_line(terminal)


def is_mcode(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return words[1:3] == [b"-m", b"mcode"]
