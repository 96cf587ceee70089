"""Tables of Markdown as rows: in columns where they fit, else one field a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.ui.tui.rows import Row, Span
from mcode.ui.tui.wrapping import wrap_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from mcode.ui.tui.look import Glyphs

_LEAST_COLUMN = 6
"""Cells of a column at least; where even that does not fit, fields stand below one another."""


@dataclass(slots=True)
class _Table:
    rows: list[list[list[Span]]]
    """Fields by row; the first row is the header."""
    align: list[str]
    """Of each column: `left`, `right` or `center`."""


def table_rows(tokens: Sequence[Token], width: int, glyphs: Glyphs) -> list[Row]:
    """The rows of a table, given its tokens."""
    table = _read(tokens)
    count = len(table.align)
    natural = [max(1, *(_cells(row[column]) for row in table.rows)) for column in range(count)]
    room = width - 3 * (count - 1)
    if room < count * _LEAST_COLUMN and sum(natural) > room:
        return _listed(table, width)
    widths = _shares(natural, room)
    rows: list[Row] = []
    for index, fields in enumerate(table.rows):
        rows += _row(fields, widths, table.align, glyphs)
        if index == 0:
            rule = f"{glyphs.rule}{glyphs.cross}{glyphs.rule}".join(glyphs.rule * each for each in widths)
            rows.append(Row((Span(rule, "rule"),)))
    return rows


def _read(tokens: Sequence[Token]) -> _Table:
    from mcode.ui.tui.markdown_rows import inline_lines

    table = _Table([], [])
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            table.rows.append([])
        elif token.type in {"th_open", "td_open"}:
            style = "strong" if token.type == "th_open" else ""
            field: list[Span] = []
            for line in inline_lines(tokens[index + 1], style):
                field += [Span(" "), *line] if field else line
            table.rows[-1].append(field)
            if len(table.rows) == 1:
                table.align.append(str(token.attrs.get("style", "")).removeprefix("text-align:") or "left")
    return table


def _cells(field: Sequence[Span]) -> int:
    return Row(tuple(field)).cells


def _shares(natural: Sequence[int], room: int) -> list[int]:
    """Widths of columns that fit together; narrow columns keep theirs, the others share what is left."""
    widths = list(natural)
    while sum(widths) > room:
        widest = max(widths)
        next_widest = max((each for each in widths if each < widest), default=0)
        wide = [index for index, each in enumerate(widths) if each == widest]
        excess = sum(widths) - room
        lower = max(next_widest, widest - -(-excess // len(wide)), 1)
        for index in wide:
            widths[index] = lower
        if lower == 1:
            break
    return widths


def _row(
    fields: Sequence[Sequence[Span]], widths: Sequence[int], align: Sequence[str], glyphs: Glyphs
) -> list[Row]:
    columns = [wrap_spans(field, width) for field, width in zip(fields, widths, strict=True)]
    made: list[Row] = []
    for line in range(max(map(len, columns))):
        spans: list[Span] = []
        for index, column in enumerate(columns):
            cell = column[line] if line < len(column) else Row()
            spare = max(0, widths[index] - cell.cells)
            before = {"right": spare, "center": spare // 2}.get(align[index], 0)
            if index:
                spans.append(Span(f" {glyphs.side} ", "rule"))
            last = index == len(columns) - 1
            spans += [Span(" " * before), *cell.spans, Span("" if last else " " * (spare - before))]
        made.append(Row(tuple(span for span in spans if span.text)))
    return made


def _listed(table: _Table, width: int) -> list[Row]:
    header, *rest = table.rows
    made: list[Row] = []
    for fields in rest:
        if made:
            made.append(Row())
        for name, field in zip(header, fields, strict=True):
            if field:
                made += wrap_spans([*name, Span(": ", "dim"), *field], width)
    return made or [row for field in header for row in wrap_spans(field, width)]
