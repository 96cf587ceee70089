"""A chunk of Markdown as rows. Parsing is markdown-it's; nothing of a text is left out, and none of it acts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.text import Kind, clean, link_target
from mcode.ui.tui.code_rows import code_rows
from mcode.ui.tui.markdown_stream import parser
from mcode.ui.tui.rows import Row, Span, indented
from mcode.ui.tui.table_rows import table_rows
from mcode.ui.tui.wrapping import wrap_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from mcode.ui.tui.look import Glyphs
    from mcode.ui.tui.markdown_stream import Chunk

LEAST_WIDTH = 16
"""Cells that a text keeps, however deep it is nested."""

_RULE = 40

_PLAIN = re.compile(r"[A-Za-z][^*_`\[\]<>&\\~|=!\n]*\n\s*")
"""A paragraph of one line without any sign of Markdown: most prose, and it need not be parsed."""


def chunk_rows(chunk: Chunk, width: int, glyphs: Glyphs) -> list[Row]:
    """The rows of one chunk, without the empty row before it."""
    if chunk.fence:
        language = chunk.language if chunk.opens and chunk.closes else ""
        return code_rows(chunk.code(), width, language) if chunk.source else []
    if _PLAIN.fullmatch(chunk.source):
        return wrap_spans([Span(chunk.source.rstrip())], max(LEAST_WIDTH, width))
    return _Renderer(chunk.source, glyphs, chunk.number).blocks(0, None, width)


@dataclass(slots=True)
class _Renderer:
    source: str
    glyphs: Glyphs
    number: int | None
    tokens: Sequence[Token] = ()
    lines: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.tokens = parser().parse(self.source)
        self.lines = self.source.split("\n")

    def blocks(self, start: int, end: int | None, width: int, style: str = "") -> list[Row]:
        """The rows of the blocks between two tokens; an empty row where the source has a blank line between."""
        width = max(LEAST_WIDTH, width)
        stop = len(self.tokens) if end is None else end
        rows: list[Row] = []
        index = start
        while index < stop:
            token = self.tokens[index]
            close = self._close(index)
            made = self._block(index, close, width, style)
            if rows and made and self._blank_before(token):
                rows.append(Row())
            rows += made
            index = close + 1
        return rows

    def _close(self, index: int) -> int:
        """Where the block that begins at a token ends."""
        if self.tokens[index].nesting == 0:
            return index
        level = self.tokens[index].level
        for at in range(index + 1, len(self.tokens)):
            if self.tokens[at].level == level and self.tokens[at].nesting < 0:
                return at
        return len(self.tokens) - 1

    def _blank_before(self, token: Token) -> bool:
        line = token.map[0] if token.map else 0
        return line > 0 and not self.lines[line - 1].strip(" >")

    def _block(self, index: int, close: int, width: int, style: str) -> list[Row]:
        token = self.tokens[index]
        match token.type:
            case "paragraph_open":
                return inline_rows(self.tokens[index + 1], width, style)
            case "heading_open":
                return inline_rows(self.tokens[index + 1], width, f"{style} heading".strip())
            case "bullet_list_open" | "ordered_list_open":
                return self._list(index, close, width, style)
            case "blockquote_open":
                inner = self.blocks(index + 1, close, width - 2, f"{style} quote".strip())
                return indented(inner, (Span(f"{self.glyphs.side} ", "dim"),))
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.split() else ""
                return code_rows(token.content.removesuffix("\n").split("\n"), width, language)
            case "hr":
                return [Row((Span(self.glyphs.rule * min(_RULE, width), "rule"),))]
            case "table_open":
                return table_rows(self.tokens[index : close + 1], width, self.glyphs)
            case "inline":
                return inline_rows(token, width, style)
            case _:
                return []

    def _list(self, index: int, close: int, width: int, style: str) -> list[Row]:
        ordered = self.tokens[index].type == "ordered_list_open"
        number = int(self.tokens[index].attrs.get("start", 1)) if ordered else 0
        if ordered and index == 0 and self.number is not None:
            number = self.number
        rows: list[Row] = []
        at = index + 1
        while at < close:
            end = self._close(at)
            mark = f"{number}{self.tokens[at].markup or '.'} " if ordered else f"{self.glyphs.bullet} "
            number += 1
            inner = self.blocks(at + 1, end, width - len(mark), style) or [Row()]
            if rows and self._blank_before(self.tokens[at]):
                rows.append(Row())
            first, *more = inner
            rows.append(Row((Span(mark, "accent"), *first.spans), 0, first.joint))
            rows += indented(more, (Span(" " * len(mark)),))
            at = end + 1
        return rows


def inline_rows(token: Token, width: int, style: str) -> list[Row]:
    """The rows of a run of text; a line end of the source begins a new row."""
    rows: list[Row] = []
    for line in inline_lines(token, style):
        rows += wrap_spans(line, width)
    return rows


def inline_lines(token: Token, style: str = "") -> list[list[Span]]:
    """The spans of a run of text, line by line."""
    lines: list[list[Span]] = [[]]
    styles = [style]
    addresses: list[tuple[str, int]] = []
    for child in token.children or ():
        current = lines[-1]
        match child.type:
            case "text":
                current.append(Span(child.content, styles[-1]))
            case "code_inline":
                current.append(Span(child.content, f"{styles[-1]} code".strip()))
            case "softbreak" | "hardbreak":
                lines.append([])
            case "link_open":
                addresses.append((str(child.attrs.get("href", "")), len(current)))
                styles.append(f"{styles[-1]} link".strip())
            case "link_close":
                styles.pop()
                current += _target(*addresses.pop(), current)
            case "image":
                words = f"image: {child.content}" if child.content else "image"
                current.append(Span(f"{words} ({child.attrs.get('src', '')})", f"{styles[-1]} link".strip()))
            case "em_open" | "strong_open" | "s_open":
                name = {"em_open": "emphasis", "strong_open": "strong", "s_open": "struck"}[child.type]
                styles.append(f"{styles[-1]} {name}".strip())
            case "em_close" | "strong_close" | "s_close":
                styles.pop()
            case _:
                current.append(Span(child.content, styles[-1]))
    return [_whole(line) for line in lines]


def _target(address: str, start: int, spans: Sequence[Span]) -> list[Span]:
    """The target behind a link's text, where the two differ; no scheme but http and https is a link."""
    shown = "".join(span.text for span in spans[start:])
    target = link_target(address) or address
    if shown in {target, target.removeprefix("mailto:"), address}:
        return []
    return [Span(f" ({target})", "dim")]


def _whole(line: list[Span]) -> list[Span]:
    """Spans without line ends and tabs, which an address or an entity may bring in."""
    return [Span(_one_line(span.text), span.style) for span in line if span.text]


def _one_line(text: str) -> str:
    return text if text.isprintable() else clean(text, Kind.LINE)
