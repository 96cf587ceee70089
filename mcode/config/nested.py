"""Values with parts of their own at the head of a Markdown file: hooks and servers, as YAML indents them.

Of YAML this reads what people write there: indented mappings and lists, texts with and without quotes, numbers,
`true` and `false`, blocks after `|` and `>`, and lists and objects on one line. What is none of that is an error,
since a hook or a server that is read halfway would be another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.config.front_matter import block_text, scalar
from mcode.config.markdown import split_at_commas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.config.front_matter import Written
    from mcode.jsontext import JsonObject, JsonValue

DEPTH = 12
"""Parts within parts that are read."""

_PAIR = re.compile(r"""("[^"]*"[ \t]*|'[^']*'[ \t]*|[^\s"'\-\[{#:][^:]*):(?:[ \t]+(.*)|[ \t]*)$""")
_FLOW_PAIR = re.compile(r"""("[^"]*"\s*|'[^']*'\s*|[^:"']+):\s*(.*)$""")
_QUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:''|[^'])*')[ \t]+#""")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?$")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,15}|[0-9]{1,15}\.[0-9]{0,15}|\.[0-9]{1,15})(?:[eE][+-]?[0-9]{1,3})?")
"""Longer ones are no number that anybody means, and Python refuses to read the longest."""

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None}


class NestedError(Exception):
    """Why a value cannot be read; the message names the line."""


def nested(written: Written) -> JsonValue:
    """The value of a key with everything in it. Raises NestedError."""
    if written.first and not written.first.startswith("#"):
        more = (line.strip() for line in written.lines)
        return _flow(" ".join((written.first, *(line for line in more if not line.startswith("#")))), 0)
    if any("\t" in line[: len(line) - len(line.lstrip())] for line in written.lines):
        raise NestedError("its lines are indented with tabs")
    lines = _Lines(written.lines)
    return None if lines.ended else lines.value(0)


class _Lines:
    """The lines of one value, and how far they were read."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._at = -1
        self._step()

    @property
    def ended(self) -> bool:
        return self._at >= len(self._lines)

    def value(self, depth: int) -> JsonValue:
        """What the lines from here on say that are indented like this one."""
        if depth > DEPTH:
            raise NestedError(f"its parts lie more than {DEPTH} deep")
        indent = self._indent()
        result = self._list(indent, depth) if _is_item(self._text()) else self._mapping(indent, depth)
        if depth == 0 and not self.ended:
            raise NestedError(f"`{self._text()[:80]}` belongs to nothing above it")
        return result

    def _step(self) -> None:
        """Go on to the next line that says something."""
        self._at += 1
        while not self.ended and (not self._text() or self._text().startswith("#")):
            self._at += 1

    def _indent(self) -> int:
        line = self._lines[self._at]
        return len(line) - len(line.lstrip())

    def _text(self) -> str:
        return self._lines[self._at].strip()

    def _goes_on(self, indent: int) -> bool:
        return not self.ended and self._indent() == indent

    def _list(self, indent: int, depth: int) -> list[JsonValue]:
        items: list[JsonValue] = []
        while self._goes_on(indent) and _is_item(self._text()):
            inner = self._text()[1:].lstrip()
            if not inner:
                self._step()
                items.append(self._deeper(indent, depth))
            elif _PAIR.match(inner) or _is_item(inner):  # a mapping or a list that begins behind the dash
                self._lines[self._at] = " " * (indent + len(self._text()) - len(inner)) + inner
                items.append(self.value(depth + 1))
            else:
                self._step()
                items.append(_flow(inner, depth))
        return items

    def _mapping(self, indent: int, depth: int) -> JsonObject:
        members: JsonObject = {}
        while self._goes_on(indent) and not _is_item(self._text()):
            found = _PAIR.match(self._text())
            if found is None:
                raise NestedError(f"`{self._text()[:80]}` is no `key: value`")
            name, rest = scalar(found[1]), (found[2] or "").strip()
            if name in members:
                raise NestedError(f"`{name}` stands there twice")
            if _BLOCK.match(rest):
                members[name] = block_text(self._block(indent), folded=rest.startswith(">"))
                continue
            self._step()
            if rest and not rest.startswith("#"):
                members[name] = _flow(rest, depth)
            elif self._goes_on(indent) and _is_item(self._text()):  # YAML lets a list stand under its key so
                members[name] = self._list(indent, depth + 1)
            else:
                members[name] = self._deeper(indent, depth)
        return members

    def _deeper(self, indent: int, depth: int) -> JsonValue:
        if not self.ended and self._indent() > indent:
            return self.value(depth + 1)
        return None

    def _block(self, indent: int) -> list[str]:
        """The lines of a text as they are, blank ones and those that look like comments among them."""
        begin = self._at + 1
        self._at = begin
        while not self.ended and (not self._text() or self._indent() > indent):
            self._at += 1
        taken = self._lines[begin : self._at]
        self._at -= 1
        self._step()
        return taken


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _flow(text: str, depth: int) -> JsonValue:
    """A value on one line."""
    if depth > DEPTH:
        raise NestedError(f"its parts lie more than {DEPTH} deep")
    text = text.strip()
    if text[:1] in ("[", "{"):
        if text[-1] != {"[": "]", "{": "}"}[text[0]]:
            raise NestedError(f"`{text[:80]}` is not closed")
        parts = [part.strip() for part in split_at_commas(text[1:-1]) if part.strip()]
        if text[0] == "[":
            return [_flow(part, depth + 1) for part in parts]
        return dict(_pair(part, depth + 1) for part in parts)
    if text[:1] in ("'", '"'):
        quoted = _QUOTED.match(text)
        return scalar(quoted[1] if quoted else text)
    if _is_item(text):
        raise NestedError(f"`{text[:80]}` is an item of a list that stands on no line of its own")
    plain = scalar(text).partition(" #")[0].rstrip()
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    if _NUMBER.fullmatch(plain):
        return int(plain) if plain.lstrip("+-").isdigit() else float(plain)
    return plain


def _pair(text: str, depth: int) -> tuple[str, JsonValue]:
    found = _FLOW_PAIR.match(text)
    if found is None:
        raise NestedError(f"`{text[:80]}` is no `key: value`")
    return scalar(found[1]), _flow(found[2], depth)
