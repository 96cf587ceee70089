"""Unified diffs as rows with a line number and a sign; colour repeats the sign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.ui.palette import Palette

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff."""

    sign: str
    """`+`, `-`, a blank for a line that stays, or `@` for a gap between two places."""
    number: int | None
    """Line number in the new file, in the old one for `-`; None for a gap or a remark."""
    text: str

    def plain(self) -> str:
        """The row as it is shown: number, sign, text."""
        if self.sign == "@":
            return f"     ... {self.text}".rstrip()
        number = "" if self.number is None else str(self.number)
        return f"{number:>6} {self.sign} {self.text}"


def diff_rows(diff: str, kind: Kind = Kind.BLOCK) -> Iterator[DiffRow]:
    """The rows of a unified diff, cleaned; the two lines with file names are left out."""
    old = new = 0
    inside = False
    for line in diff.removesuffix("\n").split("\n"):  # splitlines() would also split at U+2028 and the like
        hunk = _HUNK.match(line)
        if hunk is not None:
            if inside:
                yield DiffRow("@", None, "")
            old, new = int(hunk[1]), int(hunk[2])
            inside = True
        elif not inside:
            continue
        elif line.startswith("+"):
            yield DiffRow("+", new, clean(line[1:], kind))
            new += 1
        elif line.startswith("-"):
            yield DiffRow("-", old, clean(line[1:], kind))
            old += 1
        elif line.startswith("\\"):
            yield DiffRow(" ", None, f"({clean(line[1:].strip(), kind)})")
        else:
            yield DiffRow(" ", new, clean(line[1:], kind))
            old += 1
            new += 1


def painted(row: DiffRow, palette: Palette) -> str:
    """A row for the terminal."""
    text = row.plain()
    match row.sign:
        case "+":
            return palette.added(text)
        case "-":
            return palette.removed(text)
        case "@":
            return palette.dim(text)
        case _:
            return text
