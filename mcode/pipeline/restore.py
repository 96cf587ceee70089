"""Restore argument types: models write "5" for 5 and "[1]" for [1]; the schema says what was meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,18})\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?\Z")


def restore_types(arguments: JsonObject, schema: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the arguments with types as the schema wants them, and one note for each change.

    Only lossless changes are made (numeric text to a number, `true` and `false` to a boolean, JSON text to an
    object or array, a number to text) and only where the value's own type is not allowed by the schema.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return arguments, ()
    known = cast("JsonObject", properties)
    notes: list[str] = []
    restored: JsonObject = {}
    for name, value in arguments.items():
        restored[name] = _restore(value, known.get(name), name, notes)
    return (restored, tuple(notes)) if notes else (arguments, ())


def _restore(value: JsonValue, schema: JsonValue, path: str, notes: list[str]) -> JsonValue:
    if not isinstance(schema, dict):
        return value
    node = cast("JsonObject", schema)
    wanted = _types(node)
    if not wanted:
        return value
    actual = _type_of(value)
    if actual in wanted or (actual == "integer" and "number" in wanted):
        return _restore_inside(value, node, path, notes)
    changed, found = _convert(value, wanted)
    if not found:
        return value
    notes.append(f"{path}: {jsontext.kind_of(value)} read as {jsontext.kind_of(changed)}")
    return _restore_inside(changed, node, path, notes)


def _restore_inside(value: JsonValue, schema: JsonObject, path: str, notes: list[str]) -> JsonValue:
    if isinstance(value, dict) and isinstance(schema.get("properties"), dict):
        known = cast("JsonObject", schema["properties"])
        inner = cast("JsonObject", value)
        return {key: _restore(item, known.get(key), f"{path}.{key}", notes) for key, item in inner.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        items = cast("list[JsonValue]", value)
        return [_restore(item, schema["items"], f"{path}[{i}]", notes) for i, item in enumerate(items)]
    return cast("JsonValue", value)


def _types(schema: JsonObject) -> tuple[str, ...]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(str(item) for item in cast("list[JsonValue]", declared))
    return ()


def _type_of(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _convert(value: JsonValue, wanted: tuple[str, ...]) -> tuple[JsonValue, bool]:
    if isinstance(value, str):
        return _convert_text(value.strip(), wanted)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and "string" in wanted:
        return jsontext.dump(value), True
    return value, False


def _convert_text(text: str, wanted: tuple[str, ...]) -> tuple[JsonValue, bool]:
    if "integer" in wanted and _INTEGER.match(text):
        return int(text), True
    if "number" in wanted and _NUMBER.match(text):
        return (int(text) if _INTEGER.match(text) else float(text)), True
    if "boolean" in wanted and text in {"true", "false"}:
        return text == "true", True
    for kind, opening in (("array", "["), ("object", "{")):
        if kind in wanted and text.startswith(opening):
            try:
                return jsontext.parse(text), True
            except jsontext.JsonError:
                return text, False
    return text, False
