"""Streamed Markdown, cut into chunks that later text cannot change.

A chunk is one top-level block, or one item of a top-level list. Where chunks begin depends on complete lines
only, so text that came in pieces is cut as the same text that came at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from mcode.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

WINDOW = 8_000
"""Characters that are parsed at once. A block that is longer is cut there, so that no flush costs more."""

CODE_PART = 40
"""Lines of an open code block that are frozen together."""

CODE_WHOLE = 400
"""Lines of a code block that is made whole again once it ends, so that it can be coloured."""

LONGEST_LINE = 4_000
"""Characters of a line; a longer one is cut, before anything lays it out."""

_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`\n]*\n)|~{3,})([^\n]*)\n")

_MARK = re.compile(r" {0,3}(?:\Z|[^\w\s]|_|\d+[.)]|\s)")
"""Lines that can begin a block, or end one by being blank."""


@dataclass(slots=True, eq=False)
class Chunk:
    """A part of a text that is rendered by itself."""

    source: str
    """Clean Markdown with its line ends, blank lines behind it among them."""
    gap: bool = False
    """True where an empty row stands before it."""
    number: int | None = None
    """For an item of an ordered list: the number that counting gives it."""
    fence: str = ""
    """For code: the marks of its fence."""
    indent: int = 0
    """For code: blanks in front of its fence, taken from each line."""
    opens: bool = False
    """For code: whether the first line is the fence."""
    closes: bool = False
    """For code: whether the last line is the closing fence."""
    language: str = ""
    """For code: the first word behind the fence."""

    def code(self) -> list[str]:
        """The lines of code without fences and without the fence's indentation."""
        lines = self.source.rstrip("\n").split("\n") if self.closes else self.source.split("\n")[:-1]
        lines = lines[1 if self.opens else 0 : -1 if self.closes else None]
        if not self.indent:
            return lines
        return [line[min(self.indent, len(line) - len(line.lstrip(" "))) :] for line in lines]


class MarkdownStream:
    """Takes a text in pieces; `chunks` are final, `open_chunks()` is how the rest looks now."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._partial = ""
        """The last line, raw and not complete."""
        self._lines: list[str] = []
        """Clean lines that no chunk has yet, with their ends."""
        self._size = 0
        """Characters of them."""
        self._blank = False
        """Whether a blank line stands before them."""
        self._unparsed = 0
        """How many of them, from the end, have come since they were parsed last."""
        self._number: int | None = None
        """The number of the list item that they begin with, where it continues a list."""
        self._code: Chunk | None = None
        """Fence of the code block that is open, without its lines."""
        self._code_start = 0
        """Where that block's chunks begin."""
        self.ended = False
        """Whether all of it is final."""

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> Self:
        """A text that has ended, from its chunks."""
        made = cls()
        made.chunks, made.ended = list(chunks), True
        return made

    @property
    def text(self) -> str:
        """All of it, clean."""
        done = "".join(chunk.source for chunk in self.chunks)
        return f"{done}{''.join(self._lines)}{_cleaned(self._partial)}"

    def clear(self) -> None:
        """Forget everything."""
        self.__init__()

    def feed(self, text: str) -> None:
        """Take a piece in."""
        if "\n" not in text and len(self._partial) + len(text) <= LONGEST_LINE:
            self._partial += text
            return
        *complete, self._partial = (self._partial + text).split("\n")
        for line in complete:
            self._take(line)
        while len(self._partial) > LONGEST_LINE:
            self._take(self._partial[:LONGEST_LINE])
            self._partial = self._partial[LONGEST_LINE:]
        self._advance()

    def finish(self) -> None:
        """The text has ended: all of it becomes final."""
        if self._partial:
            self._take(self._partial)
            self._partial = ""
        self._advance()
        self.chunks += self._rest(self._lines)
        self._lines, self._size, self._code = [], 0, None
        self.ended = True

    def open_chunks(self) -> list[Chunk]:
        """The chunks that the rest would make if the text ended now."""
        lines = [*self._lines, _cleaned(self._partial) + "\n"] if self._partial else self._lines
        return self._rest(lines)

    def _take(self, raw: str) -> None:
        while len(raw) > LONGEST_LINE:
            self._take(raw[:LONGEST_LINE])
            raw = raw[LONGEST_LINE:]
        line = _cleaned(raw) + "\n"
        self._lines.append(line)
        self._size += len(line)
        self._unparsed += 1

    def _advance(self) -> None:
        """Freeze what later lines cannot change."""
        while self._lines:
            if self._code is not None:
                if not self._advance_code(self._code):
                    return
            elif not self._lines[0].strip():
                self._drop_blank()
            elif (fence := _FENCE.fullmatch(self._lines[0])) is not None:
                self._code = _code_chunk(fence, self._blank)
                self._code_start = len(self.chunks)
            elif not self._may_divide() or not self._advance_text():
                return

    def _may_divide(self) -> bool:
        """False where the lines since the last parse can only go on with what was there; a later parse will do."""
        fresh = self._lines[-self._unparsed :] if self._unparsed else []
        self._unparsed = 0
        return self._size >= WINDOW or any(_MARK.match(line) is not None for line in fresh)

    def _drop_blank(self) -> None:
        line = self._lines.pop(0)
        self._size -= len(line)
        self._blank = self._blank or bool(self.chunks)
        if self.chunks:
            self.chunks[-1].source += line

    def _advance_text(self) -> bool:
        """Freeze all blocks of the next window but the last, which may go on; False where that is all there is."""
        window, size = 0, 0
        while window < len(self._lines) and size < WINDOW:
            size += len(self._lines[window])
            window += 1
        pieces = _pieces(self._lines[:window], self._number)
        if len(pieces) < 2:
            if size < WINDOW:
                return False
            self._freeze(self._lines[:window], pieces[0].number if pieces else None)
            self._drop(window, None)
            return True
        for piece, following in pairwise(pieces):
            self._freeze(self._lines[piece.start : following.start], piece.number)
        self._drop(pieces[-1].start, pieces[-1].number)
        return window < len(self._lines) or size >= WINDOW or _FENCE.fullmatch(self._lines[0]) is not None

    def _freeze(self, lines: Sequence[str], number: int | None) -> None:
        self.chunks.append(Chunk("".join(lines), self._blank, number))
        self._blank = not lines[-1].strip()

    def _drop(self, count: int, number: int | None) -> None:
        self._size -= sum(map(len, self._lines[:count]))
        del self._lines[:count]
        self._number = number

    def _advance_code(self, code: Chunk) -> bool:
        """Freeze the lines of the open code block up to its end, or each full part of it."""
        opens = len(self.chunks) == self._code_start
        closing = _closing(code)
        for index, line in enumerate(self._lines[:CODE_PART]):
            if (index or not opens) and closing.fullmatch(line):
                self._freeze_code(code, index + 1, opens=opens, closes=True)
                return True
        if len(self._lines) < CODE_PART:
            return False
        self._freeze_code(code, CODE_PART, opens=opens, closes=False)
        return True

    def _freeze_code(self, code: Chunk, count: int, *, opens: bool, closes: bool) -> None:
        self.chunks.append(_part_of(code, self._lines[:count], opens=opens, closes=closes))
        self._drop(count, None)
        self._blank = False
        if closes:
            self._code = None
            parts = self.chunks[self._code_start :]
            if 1 < len(parts) <= CODE_WHOLE // CODE_PART:
                whole = [line for part in parts for line in part.source.splitlines(keepends=True)]
                self.chunks[self._code_start :] = [_part_of(code, whole, opens=True, closes=True)]

    def _rest(self, lines: Sequence[str]) -> list[Chunk]:
        lines = list(lines)
        if not lines:
            return []
        if self._code is not None:
            opens = len(self.chunks) == self._code_start
            closes = len(lines) > opens and _closing(self._code).fullmatch(lines[-1]) is not None
            return [_part_of(self._code, lines, opens=opens, closes=closes)]
        made: list[Chunk] = []
        blank = self._blank
        pieces = _pieces(lines, self._number)
        for index, piece in enumerate(pieces):
            end = pieces[index + 1].start if index + 1 < len(pieces) else len(lines)
            part = lines[piece.start : end]
            fence = _FENCE.fullmatch(part[0])
            if fence is not None:
                code = _code_chunk(fence, blank)
                closes = len(part) > 1 and _closing(code).fullmatch(_last(part)) is not None
                made.append(_part_of(code, part, opens=True, closes=closes))
            else:
                made.append(Chunk("".join(part), blank, piece.number))
            blank = not part[-1].strip()
        return made


