"""Which parts of a record's body are masked before it is written.

Everything that a person, a model or a tool wrote is masked. Left alone is what the provider checks byte by
byte or what other records refer to: thinking blocks, signatures, encrypted content, base64 data, ids.
Inside the arguments and results of tools nothing is exempt, for anything may stand there.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.masking import Masker

DEPTH_LIMIT = 250
"""Levels of nesting that a body may have, so that every reader can follow it."""

_EXACT_TYPES = frozenset({"thinking", "redacted_thinking"})
_EXACT_KEYS = frozenset(
    {"id", "tool_use_id", "call_id", "parent", "signature", "encrypted_content", "encrypted_index", "cwd"}
)
_FOREIGN_KEYS = frozenset({"input", "arguments", "data"})


def masked_body(body: JsonObject, masker: Masker) -> JsonObject:
    """A copy of a body, masked. Raises ValueError where it is nested deeper than DEPTH_LIMIT."""
    return cast("JsonObject", _copy(body, masker, DEPTH_LIMIT))


def told_body(body: JsonObject, masker: Masker) -> JsonObject:
    """A copy of a body as the model may see it: whole, but for mcode's own keys."""
    return body_text(cast("JsonObject", _each_text(body, masker.mask_keys)))[0]


def body_text(body: JsonObject) -> tuple[JsonObject, str]:
    """A body and its JSON text: one line, encodable as UTF-8, and read again it gives that body.

    Numbers that JSON does not know become null, in both. Raises TypeError for values that are no JSON.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        body = cast("JsonObject", _finite(body))
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Lone surrogates can only be written as escapes, and two that meet are read as one character.
        text = json.dumps(body, separators=(",", ":"), allow_nan=False)
        body = json.loads(text)
    return body, text


def _copy(value: JsonValue, masker: Masker, depth: int) -> JsonValue:
    if isinstance(value, str):
        return masker.mask(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        raise ValueError(f"nested deeper than {DEPTH_LIMIT} levels")
    if not isinstance(value, dict):
        return [_copy(item, masker, depth - 1) for item in cast("list[JsonValue]", value)]
    members = cast("JsonObject", value)
    exact = members.get("type") in _EXACT_TYPES
    result: JsonObject = {}
    for key, item in members.items():
        if exact or (isinstance(item, str) and (key in _EXACT_KEYS or _is_base64(members, key))):
            result[key] = _plain_copy(item, depth - 1)
        elif key in _FOREIGN_KEYS:
            result[key] = masker.mask_value(_plain_copy(item, depth - 1))
        else:
            result[key] = _copy(item, masker, depth - 1)
    return result


def _is_base64(members: JsonObject, key: str) -> bool:
    return key == "data" and members.get("type") == "base64"


def _plain_copy(value: JsonValue, depth: int) -> JsonValue:
    if not isinstance(value, dict | list | tuple):
        return value
    if depth <= 0:
        raise ValueError(f"nested deeper than {DEPTH_LIMIT} levels")
    if isinstance(value, dict):
        return {key: _plain_copy(item, depth - 1) for key, item in cast("JsonObject", value).items()}
    return [_plain_copy(item, depth - 1) for item in cast("list[JsonValue]", value)]


def _each_text(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in cast("JsonObject", value).items()}
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in cast("list[JsonValue]", value)]
    return value


def _finite(value: JsonValue) -> JsonValue:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast("list[JsonValue]", value)]
    return value
