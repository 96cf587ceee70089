"""The full screen of the real binary in a real pseudo-terminal."""

from __future__ import annotations

import re
import sys

from typing_extensions import override

from tests.e2e.binary import Machine
from tests.e2e.terminal import BinaryTerminal

READY = "Enter send"
"""Stands over the prompt."""

LEAVES = b"\x1b[?1049l"
"""What gives the normal screen back."""


class _Programmed(Machine):
    """A machine on which a text of Python starts mcode."""

    def __init__(self, machine: Machine, program: str) -> None:
        super().__init__(machine.home, machine.project)
        object.__setattr__(self, "program", program)

    program: str

    @override
    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", self.program, *arguments]


class ScreenTerminal(BinaryTerminal):
    """One run of mcode in the full screen."""

    def __init__(
        self,
        machine: Machine,
        *arguments: str,
        columns: int = 100,
        rows: int = 30,
        program: str = "",
        **environment: str,
    ) -> None:
        """`program`: Python text that runs in place of `-m mcode`."""
        super().__init__(
            _Programmed(machine, program) if program else machine,
            *arguments,
            columns=columns,
            rows=rows,
            environment=environment,
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

    def quit(self) -> int | None:
        """Leave by the command; returns the exit code."""
        self.say("/quit")
        return self.wait_for_end()
