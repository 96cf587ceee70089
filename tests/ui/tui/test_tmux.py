"""What only a real terminal multiplexer shows: where its cursor stands, and a paste that it does not mark."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.ui.tui.terminal import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.binary import Machine

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


class Tmux:
    """One mcode in a tmux server of its own."""

    def __init__(self, machine: Machine, socket: Path) -> None:
        self._command = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self._environment = {
            **machine.environment,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        self._cwd = machine.project
        program = shlex.join(machine.command("--demo"))
        self.run("new-session", "-d", "-x", "100", "-y", "30", f"TERM=tmux-256color exec {program}")

    def run(self, *words: str, stdin: str | None = None) -> str:
        done = subprocess.run(
            [*self._command, *words],
            env=self._environment,
            cwd=self._cwd,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout

    def until(self, met: Callable[[], bool]) -> None:
        end = time.monotonic() + 40
        while not met():
            assert time.monotonic() < end, self.shown
            time.sleep(0.05)

    @property
    def shown(self) -> str:
        return self.run("capture-pane", "-p")

    @property
    def column(self) -> int:
        return int(self.run("display-message", "-p", "#{cursor_x}"))

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)

    def keys(self, *keys: str) -> None:
        self.run("send-keys", *keys)


@pytest.fixture
def tmux(machine: Machine, tmp_path: Path) -> Iterator[Tmux]:
    running = Tmux(machine, tmp_path / "tmux")
    try:
        running.until(lambda: READY in running.shown and "Try:" in running.shown)
        yield running
    finally:
        running.run("kill-server")


def test_19_and_18_wide_letters_move_the_cursor_by_two_and_an_unmarked_paste_is_not_sent(tmux: Tmux) -> None:
    text = "\u6f22\u5b57\u304b\u306a"
    empty = tmux.column
    for at, letter in enumerate(text, 1):
        tmux.type(letter)
        tmux.until(lambda at=at: tmux.column == empty + 2 * at)
    assert text in tmux.shown
    tmux.type("a")
    tmux.until(lambda: tmux.column == empty + 2 * len(text) + 1)
    tmux.keys("C-c")
    tmux.until(lambda: tmux.column == empty and text not in tmux.shown)

    lines = [f"line {number} of a paste" for number in range(5)]
    tmux.run("load-buffer", "-", stdin="\n".join([*lines, ""]))
    tmux.run("paste-buffer")  # without -p tmux sends bare keys
    tmux.until(lambda: all(line in tmux.shown for line in lines))
    assert "Ask for a change" not in tmux.shown  # it is all in the prompt
    assert "Esc interrupts" not in tmux.shown
    tmux.keys("C-c")
    tmux.until(lambda: lines[0] not in tmux.shown)
