"""The real binary in a real pseudo-terminal, seen through a terminal emulator."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

import pexpect
import pyte
from rich.style import Style
from rich.text import Text
from typing_extensions import override

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


PATIENCE = 60.0
"""Seconds that a busy machine may take for anything."""

PROMPT = "\u203a"
"""What the prompt's row begins with."""

COLORS = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

QUIET = 1.3
"""Seconds without a key after which an approval is asked, and a little more."""


class BinaryTerminal:
    """One run of mcode as a user has it in front of them."""

    def __init__(
        self,
        machine: Runs,
        *arguments: str,
        columns: int = 100,
        rows: int = 40,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._display = pyte.HistoryScreen(columns, rows, history=5_000)
        self._stream = pyte.ByteStream(self._display)
        self.written = b""
        """Every byte that the program has written."""
        program, *rest = machine.command(*arguments)
        self.child: Any = pexpect.spawn(
            program,
            rest,
            cwd=str(machine.project),
            env={**machine.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})},
            dimensions=(rows, columns),
        )
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
        """Type a line and send it."""
        self.type(f"{text}\r")

    def decide(self, words: str) -> None:
        """Wait for the approval's own prompt and answer it there."""
        self._reply("approve?", words)

    def answer(self, words: str) -> None:
        """Wait for a question's own prompt and answer it there."""
        self._reply("answer?", words)

    def _reply(self, prompt: str, words: str) -> None:
        self.wait_for_row(prompt)
        self.pump(QUIET)
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
