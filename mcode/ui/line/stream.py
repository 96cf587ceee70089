"""Streamed text, cut into lines that are each handed out exactly once."""

from __future__ import annotations

LONGEST = 4000
"""Characters of one line; a longer one is handed out in pieces, lest a line without end pile up."""


class LineStream:
    """Takes pieces of text as they come and gives complete lines back."""

    def __init__(self) -> None:
        self._pending = ""

    @property
    def pending(self) -> str:
        """The line that is not complete yet, raw."""
        return self._pending

    def feed(self, text: str) -> list[str]:
        """Take a piece in; the lines that it completed, without their ends."""
        *complete, pending = (self._pending + text).split("\n")
        lines = [piece for line in complete for piece in _pieces(line.removesuffix("\r"))]
        while len(pending) > LONGEST:
            lines.append(pending[:LONGEST])
            pending = pending[LONGEST:]
        self._pending = pending
        return lines

    def finish(self) -> list[str]:
        """The text has ended: its last line, where one is left."""
        last = self._pending
        self._pending = ""
        return [last] if last else []


def _pieces(line: str) -> list[str]:
    return [line[at : at + LONGEST] for at in range(0, len(line), LONGEST)] or [""]
