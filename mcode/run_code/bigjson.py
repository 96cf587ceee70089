"""JSON text of large values, written in parts so that other threads get their turn in between.

The encoder of the standard library holds the interpreter for a whole value: ten megabytes would stop the screen.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.jsontext import JsonObject, JsonValue

PART = 64 * 1024
"""Characters, about, that are encoded in one piece."""

SAFE_INTEGER = 2**53 - 1
"""The largest integer that JavaScript holds exactly."""

_NODE = 16
"""Characters that a number or a bracket counts for."""


def is_small(value: JsonValue, budget: int = PART) -> bool:
    """Whether the value's JSON has about `budget` characters at most. Looks no further than that."""
    waiting: list[JsonValue] = [value]
    while waiting:
        item = waiting.pop()
        budget -= _NODE
        if isinstance(item, str):
            budget -= len(item)
        elif isinstance(item, dict):
            entries = cast("JsonObject", item)
            budget -= _NODE * len(entries)
            if budget > 0:
                budget -= sum(map(len, entries))
                waiting += entries.values()
        elif isinstance(item, (list, tuple)):
            items = cast("list[JsonValue]", item)
            budget -= _NODE * len(items)
            if budget > 0:
                waiting += items
        if budget < 0:
            return False
    return True


def encode(value: JsonValue, *, small: bool = False) -> bytes:
    """JSON for the engine; `small` says that somebody has looked at how much there is.

    Integers that JavaScript would round arrive as text of their digits; NaN and the infinities too; what is no
    JSON as the text that `str` makes of it.
    """
    if small or is_small(value):
        quick = _encode_plain(value)
        if quick is not None:
            return quick
    return b"".join(_parts(_exact(value)))


def _encode_plain(value: JsonValue) -> bytes | None:
    """JSON of a small value that holds nothing which has to be replaced; None where there may be something."""
    try:
        text = _STRICT.encode(value)
        return None if _LONG_NUMBER.search(text) else text.encode()
    except (TypeError, ValueError):
        return None


def _parts(value: JsonValue) -> Iterator[bytes]:
    if isinstance(value, str) and len(value) > PART:
        yield b'"'
        for start in range(0, len(value), PART):
            yield _text(value[start : start + PART])[1:-1]
        yield b'"'
    elif is_small(value):
        yield _text(value)
    elif isinstance(value, dict):
        opening = b"{"
        for key, item in cast("JsonObject", value).items():
            yield opening + _text(str(key)) + b":"
            yield from _parts(item)
            opening = b","
        yield b"}"
    else:
        yield from _list_parts(cast("list[JsonValue]", value))


def _list_parts(items: list[JsonValue]) -> Iterator[bytes]:
    """Neighbours that are small are written together."""
    opening = b"["
    together: list[JsonValue] = []
    for item in items:
        if len(together) < 32 and is_small(item, PART // 32):
            together.append(item)
            continue
        if together:
            yield opening + _text(together)[1:-1]
            opening, together = b",", []
        if is_small(item, PART // 32):
            together.append(item)
            continue
        yield opening
        yield from _parts(item)
        opening = b","
    if together:
        yield opening + _text(together)[1:-1]
    yield b"]"


_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_STRICT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_LONG_NUMBER = re.compile(r"\d{16}")
_ESCAPED = json.JSONEncoder(separators=(",", ":"))


def _text(value: JsonValue) -> bytes:
    try:
        return _PLAIN.encode(value).encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode()


def _exact(value: JsonValue) -> JsonValue:
    """The value with everything replaced that JSON or JavaScript would not carry as it is."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            entries = cast("JsonObject", value)
            return {str(key): _exact(item) for key, item in entries.items()}
        case list() | tuple():
            return [_exact(item) for item in cast("list[JsonValue]", value)]
        case _:
            return str(value)
