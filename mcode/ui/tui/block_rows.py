"""Blocks as rows: pure functions of a block, a width, glyphs and the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean, shorten
from mcode.ui.tui.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    Fold,
    NoticeBlock,
    RemarkBlock,
    ThinkingBlock,
    TodoBlock,
    UserBlock,
)
from mcode.ui.tui.rows import MOST_ROWS, Row, Span, counted, indented
from mcode.ui.tui.wrapping import break_cells, wrap_text
from mcode.ui.wrap import wrap_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.look import Glyphs
    from mcode.ui.tui.markdown_stream import Chunk

MESSAGE_ROWS = 40
"""Rows of a message of the user's that are shown unasked."""

LONGEST_LINE = 4_000
"""Characters of one line that are laid out."""

_MARGIN = "  "
_TODO_ROWS, _TODO_BEFORE = 12, 3
_TODO_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
_WORDS = {"info": ("note:", "dim"), "warning": ("warning:", "warn"), "error": ("error:", "bad")}


def block_rows(block: Block, width: int, glyphs: Glyphs, now: float = 0.0) -> list[Row]:
    """The rows of a block, without the empty row that may stand before it."""
    match block:
        case UserBlock():
            return _message(block, width, glyphs)
        case AnswerBlock():
            return [*answer_rows(block.source.chunks, width, glyphs), *answer_end(block, width, glyphs)]
        case ThinkingBlock():
            return _thought(block, width, glyphs)
        case CallBlock():
            from mcode.ui.tui.card_rows import Card, card_rows

            return card_rows(block.node, Card(width, glyphs, now, block.fold))
        case NoticeBlock():
            return _notice(block, width, glyphs)
        case RemarkBlock():
            style = "warn" if block.warn else "dim"
            return indented(wrap_text(clean(block.text[:20_000], Kind.LINE), width - 2, style), (Span("  "),))
        case TodoBlock():
            return [] if block.replaced else _todos(block.todos, width, glyphs)
        case _:
            return []


def answer_rows(chunks: Sequence[Chunk], width: int, glyphs: Glyphs) -> list[Row]:
    """The rows of chunks that follow one another."""
    from mcode.ui.tui.markdown_rows import chunk_rows

    rows: list[Row] = []
    for chunk in chunks:
        if chunk.gap:
            rows.append(Row())
        rows += indented(chunk_rows(chunk, max(16, width - 2), glyphs), (Span("  "),))
    return rows


def answer_end(block: AnswerBlock, width: int, glyphs: Glyphs) -> list[Row]:
    """The rows of what is not final yet, and a word on an answer that is not whole."""
    if block.void:
        text = f"that answer broke off and is asked for once more ({clean(block.void[:400], Kind.LINE)})"
        return indented(wrap_text(text, width - 2, "dim"), (Span("  "),))
    rows = answer_rows(block.source.open_chunks(), width, glyphs)
    if block.cut_off:
        rows += indented(
            wrap_text("cut off: the answer above is not complete", width - 2, "warn"), (Span("  "),)
        )
    return rows


def rows_between(block: Block, before: Block | None) -> int:
    """How many empty rows stand between a block and the one before it."""
    return 0 if before is None or (block.family and block.family == before.family) else 1


def _message(block: UserBlock, width: int, glyphs: Glyphs) -> list[Row]:
    text = clean(block.text).strip("\n").expandtabs(4)
    lines = [line[:LONGEST_LINE] for line in text.split("\n")]
    most = MESSAGE_ROWS if block.fold is not Fold.OPEN else MOST_ROWS
    rows = wrap_text("\n".join(lines[: most + 1]), width - 2, "user")
    left = len(lines) - most
    if len(rows) > most:
        rows = rows[:most]
        left = max(1, left)
    made = indented(rows, (Span(f"{glyphs.user} ", "accent"),), (Span("  "),))
    if left > 0:
        made.append(Row((Span(f"  ({counted(left, 'more line')}, sent like these)", "dim"),), 2))
    return made


def _thought(block: ThinkingBlock, width: int, glyphs: Glyphs) -> list[Row]:
    if block.void:
        return []
    is_open = block.fold is Fold.OPEN
    head = "thinking"
    if block.ended:
        head += f"  {counted(len(''.join(block.pieces).split()), 'word')}"
    rows = [Row((Span(f"{glyphs.open if is_open else glyphs.folded} ", "dim"), Span(head, "dim")))]
    if is_open:
        text = clean("".join(block.pieces)).strip("\n").expandtabs(4)
        rows += indented(wrap_text(text, width - 4, "dim")[:MOST_ROWS], (Span("    "),))
    return rows


def _bounded(line: str) -> str:
    """A line that can be laid out at once; what is left out of it is said."""
    left = len(line) - LONGEST_LINE
    return line if left <= 0 else f"{line[:LONGEST_LINE]} ... ({counted(left, 'more character')})"


def _notice(block: NoticeBlock, width: int, glyphs: Glyphs) -> list[Row]:
    text = clean(block.text).strip("\n").expandtabs(4)
    if block.severity == "divider":
        return [Row((Span(glyphs.rule * width, "rule"),)), *wrap_text(text, width, "warn")]
    if block.severity == "command":
        room = width - len(_MARGIN)
        rows = [
            row
            for line in text.split("\n")[:MOST_ROWS]
            for part in wrap_columns(_bounded(line), room)
            for row in break_cells([Span(part)], room)
        ]
        return indented(rows, (Span(_MARGIN),))
    word, style = _WORDS.get(block.severity, _WORDS["info"])
    margin = (Span(f"{word} ", style),)
    return indented(wrap_text(text[:40_000], width - len(word) - 1), margin, (Span(" " * (len(word) + 1)),))


def _todos(todos: Sequence[JsonObject], width: int, glyphs: Glyphs) -> list[Row]:
    now = next((at for at, todo in enumerate(todos) if todo.get("status") != "completed"), len(todos))
    first = max(0, min(now - _TODO_BEFORE, len(todos) - _TODO_ROWS))
    rows = [Row((Span(f"  ({first} more before)", "dim"),))] if first else []
    for todo in todos[first : first + _TODO_ROWS]:
        status = str(todo.get("status", ""))
        style = {"completed": "dim", "in_progress": "strong"}.get(status, "")
        content = clean(str(todo.get("content", ""))[:2000], Kind.LINE)
        text = shorten(content, max(16, width - 6), glyphs.cut)
        mark = _TODO_MARKS.get(status, "[ ]")
        rows.append(
            Row(
                (
                    Span("  "),
                    Span(f"{mark} ", "accent" if status == "in_progress" else "dim"),
                    Span(text, style),
                ),
                2,
            )
        )
    left = len(todos) - first - _TODO_ROWS
    return [*rows, Row((Span(f"  ({left} more)", "dim"),))] if left > 0 else rows
