"""The real binary in a real pseudo-terminal, seen through a terminal emulator."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import termios
import time
from typing import TYPE_CHECKING, Any, Self

import pexpect
import pyte
from pexpect.fdpexpect import fdspawn
from rich.style import Style
from rich.text import Text
from typing_extensions import override

from tests.e2e.nursery import Order, nursery

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Protocol

    class Runs(Protocol):
        """Where and how mcode is run: a machine, or a shell on it."""

        @property
        def project(self) -> Path: ...

        @property
        def environment(self) -> Mapping[str, str]: ...

        def command(self, *arguments: str) -> list[str]: ...

    Spawned = fdspawn[bytes]
else:
    Spawned = fdspawn

PATIENCE = 120.0
"""Seconds that a busy machine may take for anything."""

ECHO = 5.0
"""Seconds that a typed line may take to stand on the screen, if it is shown at all."""

PROMPT = "\u203a"
"""What the prompt's row begins with."""

COLORS = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}


MCODE = (sys.executable, "-m", "mcode")


class Child(Spawned):
    """A run that was forked from the nursery, as pexpect has one that it started."""

    def __init__(self, order: Order, columns: int, rows: int) -> None:
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (rows, columns))
        try:
            self._forked = nursery().start(order, theirs)
        finally:
            os.close(theirs)
        super().__init__(ours)
        self.pid = self._forked.pid
        self.exitstatus: int | None = None

    @override
    def isalive(self) -> bool:
        return not self._forked.ended()

    def kill(self, number: int) -> None:
        self._forked.kill(number)

    def wait(self) -> None:
        """Wait until it has ended; `exitstatus` is None where a signal did it."""
        code = self._forked.wait()
        self.exitstatus = code if code >= 0 else None

    @override
    def close(self, force: bool = True) -> None:
        """Take the terminal away, as closing its window does, and end what does not end by that."""
        with contextlib.suppress(OSError):  # a test has taken it away
            super().close()
        if not self._forked.ended(2):
            self._forked.kill(signal.SIGKILL)
        self._forked.wait()


class BinaryTerminal:
    """One run of mcode as a user has it in front of them."""

    def __init__(
        self,
        machine: Runs,
        *arguments: str,
        columns: int = 100,
        rows: int = 40,
        environment: Mapping[str, str] | None = None,
        program: str = "",
        fresh: bool = False,
    ) -> None:
        """`program`: Python text that runs in place of `-m mcode`. `fresh`: Python itself starts anew, too.

        Else the run is forked from a process that has everything loaded (see `nursery`), unless something other
        than mcode is started, or the environment says how Python starts.
        """
        self._display = pyte.HistoryScreen(columns, rows, history=5_000)
        self._stream = pyte.ByteStream(self._display)
        self.written = b""
        """Every byte that the program has written."""
        around = {**machine.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})}
        command = machine.command(*arguments)
        own = tuple(command[:3]) == MCODE
        if program:
            command = [sys.executable, "-c", program, *arguments]
        if fresh or not own or any(name.startswith("PYTHON") for name in environment or {}):
            self.child: Any = pexpect.spawn(
                command[0], command[1:], cwd=str(machine.project), env=around, dimensions=(rows, columns)
            )
        else:
            self.child = Child(Order(arguments, machine.project, around, program), columns, rows)
        self.child.delaybeforesend = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    def pump(self, seconds: float) -> bool:
        """Read what comes for a while; False once the program has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                data: bytes = self.child.read_nonblocking(65536, left)
            except pexpect.TIMEOUT:
                return True
            except pexpect.EOF:
                return False
            self.written += data
            self._stream.feed(data)
        return True

    def type(self, text: str) -> None:
        """Press keys, one after the other."""
        for key in text:
            self.child.send(key)
            self.pump(0.01)

    def say(self, text: str) -> None:
        """Type a line, and send it once it stands on the screen.

        What a busy program reads in one go with an Enter in its middle looks like a paste to it.
        """
        self.type(text)
        end = time.monotonic() + ECHO
        while not self._shows_end_of(text) and time.monotonic() < end:  # or it is hidden, as a key is
            self.pump(0.02)
        self.pump(0.02)
        self.child.send("\r")

    def _shows_end_of(self, text: str) -> bool:
        end = "".join(text.split())[-12:]
        return end in re.sub(r"[\s\u2502]", "", "".join(self.screen()))

    def decide(self, words: str) -> None:
        """Wait for the approval's own prompt and answer it there."""
        self._reply("approve?", words)

    def answer(self, words: str) -> None:
        """Wait for a question's own prompt and answer it there."""
        self._reply("answer?", words)

    def _reply(self, prompt: str, words: str) -> None:
        self.wait_for_row(prompt)  # it appears when what is typed there counts
        self.say(words)

    def wait_for(self, text: str, *, count: int = 1) -> None:
        """Wait until the text stands on the terminal so often, scrollback included."""
        self.until(lambda: str(self).count(text) >= count, f"{text!r} x {count}")

    def wait_for_row(self, beginning: str) -> None:
        """Wait until a row of the screen begins so."""
        self.until(lambda: any(row.startswith(beginning) for row in self.screen()), f"a row {beginning!r}")

    def wait_for_bytes(self, wanted: bytes, since: int) -> None:
        """Wait until the program has written these bytes behind its first `since` ones."""
        self.until(lambda: wanted in self.written[since:], repr(wanted))

    def wait_for_end(self) -> int | None:
        """Wait until the program has ended; returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self.pump(0.1):
            assert time.monotonic() < end, f"still running:\n{self}"
        self.child.wait()
        return self.child.exitstatus

    def screen(self) -> list[str]:
        """The rows that are visible now."""
        return [row.rstrip() for row in self._display.display]

    def styled(self) -> list[Text]:
        """Everything on the terminal with its colours, one text a row."""
        buffer = self._display.buffer
        rows = [*self._display.history.top, *(buffer[at] for at in range(self._display.lines))]
        return [self._styled_row(row) for row in rows]

    def _styled_row(self, row: Any) -> Text:
        text = Text()
        for at in range(self._display.columns):
            cell = row[at]
            color = cell.fg if cell.fg in COLORS else None
            text.append(cell.data, Style(color=color, bold=cell.bold, dim=None, reverse=cell.reverse))
        return text

    def until(self, met: Callable[[], bool], what: str) -> None:
        """Read until something is true."""
        end = time.monotonic() + PATIENCE
        while not met():
            alive = self.pump(0.05)
            assert time.monotonic() < end, f"waited in vain for {what}:\n{self}"
            assert alive or met(), f"ended before {what}:\n{self}"

    @override
    def __str__(self) -> str:
        width = self._display.columns
        gone = ["".join(row[at].data for at in range(width)).rstrip() for row in self._display.history.top]
        return "\n".join([*gone, *self.screen()]).rstrip()
