"""The part of a text that the model is shown: whole lines with numbers, up to the limits of Read."""

from __future__ import annotations

from dataclasses import dataclass

from mcode.text import show_control

LINE_LIMIT = 2_000
"""Lines shown at once."""
BYTE_LIMIT = 256 * 1024
"""Bytes of UTF-8 shown at once."""
WIDTH_LIMIT = 2_000
"""Characters shown of one line."""

CUT_MARK = "\u2039cut:"
"""Begins the mark behind a line shown in part. An old_string with it is not from the file."""


@dataclass(frozen=True, slots=True)
class Window:
    """Numbered lines for the model."""

    text: str
    shown: int
    """Number of lines in it."""
    cut_lines: int
    """Lines that are shown in part."""
    escaped: bool
    """True where control characters are shown as escapes."""


def show_lines(text: str, first: int) -> Window:
    """Number the lines of a text from `first`, as far as the limits allow."""
    lines = text.split("\n", LINE_LIMIT)[:LINE_LIMIT]
    if lines[-1] == "" and text.count("\n") < LINE_LIMIT:
        lines.pop()
    shown: list[str] = []
    size = cut = 0
    escaped = False
    for number, line in enumerate(lines, first):
        visible = line[:WIDTH_LIMIT]
        if len(line) > WIDTH_LIMIT:
            visible = f"{visible}{CUT_MARK} the first {WIDTH_LIMIT:,} of {len(line):,} characters\u203a"
        safe = show_control(visible)
        entry = f"{number}\t{safe}"
        size += len(entry.encode("utf-8", "replace")) + 1
        if size > BYTE_LIMIT and shown:
            break
        cut += len(line) > WIDTH_LIMIT
        escaped = escaped or safe != visible
        shown.append(entry)
    return Window("\n".join(shown), len(shown), cut, escaped)
