"""What a command has printed, as rows. Its colours become styles; no byte of an escape sequence is passed on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.tui.rows import Row, Span
from mcode.ui.tui.wrapping import break_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLOUR = re.compile("\x1b\\[([0-9;]*)m")

LONGEST_LINE = 4_000
"""Cells of a line that are laid out."""

LOOKED_AT = 64_000
"""Characters at the end of an output that are cleaned for its last rows."""


def tail_rows(text: str, width: int, most: int) -> tuple[list[Row], int]:
    """The last rows of an output, and how many lines before them are left out. Costs no more for a long output."""
    stripped = text.strip("\n")
    tail = stripped[-LOOKED_AT:]
    rows: list[Row] = []
    shown = 0
    for spans in reversed(list(_lines(tail))):
        cut = break_cells(spans, width)
        if rows and len(rows) + len(cut) > most:
            break
        rows = [*cut[-most:], *rows]
        shown += 1
    return rows, max(0, stripped.count("\n") + 1 - shown)


def output_rows(text: str, width: int, most: int) -> tuple[list[Row], int]:
    """The first rows of an output, and how many lines after them are left out."""
    rows: list[Row] = []
    stripped = text.strip("\n")
    total = stripped.count("\n") + 1
    for index, spans in enumerate(_lines(stripped[: most * LONGEST_LINE])):
        if len(rows) >= most:
            return rows[:most], total - index
        rows += break_cells(spans, width)
    return rows[:most], 0


def _lines(text: str) -> Iterator[list[Span]]:
    style = ""
    for line in clean(text, Kind.OUTPUT).expandtabs(4).split("\n"):
        spans: list[Span] = []
        at = 0
        for found in _COLOUR.finditer(line):
            if found.start() > at:
                spans.append(Span(line[at : found.start()], style))
            style = _after(style, found[1])
            at = found.end()
        if at < len(line):
            spans.append(Span(line[at:], style))
        yield _cut(spans)


def _after(style: str, codes: str) -> str:
    """Styles are named by the sequences that led to them, which `Look` can read; a reset names none."""
    parts = [part or "0" for part in codes.split(";")]
    if parts[0] == "0":
        style, parts = "", parts[1:]
    return f"{style} sgr:{';'.join(parts)}".strip() if parts else style


def _cut(spans: list[Span]) -> list[Span]:
    room = LONGEST_LINE
    kept: list[Span] = []
    for text, style in spans:
        if len(text) > room:
            return [*kept, Span(text[:room], style), Span(" (line cut)", "dim")]
        kept.append(Span(text, style))
        room -= len(text)
    return kept
