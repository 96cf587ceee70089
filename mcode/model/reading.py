"""Reads JSON that nobody has validated: what an endpoint sent, what an old session holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeGuard

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


def is_object(value: JsonValue) -> TypeGuard[JsonObject]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: JsonValue) -> TypeGuard[list[JsonValue]]:
    """True for a JSON array."""
    return isinstance(value, list)


def is_whole(value: JsonValue) -> TypeGuard[int]:
    """True for a whole number; a boolean is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def text_field(value: JsonValue, key: str) -> str:
    """The text under a key of an object; empty where there is none."""
    text = value.get(key) if is_object(value) else None
    return text if isinstance(text, str) else ""


def count_field(value: JsonValue, key: str) -> int:
    """The count under a key of an object; 0 where there is none."""
    count = value.get(key) if is_object(value) else None
    return max(count, 0) if is_whole(count) else 0


def objects_in(value: JsonValue) -> list[JsonObject]:
    """The objects of an array; whatever else stands there is left out."""
    return [item for item in value if is_object(item)] if is_list(value) else []


def heal(text: str) -> str:
    """Join surrogate pairs that came in two pieces; half a pair becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sound(value: JsonValue) -> JsonValue:
    """The value, with what cannot be written as JSON replaced: half characters, NaN and Infinity."""
    try:
        jsontext.dump(value).encode()
    except ValueError:
        return _mended(value)
    return value


def _mended(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return heal(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_list(value):
        return [_mended(item) for item in value]
    if is_object(value):
        return {heal(key): _mended(item) for key, item in value.items()}
    return value
