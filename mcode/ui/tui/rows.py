"""Rows of the transcript as values: spans of clean text with a style by name, and how they are copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mcode.text import cell_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


MOST_ROWS = 2_000
"""Rows of one block on the screen; the pager has the rest."""


class Span(NamedTuple):
    """A piece of a row."""

    text: str
    """Clean, without line ends and tabs."""
    style: str = ""
    """Names of styles (`look.py`) with blanks between them; empty for plain text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen."""

    spans: tuple[Span, ...] = ()
    margin: int = 0
    """Characters at the beginning that are decoration: they are shown and not copied."""
    joint: str | None = None
    """None where a line begins; else what wrapping took out between the row before and this one."""

    @property
    def text(self) -> str:
        """What the row shows."""
        return "".join(span.text for span in self.spans)

    @property
    def cells(self) -> int:
        """Cells that the row takes."""
        return sum(cell_width(span.text) for span in self.spans)


def row(*spans: Span | str, margin: int = 0) -> Row:
    """A row of spans; a bare string is plain text."""
    made = (Span(span) if isinstance(span, str) else span for span in spans)
    return Row(tuple(span for span in made if span.text), margin)


def indented(rows: Iterable[Row], first: Sequence[Span], rest: Sequence[Span] | None = None) -> list[Row]:
    """Rows with a margin in front: `first` before the first one, `rest` (or the same) before the others."""
    made: list[Row] = []
    margin: Sequence[Span] = first
    for each in rows:
        width = sum(len(span.text) for span in margin)
        made.append(Row((*margin, *each.spans), each.margin + width, each.joint))
        margin = first if rest is None else rest
    return made


def copied(rows: Sequence[Row], start: int = 0, end: int | None = None) -> str:
    """The text of rows as a copy: from character `start` of the first row to `end` of the last (None: its end)."""
    pieces: list[str] = []
    last = len(rows) - 1
    for index, each in enumerate(rows):
        text = each.text
        begin = max(each.margin, start if index == 0 else 0)
        stop = len(text) if index != last or end is None else min(end, len(text))
        if index:
            pieces.append("\n" if each.joint is None else each.joint)
        pieces.append(text[begin : max(begin, stop)])
    return "".join(pieces)


def counted(count: int, noun: str) -> str:
    """`1 call`, `7 calls`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
