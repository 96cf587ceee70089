"""JSON text, read strictly and written deterministically."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, NoReturn, TypeAlias

JsonValue: TypeAlias = Any
"""null, a boolean, a finite number, text, a list or an object of these."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""

DEPTH_LIMIT = 100
"""Levels of nesting that are read; deeper text is refused, lest recursion over it exhaust the stack."""


DIGIT_LIMIT = 4_000
"""Digits of a whole number that are read; Python itself refuses somewhat more."""


class JsonError(ValueError):
    """Text that is not the JSON we accept. The message says what is wrong and at which character."""


def parse(text: str) -> JsonValue:
    """Read JSON text; raise JsonError on NaN, Infinity, a repeated key, or over DEPTH_LIMIT levels."""
    try:
        value = _strict().decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise JsonError(f"nested deeper than {DEPTH_LIMIT} levels") from None
    if text.count("{") + text.count("[") > DEPTH_LIMIT:
        _check_depth(value)
    return value


def parse_object(text: str) -> JsonObject:
    """Read JSON text that must be an object; raise JsonError otherwise."""
    value = parse(text)
    if not isinstance(value, dict):
        raise JsonError(f"expected an object, got {kind_of(value)}")
    return value  # pyright: ignore[reportUnknownVariableType] -- json.loads gives dict[Unknown, Unknown]


def dump(value: JsonValue) -> str:
    """Write a value as one line of JSON: keys in the order given, no blanks, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical(value: JsonValue) -> str:
    """Write a value as JSON with sorted keys, so that equal values give equal text. For hashes."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False)


def kind_of(value: JsonValue) -> str:
    """Name the JSON type of a value, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "an array"
        case _:
            return "an object"


@cache
def _strict() -> json.JSONDecoder:
    """The one decoder of `parse`: making it takes longer than most texts."""
    return json.JSONDecoder(
        object_pairs_hook=_unique_keys,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        parse_int=_bounded,
    )


def _check_depth(value: JsonValue) -> None:
    level: list[JsonValue] = [value]
    for _ in range(DEPTH_LIMIT):
        level = [child for parent in level for child in _children(parent) if isinstance(child, (dict, list))]
        if not level:
            return
    raise JsonError(f"nested deeper than {DEPTH_LIMIT} levels")


def _children(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())  # pyright: ignore[reportUnknownArgumentType] -- narrowed from Any
    if isinstance(value, list):
        return value  # pyright: ignore[reportUnknownVariableType] -- narrowed from Any
    return []


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    result: JsonObject = {}
    for key, value in pairs:
        if key in result:
            raise JsonError(f"the key {key!r} stands twice in one object")
        result[key] = value
    return result


def _finite(text: str) -> float:
    value = float(text)
    if value in (math.inf, -math.inf):
        raise JsonError(f"the number {_shown(text)} is out of range")
    return value


def _bounded(text: str) -> int:
    if len(text) > DIGIT_LIMIT:
        raise JsonError(f"the number {_shown(text)} has more than {DIGIT_LIMIT} digits")
    return int(text)


def _shown(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:30]}…"


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")
