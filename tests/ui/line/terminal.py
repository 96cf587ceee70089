"""A real pseudo-terminal around the line front end, with a terminal emulator that shows what a user would see."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pyte

ROOT = Path(__file__).parents[3]
ENTER, ESCAPE, CONTROL_C, CONTROL_D, TAB, BACK_TAB, UP = (
    "\r",
    "\x1b",
    "\x03",
    "\x04",
    "\t",
    "\x1b[Z",
    "\x1b[A",
)
PATIENCE = 20.0
"""Seconds that a busy machine may take for anything."""


class Terminal:
    """One run of a program in a terminal of its own."""

    def __init__(
        self,
        directory: Path,
        *options: str,
        columns: int = 100,
        rows: int = 40,
        module: str = "tests.ui.line.driver",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.project = directory / "project"
        self.state = directory / "state"
        self.log_file = directory / "log.jsonl"
        self.project.mkdir(parents=True, exist_ok=True)
        self.log_file.touch()
        self.columns = columns
        self.written = b""
        self._display = pyte.HistoryScreen(columns, rows, history=20_000)
        self._stream = pyte.ByteStream(self._display)
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "TMPDIR"}}
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", module, str(self.log_file), *options],
            cwd=str(self.project),
            env={
                **kept,
                "HOME": str(directory),
                "MCODE_CONFIG_DIR": str(self.state),
                "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                **(environment or {}),
            },
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )
        self.child.delaybeforesend = None

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    def pump(self, seconds: float = 0.05) -> bool:
        """Read what the program writes for a while; False once it has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                data = self.child.read_nonblocking(65536, left)
            except pexpect.TIMEOUT:
                return True
            except pexpect.EOF:
                return False
            self.written += data
            self._stream.feed(data)
        return True

    def type(self, text: str, *, pause: float = 0.0) -> None:
        """Press keys; `pause` is the seconds between two of them, 0 for all at once."""
        if not pause:
            self.child.send(text)
            return
        for key in text:
            self.child.send(key)
            self.pump(pause)

    def wait_for(self, text: str, *, count: int = 1, timeout: float = PATIENCE) -> None:
        """Wait until the text stands on the terminal, scrollback included."""
        self._until(lambda: "\n".join(self.everything()).count(text) >= count, f"{text!r} x {count}", timeout)

    def wait_for_row(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until a row of the screen is exactly this."""
        self._until(lambda: text in self.screen(), f"the row {text!r}", timeout)

    def wait_until_gone(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until the text is no longer on the screen."""
        self._until(lambda: text not in "\n".join(self.screen()), f"no {text!r}", timeout)

    def wait_for_log(
        self, count: int = 1, timeout: float = PATIENCE, **entry: object
    ) -> list[dict[str, Any]]:
        """Wait until so many log entries hold these members; returns them."""
        self._until(lambda: len(self.log(**entry)) >= count, f"{count} x {entry} in {self.log()}", timeout)
        return self.log(**entry)

    def wait_for_end(self, timeout: float = PATIENCE) -> int | None:
        """Wait until the program has ended; returns its exit code."""
        end = time.monotonic() + timeout
        while self.pump(0.2):
            assert time.monotonic() < end, f"still running:\n{self}"
        self.child.wait()
        return self.child.exitstatus

    def log(self, **entry: object) -> list[dict[str, Any]]:
        """The entries of the agent's log that hold these members; `...` stands for any value."""
        entries = [json.loads(line) for line in self.log_file.read_text().splitlines()]
        return [
            each
            for each in entries
            if all(name in each and (value is ... or each[name] == value) for name, value in entry.items())
        ]

    def screen(self) -> list[str]:
        """The rows that are visible now."""
        return [row.rstrip() for row in self._display.display]

    def everything(self) -> list[str]:
        """All rows, those that have scrolled away first."""
        gone = [
            "".join(row[column].data for column in range(self.columns)).rstrip()
            for row in self._display.history.top
        ]
        return [*gone, *self.screen()]

    def prompt(self) -> str:
        """The rows of the draft, without the mark."""
        rows = self.screen()
        starts = [at for at, row in enumerate(rows) if row.startswith("\u203a")]
        return rows[starts[-1]].removeprefix("\u203a").strip() if starts else ""

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self._display.resize(rows, columns)
        self.columns = columns
        self.child.setwinsize(rows, columns)

    def _until(self, met: Any, what: str, timeout: float) -> None:
        end = time.monotonic() + timeout
        while not met():
            alive = self.pump(0.05)
            assert time.monotonic() < end, f"waited in vain for {what}:\n{self}"
            assert alive or met(), f"ended before {what}:\n{self}"

    def __str__(self) -> str:
        return "\n".join(self.everything()).rstrip()


def a_moment(random_numbers: random.Random, longest: float) -> float:
    """A random number of seconds."""
    return random_numbers.uniform(0, longest)
