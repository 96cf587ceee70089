"""A real pseudo-terminal around a program, with a terminal emulator that shows what a user would see.

The programs are forked from a process that has everything imported, so that a terminal costs no second.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import multiprocessing
import os
import pty
import select
import struct
import sys
import termios
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from tests.ui.line.obedient import GATE, WORK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENTER, ESCAPE, CONTROL_C, CONTROL_D, TAB, BACK_TAB, UP = (
    "\r",
    "\x1b",
    "\x03",
    "\x04",
    "\t",
    "\x1b[Z",
    "\x1b[A",
)
PATIENCE = 45.0
"""Seconds that a busy machine may take for anything; less than a command of the obedient model sleeps."""

MARK = "\u203a"
"""What the prompt's row begins with."""

STATUS = " scripted-1"
"""What the row under the prompt begins with."""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.ui.line.driver"])


class Terminal:
    """One run of a program in a terminal of its own."""

    def __init__(
        self,
        directory: Path,
        *options: str,
        columns: int = 100,
        rows: int = 40,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.project = directory / "project"
        self.state = directory / "state"
        self.log_file = directory / "log.jsonl"
        self.project.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(exist_ok=True)
        rules = {"permissions": {"allow": [f"Bash({WORK})", f"Bash({GATE})"]}}
        (self.state / "settings.json").write_text(json.dumps(rules))
        (self.project / "gate.sh").write_text("until [ -e open ]; do sleep 0.02; done\n")
        self.log_file.touch()
        self.columns = columns
        self.written = b""
        emulator: Any = importlib.import_module("pyte")  # has no types
        self._display = emulator.HistoryScreen(columns, rows, history=20_000)
        self._stream = emulator.ByteStream(self._display)
        self._rows: list[str] | None = None
        """The screen as text, until more is read."""
        self._gone: list[str] = []
        """The rows that have scrolled away, as text."""
        self.descriptor, self._slave = pty.openpty()
        self._set_size(columns, rows)
        variables = {
            "HOME": str(directory),
            "MCODE_CONFIG_DIR": str(self.state),
            "TERM": "xterm-256color",
            **(environment or {}),
        }
        arguments = [str(self.log_file), *filter(None, options)]
        self._process = _processes.Process(
            target=run_in_terminal, args=(os.ttyname(self._slave), str(self.project), variables, arguments)
        )
        self._process.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        self.hang_up()

    @property
    def pid(self) -> int:
        """The program's process id."""
        assert self._process.pid is not None
        return self._process.pid

    def open_gate(self) -> None:
        """Let the command of the model's step `gate` end."""
        (self.project / "open").touch()

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        for descriptor in (self.descriptor, self._slave):
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptor = self._slave = -1

    def pump(self, seconds: float = 0.05) -> bool:
        """Read what the program writes for a while; False once the terminal is closed."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.descriptor], [], [], left)[0]:
                return True
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:  # EIO: the program has closed its side
                return False
            if self._slave >= 0:  # the program has it open by now; ours would keep the terminal alive
                os.close(self._slave)
                self._slave = -1
            self.written += data
            self._stream.feed(data)
            self._rows = None
        return True

    def type(self, text: str, *, pause: float = 0.0) -> None:
        """Press keys; `pause` is the seconds between two of them, 0 for all at once."""
        if not pause:
            os.write(self.descriptor, text.encode())
            return
        for key in text:
            os.write(self.descriptor, key.encode())
            self.pump(pause)

    def wait_for(self, text: str, *, count: int = 1) -> None:
        """Wait until the text stands on the terminal, scrollback included."""
        self.until(lambda: "\n".join(self.everything()).count(text) >= count, f"{text!r} x {count}")

    def wait_for_row(self, text: str) -> None:
        """Wait until a row of the screen is exactly this."""
        self.until(lambda: text in self.screen(), f"the row {text!r}")

    def wait_for_draft(self, text: str) -> None:
        """Wait until the prompt holds just this, in one row."""
        self.until(lambda: self.draft() == text, f"the draft {text!r}")

    def wait_until_gone(self, text: str) -> None:
        """Wait until the text is no longer on the screen."""
        self.until(lambda: text not in "\n".join(self.screen()), f"no {text!r}")

    def wait_for_log(self, count: int = 1, **entry: object) -> list[dict[str, Any]]:
        """Wait until so many log entries hold these members; returns them."""
        self.until(lambda: len(self.log(**entry)) >= count, f"{count} x {entry} in {self.log()}")
        return self.log(**entry)

    def wait_for_end(self, timeout: float = PATIENCE) -> int | None:
        """Wait until the program has ended; returns its exit code."""
        end = time.monotonic() + timeout
        while self._process.is_alive():
            assert time.monotonic() < end, f"still running:\n{self}"
            if self.descriptor < 0 or not self.pump(0.02):
                time.sleep(0.02)
        while self.descriptor >= 0 and self.pump(0.1) and select.select([self.descriptor], [], [], 0)[0]:
            pass
        return self._process.exitcode

    def settle(self, seconds: float) -> None:
        """Wait until nothing has been written for so long."""
        end = time.monotonic() + PATIENCE
        before = -1
        while len(self.written) != before:
            assert time.monotonic() < end, f"it writes and writes:\n{self}"
            before = len(self.written)
            self.pump(seconds)

    def log(self, **entry: object) -> list[dict[str, Any]]:
        """The entries of the agent's log that hold these members; `...` stands for any value."""
        written = self.log_file.read_text().rpartition("\n")[0]  # without a line that is just being written
        entries = [json.loads(line) for line in written.splitlines()]
        return [
            each
            for each in entries
            if all(name in each and (value is ... or each[name] == value) for name, value in entry.items())
        ]

    def screen(self) -> list[str]:
        """The rows that are visible now."""
        if self._rows is None:
            self._rows = [row.rstrip() for row in self._display.display]
        return self._rows

    def everything(self) -> list[str]:
        """All rows, those that have scrolled away first."""
        self._gone += [
            "".join(row[column].data for column in range(self.columns)).rstrip()
            for row in islice(self._display.history.top, len(self._gone), None)
        ]
        return [*self._gone, *self.screen()]

    def shows(self, text: str) -> bool:
        """Whether the text is on the screen, the scrollback left out."""
        return any(text in row for row in self.screen())

    def draft(self) -> str | None:
        """A draft of one row, without the mark; None where the prompt is not drawn to its end, or is another."""
        rows = [row for row in self.screen() if row]
        whole = len(rows) > 1 and rows[-1].startswith(STATUS) and rows[-2].startswith(MARK)
        return rows[-2].removeprefix(MARK).strip() if whole else None

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self._display.resize(rows, columns)
        self._rows = None
        self.columns = columns
        self._set_size(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, met: Callable[[], bool], what: str) -> None:
        """Read until something is true."""
        end = time.monotonic() + PATIENCE
        while not met():
            alive = self.pump(0.02)
            assert time.monotonic() < end, f"waited in vain for {what}:\n{self}"
            assert alive or met(), f"ended before {what}:\n{self}"

    @override
    def __repr__(self) -> str:
        return "\n".join(self.everything()).rstrip()


def run_in_terminal(name: str, directory: str, variables: dict[str, str], arguments: list[str]) -> None:
    """In the forked process: take the terminal, become the program, end with its exit code."""
    os.setsid()
    terminal = os.open(name, os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(terminal, descriptor)
    os.close(terminal)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 -- for the whole run
    for unwanted in ("NO_COLOR", "VISUAL", "EDITOR", "CLAUDE_CONFIG_DIR"):
        os.environ.pop(unwanted, None)
    os.environ.update(variables)
    os.chdir(directory)
    from tests.ui.line.driver import start

    sys.exit(start(arguments))
