"""Reading a part of a file that is too large to be taken whole."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mcode.builtins.content import decode

COUNTED_LIMIT = 1 << 30
"""Bytes up to which lines are counted and can be reached."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class LargePart:
    """Lines of a large file."""

    lines: list[str]
    """The lines asked for, without their ends."""
    ends_open: bool
    total: int | None
    """None where the file is larger than what is counted."""
    truncated: bool
    """True where lines that were asked for are missing for size."""


def read_part(descriptor: int, first: int, limit: int | None, most: int) -> LargePart:
    """Lines from number `first` on, `limit` of them (None: all), up to `most` bytes; counts all lines."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    end = None if limit is None else first + limit
    taken = bytearray()
    line, seen, last = 1, 0, b""
    while seen < COUNTED_LIMIT and (chunk := os.read(descriptor, _CHUNK)):
        following = line + chunk.count(b"\n")
        if following >= first and (end is None or line < end) and len(taken) <= most:
            taken += _between(chunk, line, first, end)
        line, seen, last = following, seen + len(chunk), chunk[-1:]
    is_counted = seen < COUNTED_LIMIT
    is_reached = end is not None and line >= end
    total = line - 1 if last == b"\n" else line
    is_over = len(taken) > most
    whole = bytes(taken[:most])
    if is_over:
        whole = whole[: whole.rfind(b"\n") + 1] or whole.rstrip(bytes(range(0x80, 0x100)))
    lines = decode(whole).text.split("\n")
    ends_open = lines[-1] != ""
    if not ends_open:
        lines.pop()
    return LargePart(
        lines, ends_open, total if is_counted else None, is_over or not (is_counted or is_reached)
    )


def _between(chunk: bytes, line: int, first: int, end: int | None) -> bytes:
    """The bytes of a chunk that belong to lines `first` up to but not including `end`; it begins within `line`."""
    start = 0
    for _ in range(first - line):
        start = chunk.index(b"\n", start) + 1
    if end is None:
        return chunk[start:]
    position = start
    for _ in range(end - max(line, first)):
        position = chunk.find(b"\n", position) + 1
        if position == 0:
            return chunk[start:]
    return chunk[start:position]
