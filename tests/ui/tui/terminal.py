"""The full screen of the real binary in a real pseudo-terminal."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from tests.e2e.terminal import PATIENCE, BinaryTerminal

if TYPE_CHECKING:
    from tests.e2e.binary import Machine

READY = "Enter send"
"""Stands over the prompt."""

LEAVES = b"\x1b[?1049l"
"""What gives the normal screen back."""


class ScreenTerminal(BinaryTerminal):
    """One run of mcode in the full screen."""

    def __init__(
        self,
        machine: Machine,
        *arguments: str,
        columns: int = 100,
        rows: int = 30,
        program: str = "",
        fresh: bool | None = None,
        **environment: str,
    ) -> None:
        """`program`: Python text that runs in place of `-m mcode`, in a Python of its own unless `fresh` is False."""
        super().__init__(
            machine,
            *arguments,
            columns=columns,
            rows=rows,
            environment=environment,
            program=program,
            fresh=bool(program) if fresh is None else fresh,
        )

    def choose(self, answer: str, title: str) -> None:
        """Wait until an approval has the keys, choose the answer that begins so, and confirm."""
        self.wait_for_row_with(title)
        self.wait_for_row_with("Enter confirm")
        rows = re.findall(rf"(\d)  {answer}", "\n".join(self.screen()))
        self.child.send(rows[-1])
        self.wait_for_row_with(f"> {rows[-1]}  {answer}")
        self.child.send("\r")

    def wait_for_row_with(self, text: str) -> None:
        """Wait until a row of the screen holds the text."""
        self.until(lambda: any(text in row for row in self.screen()), f"a row with {text!r}")

    def settle(self, seconds: float) -> None:
        """Wait until nothing has been written for so long."""
        before = -1
        end = time.monotonic() + PATIENCE
        while len(self.written) != before:
            assert time.monotonic() < end, f"it writes and writes:\n{self}"
            before = len(self.written)
            self.pump(seconds)

    def quit(self) -> int | None:
        """Leave by the command; returns the exit code."""
        self.say("/quit")
        return self.wait_for_end()
