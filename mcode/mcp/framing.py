"""Splits a server's output into messages, one JSON value a line, and passes over anything else.

What is not a message is counted and left out; a line without end takes no memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.jsontext import DEPTH_LIMIT
from mcode.model.reading import is_list, is_object

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes of one line that are read; a longer one is skipped to its end."""

HEAD = 2048
"""Bytes at the start of a line that is too long, by which the request it answers may be told."""

NOISE_LIMIT = 100
"""Lines that are no messages, after which a server counts as broken."""

_ID = re.compile(rb'"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over LINE_LIMIT, gone but for its beginning."""

    head: bytes
    size: int


class LineSplitter:
    """Cuts chunks into lines; holds one unfinished line of at most LINE_LIMIT."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        """Bytes of the unfinished line, those that are gone included."""
        self._head = b""
        """Beginning of an unfinished line that is too long already; empty while it is not."""

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that this chunk completes, without their newlines; empty ones are left out."""
        *ends, rest = chunk.split(b"\n")
        complete: list[bytes | TooLong] = []
        for end in ends:
            self._extend(end)
            line = self._take()
            if isinstance(line, TooLong) or line.strip():
                complete.append(line)
        self._extend(rest)
        return complete

    def _extend(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._head:
            return
        self._parts.append(piece)
        if self._size > self._limit:
            self._head = b"".join(self._parts)[:HEAD]
            self._parts.clear()

    def _take(self) -> bytes | TooLong:
        line = TooLong(self._head, self._size) if self._head else b"".join(self._parts)
        self._parts.clear()
        self._size, self._head = 0, b""
        return line


def parse_line(line: bytes) -> tuple[JsonValue, bool]:
    """The JSON value of a line, and whether it was good UTF-8. Raises ValueError where it is no such value.

    Bytes that are no text are replaced; NaN and Infinity, which some servers write, are read as null.
    """
    try:
        text, good = line.decode(), True
    except UnicodeDecodeError:
        text, good = line.decode(errors="replace"), False
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError(f"nested deeper than {DEPTH_LIMIT} levels") from None
    if text.count("{") + text.count("[") > DEPTH_LIMIT and _is_deep(value):
        raise ValueError(f"nested deeper than {DEPTH_LIMIT} levels")
    return value, good


def messages_in(value: JsonValue) -> list[JsonObject]:
    """The messages of one line: itself, or the members of a batch. Raises ValueError where there is none."""
    messages = [each for each in (value if is_list(value) else [value]) if _is_message(each)]
    if not messages:
        raise ValueError("not a JSON-RPC message")
    return messages


def told_id(head: bytes) -> int | str | None:
    """The id that a line which cannot be read seems to carry."""
    found = _ID.search(head[:HEAD])
    return json.loads(found[1]) if found else None


def _is_message(value: JsonValue) -> bool:
    return is_object(value) and (
        isinstance(value.get("method"), str) or "result" in value or "error" in value
    )


def _is_deep(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(DEPTH_LIMIT):
        level = [child for parent in level for child in _children(parent) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _children(value: JsonValue) -> list[JsonValue]:
    return list(value.values()) if is_object(value) else value
