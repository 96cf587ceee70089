"""The model's Markdown as rows for the scrollback: wrapped by words, with tables laid out to the terminal's width."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING

from mcode.ui.wrap import wrap_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.text import Text

    from mcode.ui.look import Look

_INLINE = re.compile(r"(?P<code>`[^`]+`)|\*\*(?P<strong>\S|\S[^*]*\S)\*\*")
_SEPARATOR = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_CELLS = re.compile(r"(?<!\\)\|")

_TABLE_ROWS = 200
"""Rows that are held back until a table is complete; a longer one goes out as it was written."""


class Prose:
    """Takes clean lines of one answer in order; a table is held back until it is complete."""

    def __init__(self, look: Look, width: Callable[[], int]) -> None:
        self._look = look
        self._width = width
        self._in_fence = False
        self._table: list[str] = []

    @property
    def held(self) -> list[str]:
        """Lines of a table that is not complete yet, as they were written."""
        return list(self._table)

    def feed(self, line: str) -> list[str]:
        """The rows that a line adds."""
        if not self._look.decorated:
            return [line]
        if not self._in_fence and line.lstrip().startswith("|") and len(self._table) < _TABLE_ROWS:
            self._table.append(line)
            return []
        return [*self.finish_table(), *self._rows(line)]

    def finish_table(self) -> list[str]:
        """The rows of a table that ends here."""
        lines, self._table = self._table, []
        if len(lines) > 1 and _SEPARATOR.fullmatch(lines[1].strip()) and self._width() > 0:
            return _laid_out(lines, self._width(), self._look)
        return lines

    def end(self) -> list[str]:
        """The answer has ended: what was held back, and no code block is open any more."""
        self._in_fence = False
        return self.finish_table()

    def plain(self, line: str) -> list[str]:
        """A line that is not complete yet, as rows without colour."""
        if not self._look.decorated or self._in_fence or line.lstrip().startswith("|"):
            return [line]
        return wrap_item(line, self._width())

    def _rows(self, line: str) -> list[str]:
        palette = self._look.palette
        if line.lstrip().startswith(("```", "~~~")):
            self._in_fence = not self._in_fence
            return [palette.dim(line)]
        if self._in_fence:
            return [line]
        if line.startswith("#") and line.lstrip("#").startswith(" "):
            return [palette.bold(row) for row in wrap_item(line, self._width())]
        if not palette.color:
            return wrap_item(line, self._width())
        return _styled_rows(line, self._width())


def _styled_rows(line: str, width: int) -> list[str]:
    """Rows with strong words in bold and code in colour; a style goes on in the next row."""
    if not _INLINE.search(line):
        return wrap_item(line, width)
    text = _inline(line)
    rows: list[str] = []
    at = 0
    for row in wrap_item(text.plain, width):
        words = row.strip(" ")
        begin = text.plain.index(words, at) if words else at
        at = begin + len(words)
        lead = row[: len(row) - len(row.lstrip(" "))]
        rows.append(lead + _ansi(text[begin:at]))
    return rows


def _inline(line: str) -> Text:
    """A line without the stars of its strong words, as spans."""
    from rich.text import Text

    text = Text()
    at = 0
    for found in _INLINE.finditer(line):
        text.append(line[at : found.start()])
        if found["strong"]:
            text.append(found["strong"], "bold")
        else:
            text.append(found["code"], "cyan")
        at = found.end()
    return text.append(line[at:])


def _laid_out(lines: list[str], width: int, look: Look) -> list[str]:
    """A Markdown table with its columns fitted to the width; cells are wrapped and never cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    color = look.palette.color
    table = Table(box=box.SIMPLE_HEAD if look.unicode else box.ASCII2, header_style="bold", pad_edge=False)
    head, rule, *body = (_cells(line) for line in lines)
    for at, title in enumerate(head):
        mark = rule[at] if at < len(rule) else ""
        side = "right" if mark.endswith(":") and not mark.startswith(":") else "left"
        table.add_column(_inline(title) if color else Text(title), justify=side, overflow="fold")
    for row in body:
        cells = [_inline(cell) if color else Text(cell) for cell in row[: len(head)]]
        table.add_row(*cells)
    console = _console(width, color=color)
    with console.capture() as captured:
        console.print(table)
    return [row.rstrip() for row in captured.get().strip("\n").split("\n")]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELLS.split(inner)]


def _ansi(text: Text) -> str:
    return "".join(
        segment.style.render(segment.text) if segment.style else segment.text
        for segment in text.render(_console(80, color=True))
    )


@cache
def _console(width: int, *, color: bool) -> Console:
    """A console that prints into memory, in the terminal's own sixteen colours or in none."""
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )


def preload() -> None:
    """Load what laying out needs, in a thread behind the first frame."""
    _console(80, color=True).render_str("")
