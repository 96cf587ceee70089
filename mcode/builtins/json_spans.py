"""Locates the parts of a JSON text, so that one can be replaced while every other byte stays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonValue

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Span:
    """A value in a text."""

    start: int
    end: int
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object in a text."""

    key_start: int
    """Where the key's opening quote stands."""
    span: Span


def value_at(text: str, start: int = 0) -> Span:
    """The value that begins at or behind `start`, blanks skipped. Raises ValueError where none does."""
    begin = _skip(text, start)
    value, end = _DECODER.raw_decode(text, begin)
    return Span(begin, end, value)


def members_of(text: str, span: Span) -> dict[str, Member]:
    """The members of an object by key; of equal keys the last counts, as it does for every reader."""
    found: dict[str, Member] = {}
    position = _skip(text, span.start + 1)
    while text[position] != "}":
        key = value_at(text, position)
        value = value_at(text, _skip(text, key.end) + 1)
        found[str(key.value)] = Member(key.start, value)
        position = _next(text, value.end)
    return found


def items_of(text: str, span: Span) -> list[Span]:
    """The items of an array."""
    found: list[Span] = []
    position = _skip(text, span.start + 1)
    while text[position] != "]":
        found.append(value_at(text, position))
        position = _next(text, found[-1].end)
    return found


def indent_at(text: str, position: int) -> str:
    """The blanks with which the line of a position begins."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    line = text[start:position]
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True)
class Style:
    """How a JSON text is laid out, so that new parts look like the old ones."""

    unit: str | None
    """One level of indentation; None for a text in one line."""
    newline: str
    ascii_only: bool
    """True where characters beyond ASCII are written as escapes."""
    spaced: bool
    """In one line: True where a blank follows commas and colons."""

    @classmethod
    def of(cls, text: str, top: Span) -> Style:
        """The style of the object `top`, judged by its first member."""
        first = _skip(text, top.start + 1)
        blanks = text[top.start + 1 : first]
        unit = blanks.rpartition("\n")[2] if "\n" in blanks else None
        escaped = text.isascii() and json.dumps(top.value, ensure_ascii=False).isascii() is False
        return cls(unit, "\r\n" if "\r\n" in blanks else "\n", escaped, '": ' in text)

    def render(self, value: JsonValue, prefix: str) -> str:
        """A value whose later lines begin with `prefix`."""
        if self.unit is None:
            separators = (", ", ": ") if self.spaced else (",", ":")
            return json.dumps(value, ensure_ascii=self.ascii_only, separators=separators)
        text = json.dumps(value, ensure_ascii=self.ascii_only, indent=self.unit or 0)
        return text.replace("\n", self.newline + prefix)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position


def _next(text: str, end: int) -> int:
    """Behind the comma that follows a part, or at the bracket that closes the whole."""
    position = _skip(text, end)
    return _skip(text, position + 1) if text[position] == "," else position
