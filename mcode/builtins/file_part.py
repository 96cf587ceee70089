"""A range of a file's lines: taken from content in memory, or read from a file too large for that."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.builtins.content import decode
from mcode.builtins.handles import SIZE_LIMIT
from mcode.builtins.refusal import RefusalError

if TYPE_CHECKING:
    from pathlib import Path

COUNTED_LIMIT = 1 << 30
"""Bytes of a large file up to which lines are counted and can be reached."""
_CHUNK = 1 << 20
_PROBE = 4_096
"""Bytes from which the encoding of a large file is told; an even number."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """What was read of a file."""

    text: str
    """The lines asked for, with `\\n` at their ends; the last line of a file may have none."""
    total: int | None
    """Lines of the whole file; None where it is too large to be counted."""
    size: int
    """Bytes of the whole file."""
    truncated: bool = False
    """True where lines that were asked for are missing for size."""
    note: str = ""
    """What is to be said of the encoding."""


def count_lines(text: str) -> int:
    """Lines of a text; a last line without line end counts too."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def cut_part(raw: bytes, first: int, limit: int | None) -> FilePart:
    """Lines from number `first` on, `limit` of them (None: all), of a whole content."""
    content = decode(raw)
    text = content.text
    start = _skip(text, 0, first - 1)
    end = len(text) if limit is None else _skip(text, start, limit)
    return FilePart(text[start:end], count_lines(text), len(raw), note=content.encoding.note)


def _skip(text: str, position: int, lines: int) -> int:
    """The position so many lines further on, at most the end."""
    for _ in range(lines):
        position = text.find("\n", position) + 1
        if position == 0:
            return len(text)
    return position


def read_large(descriptor: int, path: Path, first: int, limit: int | None, most: int) -> FilePart:
    """Lines from number `first` on, `limit` of them (None: all), up to `most` bytes; counts all lines.

    Raises RefusalError for UTF-16, whose lines are not counted by bytes.
    """
    size = os.fstat(descriptor).st_size
    if decode(os.pread(descriptor, _PROBE, 0)).encoding.codec.startswith("utf-16"):
        raise RefusalError(
            f"{path} is UTF-16 text of {size:,} bytes, too large to be shown. Use Bash to look into it."
        )
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
    is_over = len(taken) > most
    whole = bytes(taken[:most])
    if is_over:
        whole = whole[: whole.rfind(b"\n") + 1] or whole.rstrip(bytes(range(0x80, 0x100)))
    return FilePart(
        decode(whole).text,
        (line - 1 if last == b"\n" else line) if is_counted else None,
        size,
        truncated=is_over or not (is_counted or is_reached),
        note=f"The file has {size:,} bytes; Edit and Write take files up to {SIZE_LIMIT:,}.",
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
