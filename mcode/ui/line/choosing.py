"""A numbered list to choose from before a session is open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcode.streams import write
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIES = 3
"""Answers that may be no number of a row before nothing counts as chosen."""


class ListChooser:
    """Prints the rows with numbers and reads one; fulfils `wiring.opening.Chooser`."""

    async def choose(self, heading: str, rows: Sequence[str]) -> int | None:
        """The index of the chosen row; None for an empty line, Ctrl+C, or the end of input."""
        from prompt_toolkit import PromptSession

        lines = [heading, *(f"  {number:>2}  {row}" for number, row in enumerate(rows, 1))]
        write(sys.stdout, "".join(f"{clean(line, Kind.LINE)}\n" for line in lines))
        session: PromptSession[str] = PromptSession()
        for _ in range(TRIES):
            try:
                text = await session.prompt_async(f"Number from 1 to {len(rows)}, or Enter for none: ")
            except (EOFError, KeyboardInterrupt):
                return None
            if not text.strip():
                return None
            if text.strip().isdecimal() and 1 <= int(text) <= len(rows):
                return int(text) - 1
        return None
