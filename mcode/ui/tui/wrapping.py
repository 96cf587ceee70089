"""Breaking spans into rows of a width in cells."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from mcode.text import cell_width, shorten
from mcode.ui.tui.rows import Row, Span
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WORDS = re.compile(r" +|[^ ]+")


def fit_cells(text: str, width: int) -> int:
    """How many characters of a text fit into `width` cells; at least one, so that breaking ends."""
    if text.isascii():
        return max(1, width)
    used = 0
    for index in range(len(text)):
        # measured over pairs, since a joined or marked character takes no cells of its own
        used += cell_width(text[max(0, index - 1) : index + 1]) - (
            cell_width(text[index - 1]) if index else 0
        )
        if used > width:
            return max(1, index)
    return len(text)


def break_cells(spans: Iterable[Span], width: int) -> list[Row]:
    """Rows that are full to the last cell, as code is broken. One row at least."""
    rows: list[Row] = []
    current: list[Span] = []
    room = width
    for text, style in spans:
        rest = text
        while rest:
            cells = len(rest) if rest.isascii() else cell_width(rest)
            if cells <= room:
                current.append(Span(rest, style))
                room -= cells
                break
            count = fit_cells(rest, room) if room > 0 else 0
            if count and (room == width or cell_width(rest[:count]) <= room):
                current.append(Span(rest[:count], style))
                rest = rest[count:]
            rows.append(Row(tuple(current), 0, "" if rows else None))
            current, room = [], width
    if current or not rows:
        rows.append(Row(tuple(current), 0, "" if rows else None))
    return rows


def wrap_parts(parts: Iterable[str], width: int) -> list[str]:
    """Rows of parts with blanks between them; a part is broken only where it is wider than a row."""
    rows: list[str] = []
    for part in parts:
        if rows and cell_width(rows[-1]) + cell_width(part) + 3 <= width:
            rows[-1] += f"   {part}"
        else:
            rows += wrap_words(part, width, 2)
    return rows


def wrap_spans(spans: Sequence[Span], width: int) -> list[Row]:
    """Rows that break between words; a word that is wider than the width is broken where it must be."""
    width = max(1, width)
    if sum(len(span.text) for span in spans) * 2 <= width:
        return [Row(tuple(spans))]
    rows: list[Row] = []
    current: list[Span] = []
    used, blank = 0, ""
    joint: str | None = None
    for word in _words(spans):
        text = "".join(span.text for span in word)
        cells = len(text) if text.isascii() else cell_width(text)
        if text.isspace():
            blank = text
            continue
        gap = len(blank)
        if current and used + gap + cells > width:
            rows.append(Row(_merged(current), 0, joint))
            current, used, joint = [], 0, blank
        elif blank:
            current.append(
                Span(blank, word[0].style if current and current[-1].style == word[0].style else "")
            )
            used += gap
        blank = ""
        if used + cells > width:
            *full, last = break_cells(word, width)
            rows += [
                Row(_merged(each.spans), 0, each.joint if index else joint) for index, each in enumerate(full)
            ]
            current, used, joint = list(last.spans), last.cells, ""
        else:
            current += word
            used += cells
    if current or not rows:
        rows.append(Row(_merged(current), 0, joint))
    return rows


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Fewer spans with the same look: each span costs bytes on the way to the terminal."""
    return tuple(
        Span("".join(span.text for span in group), style) for style, group in groupby(spans, key=_style_of)
    )


def _style_of(span: Span) -> str:
    return span.style


def _words(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Runs of blanks, and words, which may change their style inside."""
    word: list[Span] = []
    for text, style in spans:
        for part in _WORDS.findall(text):
            if part[0] == " ":
                if word:
                    yield word
                    word = []
                yield [Span(part, style)]
            else:
                word.append(Span(part, style))
    if word:
        yield word


def wrap_text(text: str, width: int, style: str = "") -> list[Row]:
    """The rows of a clean text, word by word; each line keeps its indentation."""
    rows: list[Row] = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if indent and indent < width - 8:
            wrapped = wrap_spans([Span(line[indent:], style)], width - indent)
            pad = Span(" " * indent)
            rows += [
                Row((pad, *each.spans), indent if index else 0, each.joint)
                for index, each in enumerate(wrapped)
            ]
        else:
            rows += wrap_spans([Span(line, style)], width)
    return rows


def shorten_with(text: str, width: int, cut: str) -> str:
    """Cut one line to a width, with a sign of our own at its end."""
    return shorten(text, width, cut)


def end_of(text: str, width: int, cut: str) -> str:
    """The end of a text, with a sign in front where it was cut."""
    if cell_width(text) <= width:
        return text
    at = len(text)
    while at and cell_width(text[at - 1 :]) < width:
        at -= 1
    return cut + text[at:]


def shorten_path(text: str, width: int, cut: str) -> str:
    """Cut at its end; a path keeps the name of its file, which tells more than the way to it."""
    if cell_width(text) <= width or "/" not in text or " " in text:
        return shorten_with(text, width, cut)
    name = text[text.rindex("/") :]
    way = width - cell_width(name)
    if name == "/" or way <= cell_width(cut):
        return end_of(text, width, cut)
    return shorten_with(text, way, cut) + name