def _last(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    """Line that it begins with."""
    number: int | None = None


def _pieces(lines: Sequence[str], number: int | None) -> list[_Piece]:
    """Where top-level blocks and items of top-level lists begin. `number`: of the item that the lines begin with."""
    if lines and not any(map(_MARK.match, lines)):
        return [_Piece(0)]  # a paragraph
    tokens = _divider().parse("".join(lines))
    pieces: list[_Piece] = []
    for index, token in enumerate(tokens):
        if token.level != 0 or token.nesting < 0 or token.map is None:
            continue
        if token.type not in {"bullet_list_open", "ordered_list_open"}:
            pieces.append(_Piece(token.map[0]))
            continue
        counted = None
        if token.type == "ordered_list_open":
            counted = int(token.attrs.get("start", 1))
            if number is not None and not pieces:
                counted = number
        for item in _items(tokens, index):
            pieces.append(_Piece(item.map[0] if item.map else 0, counted))
            counted = counted + 1 if counted is not None else None
    return pieces


def _items(tokens: Sequence[Token], opening: int) -> list[Token]:
    items: list[Token] = []
    for token in tokens[opening + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open":
            items.append(token)
    return items


@cache
def parser() -> MarkdownIt:
    """The parser: CommonMark with tables and strikethrough; no HTML, and no references, which could come later."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False})
    made.enable(["table", "strikethrough"])
    return made.disable(["reference", "html_block", "html_inline"])


@cache
def _divider() -> MarkdownIt:
    """The parser without what stands inside blocks: to find where blocks begin."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False})
    made.enable(["table", "strikethrough"])
    made.disable(["reference", "html_block"])
    made.core.ruler.enableOnly(["normalize", "block"])
    return made


def _cleaned(raw: str) -> str:
    return clean(raw.removesuffix("\r")).replace("\n", " ").expandtabs(4)


def _code_chunk(fence: re.Match[str], gap: bool) -> Chunk:
    words = fence[3].split()
    return Chunk("", gap, None, fence[2], len(fence[1]), language=words[0].strip("{}.") if words else "")


def _part_of(code: Chunk, lines: Sequence[str], *, opens: bool, closes: bool) -> Chunk:
    return Chunk(
        source="".join(lines),
        gap=code.gap and opens,
        fence=code.fence,
        indent=code.indent,
        opens=opens,
        closes=closes,
        language=code.language,
    )


def _closing(code: Chunk) -> re.Pattern[str]:
    return _closing_fence(code.fence[0], len(code.fence))


@cache
def _closing_fence(mark: str, count: int) -> re.Pattern[str]:
    return re.compile(rf" {{0,3}}{re.escape(mark)}{{{count},}}\s*\n")
