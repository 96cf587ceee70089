"""What only a real terminal multiplexer shows: where its cursor stands, pastes that it marks or not, and an editor."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.terminal import PATIENCE
from tests.ui.tui.terminal import READY
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.binary import Machine
    from tools.messages_server import RunningServer

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

EDITOR = """#!/bin/sh
echo EDITOR HAS IT
tries=0
while [ ! -e "$0.done" ] && [ $((tries += 1)) -lt 2000 ]; do sleep 0.05; done
echo appended >> "$1"
"""

STREAMED = [f"streamed line {number}" for number in range(12)]

LINES = "".join(f"line {number}\n" for number in range(10_000))


class Tmux:
    """One mcode in a tmux server of its own."""

    def __init__(self, machine: Machine, socket: Path, *arguments: str, **environment: str) -> None:
        self._command = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self._environment = {
            **machine.environment,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            **environment,
        }
        self._cwd = machine.project
        program = shlex.join(machine.command(*arguments))
        self.run("new-session", "-d", "-x", "100", "-y", "30", f"TERM=tmux-256color exec {program}")

    def run(self, *words: str, stdin: str | None = None) -> str:
        done = subprocess.run(
            [*self._command, *words],
            env=self._environment,
            cwd=self._cwd,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"tmux {words[0]}: {done.stderr}"
        return done.stdout

    def until(self, met: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not met():
            assert time.monotonic() < end, f"waited in vain:\n{self.shown}"
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
def server() -> Iterator[RunningServer]:
    answer = {"blocks": ["\n\n".join(STREAMED)], "pace": 0.02}
    replies = [{"reply": "All of it came."}, {"reply": "This too."}, {"reply": answer}]
    with running_server(parse_script({"turns": replies}, "tmux")) as running:
        yield running


@pytest.fixture
def tmux(machine: Machine, tmp_path: Path, server: RunningServer) -> Iterator[Tmux]:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o700)
    # A socket's path may hold about a hundred bytes, and that of a test's own directory may be longer.
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as place:
        running = Tmux(machine, Path(place) / "tmux", *endpoint(server), EDITOR=str(editor))
        try:
            running.until(lambda: READY in running.shown and "Try:" in running.shown)
            yield running
        finally:
            running.run("kill-server")


def test_18_and_19_and_20_in_tmux(tmux: Tmux, server: RunningServer, tmp_path: Path) -> None:
    """One start for all of them: a start costs more than what is looked at."""
    wide_letters_move_the_cursor_by_two(tmux)
    a_paste_of_ten_thousand_lines_is_one_label_and_is_sent_whole(tmux, server)
    the_editor_gets_the_draft_while_an_answer_streams(tmux, tmp_path / "editor.done")


def wide_letters_move_the_cursor_by_two(tmux: Tmux) -> None:
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


def a_paste_of_ten_thousand_lines_is_one_label_and_is_sent_whole(tmux: Tmux, server: RunningServer) -> None:
    tmux.run("load-buffer", "-", stdin=LINES)
    tmux.run("paste-buffer")  # without -p tmux sends bare keys
    tmux.until(lambda: "pasted without paste mode: Enter sends" in tmux.shown)
    tmux.until(lambda: "[pasted 10,000 lines]" in tmux.shown)
    assert not server.bodies
    tmux.keys("Enter")
    tmux.until(lambda: "All of it came." in tmux.shown)
    tmux.run("paste-buffer", "-p")
    tmux.until(lambda: "[pasted 10,000 lines]" in tmux.shown)
    assert len(server.bodies) == 1
    tmux.keys("Enter")
    tmux.until(lambda: "This too." in tmux.shown)
    for body in server.bodies:
        sent = body["messages"][-1]["content"][-1]["text"]
        assert sent.rstrip("\n") == LINES.rstrip("\n")


def the_editor_gets_the_draft_while_an_answer_streams(tmux: Tmux, done: Path) -> None:
    tmux.type("go on")
    tmux.keys("Enter")
    tmux.until(lambda: STREAMED[0] in tmux.shown)
    tmux.type("my draft")
    tmux.until(lambda: "my draft" in tmux.shown)
    tmux.keys("C-g")
    tmux.until(lambda: "EDITOR HAS IT" in tmux.shown)
    done.touch()
    tmux.until(lambda: "appended" in tmux.shown and "my draft" in tmux.shown)
    tmux.until(lambda: all(line in tmux.shown for line in STREAMED))
    assert "EDITOR HAS IT" not in tmux.shown
    tmux.keys("C-c")
    tmux.until(lambda: "appended" not in tmux.shown)
