"""Rows and strips of the blocks that were drawn last. An answer that grows is rendered from its open end on."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from mcode.ui.tui.block_rows import answer_end, answer_rows, block_rows, rows_between
from mcode.ui.tui.blocks import AnswerBlock
from mcode.ui.tui.rows import Row, Span

if TYPE_CHECKING:
    from mcode.ui.tui.blocks import Block
    from mcode.ui.tui.document import Document
    from mcode.ui.tui.look import Look
    from mcode.ui.tui.markdown_stream import Chunk

KEPT_BLOCKS = 400
"""Blocks whose rows are kept; those drawn longest ago go first."""


@dataclass(slots=True, eq=False)
class Drawn:
    """The rows of one block for one width."""

    revision: int
    rows: list[Row]
    """With the empty row before the block, where there is one."""
    strips: dict[int, Strip] = field(default_factory=dict[int, Strip])
    chunks: list[Chunk] = field(default_factory=list["Chunk"])
    """Of an answer: the final chunks that are rendered."""
    ends: list[int] = field(default_factory=list[int])
    """Of an answer: how many rows there are up to each chunk's end."""
    undone: bool = False
    """As the block was."""


class RowCache:
    """Draws blocks for a width and a look, and keeps what it has drawn."""

    def __init__(self, document: Document, look: Look) -> None:
        self._document = document
        self._look = look
        self._base = Style.null()
        self.width = 80
        self._drawn: OrderedDict[int, Drawn] = OrderedDict()

    def reset(self, width: int) -> None:
        """Draw for another width from now on."""
        self.width = width
        self._drawn.clear()

    def restyle(self, look: Look, base: Style) -> bool:
        """Draw in another look, over the widget's own style; False where nothing changes by that."""
        if look is self._look and base == self._base:
            return False
        if look.glyphs != self._look.glyphs:
            self._drawn.clear()
        self._look, self._base = look, base
        for drawn in self._drawn.values():
            drawn.strips.clear()
        return True

    def rows(self, number: int) -> list[Row]:
        """The rows of a block as it is now."""
        return self._fresh(number).rows

    def strip(self, number: int, index: int, selected: tuple[int, int] | None = None) -> Strip:
        """One row of a block as a strip of the whole width. `selected`: first and last character that are marked."""
        drawn = self._fresh(number)
        if selected is not None:
            return self._strip(_marked(drawn.rows[index], *selected))
        strip = drawn.strips.get(index)
        if strip is None:
            row = drawn.rows[index]
            strip = drawn.strips[index] = self._strip(_dim(row) if drawn.undone else row)
        return strip

    def last_texts(self, count: int) -> list[str]:
        """The last rows of all blocks, as plain text."""
        texts: list[str] = []
        for block in reversed(self._document.blocks):
            texts = [each.text for each in self.rows(block.number)] + texts
            if len(texts) >= count:
                break
        return texts[-count:] if count else []

    def line(self, row: Row) -> Strip:
        """A row that belongs to no block."""
        return self._strip(row)

    def _strip(self, row: Row) -> Strip:
        base, style = self._base, self._look.style
        segments = [Segment(span.text, base + style(span.style)) for span in row.spans]
        cells = Segment.get_line_length(segments)  # as Textual measures it when it cuts the row
        if cells < self.width:
            segments.append(Segment(" " * (self.width - cells), base))
        strip = Strip(segments, max(cells, self.width))
        return strip if cells <= self.width else strip.crop(0, self.width)

    def _fresh(self, number: int) -> Drawn:
        block = self._document.blocks[number]
        drawn = self._drawn.get(number)
        if drawn is not None and drawn.undone != block.undone:
            drawn = None
        if drawn is None or drawn.revision != block.revision:
            if isinstance(block, AnswerBlock):
                drawn = self._answer(block, drawn)
            else:
                rows = block_rows(block, self.width, self._look.glyphs, self._document.clock())
                drawn = Drawn(block.revision, [*self._gap(block), *rows] if rows else [])
            drawn.undone = block.undone
            self._drawn[number] = drawn
            if len(self._drawn) > KEPT_BLOCKS:
                self._drawn.popitem(last=False)
        self._drawn.move_to_end(number)
        return drawn

    def _gap(self, block: Block) -> list[Row]:
        before = self._document.blocks[block.number - 1] if block.number else None
        return [Row()] * rows_between(block, before)

    def _answer(self, block: AnswerBlock, drawn: Drawn | None) -> Drawn:
        if drawn is None or block.void:
            drawn = Drawn(block.revision, self._gap(block))
        glyphs = self._look.glyphs
        chunks = block.source.chunks
        same = min(len(drawn.chunks), len(chunks))
        while same and drawn.chunks[same - 1] is not chunks[same - 1]:
            same -= 1
        start = drawn.ends[same - 1] if same else len(self._gap(block))
        del drawn.chunks[same:], drawn.ends[same:], drawn.rows[start:]
        for chunk in chunks[same:]:
            drawn.rows += answer_rows([chunk], self.width, glyphs)
            drawn.chunks.append(chunk)
            drawn.ends.append(len(drawn.rows))
        drawn.rows += answer_end(block, self.width, glyphs)
        for index in [index for index in drawn.strips if index >= start]:
            del drawn.strips[index]
        drawn.revision = block.revision
        return drawn


def _dim(row: Row) -> Row:
    return Row(tuple(Span(text, "dim") for text, _ in row.spans), row.margin, row.joint)


def _marked(row: Row, start: int, end: int) -> Row:
    """A row with the characters from `start` to `end` marked as selected; an empty one shows one marked cell."""
    spans: list[Span] = []
    at = 0
    for text, style in row.spans:
        first, last = max(0, start - at), max(0, min(len(text), end - at))
        if first >= last:
            spans.append(Span(text, style))
        else:
            spans += [
                Span(text[:first], style),
                Span(text[first:last], f"{style} selected".strip()),
                Span(text[last:], style),
            ]
        at += len(text)
    if not row.spans and end > start:
        spans.append(Span(" ", "selected"))
    return Row(tuple(span for span in spans if span.text), row.margin, row.joint)
