"""The terminal that the front end talks in, as one thing: what is read, what is written, its size and its modes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output import DummyOutput

from mcode.ui.line.terminal import HeldOutput, SavedTerminal, TerminalFile, TerminalInput

if TYPE_CHECKING:
    from prompt_toolkit.output import Output


class Console:
    """Standard input and output, which must be a terminal."""

    def __init__(self, *, decorated: bool) -> None:
        """`decorated` False: the terminal gets text only, and nothing of it is ever redrawn."""
        self.file = TerminalFile(sys.stdout.fileno())
        self.input = TerminalInput(sys.stdin)
        self.held = HeldOutput(self.file, self.size, os.environ.get("TERM", ""))
        self._decorated = decorated
        self._saved = SavedTerminal(sys.stdin.fileno())

    @property
    def output(self) -> Output:
        """Where prompt_toolkit draws."""
        return self.held if self._decorated else DummyOutput()

    def size(self) -> Size:
        """Rows and columns at this moment."""
        try:
            size = os.get_terminal_size(self.file.fileno())
        except OSError:
            return Size(rows=24, columns=80)
        return Size(rows=size.lines or 24, columns=size.columns or 80)

    def columns(self) -> int:
        """Columns at this moment."""
        return self.size().columns

    def restore(self) -> None:
        """Put the terminal back as it was found."""
        self._saved.restore(self.file, sequences=self._decorated)

    def take_again(self) -> None:
        """Read keys one by one again, after another program had the terminal."""
        self.input.raw_mode().__enter__()
