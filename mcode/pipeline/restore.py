"""Restore argument types: models write "5" for 5 and "[1]" for [1]; the schema says what was meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

DEPTH = 8
"""Alternatives and references within one another that are followed."""

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
    work = _Restoration(schema)
    restored: JsonObject = {}
    for name, value in arguments.items():
        restored[name] = work.restore(value, known.get(name), name)
    return (restored, tuple(work.notes)) if work.notes else (arguments, ())


class _Restoration:
    """Restores the arguments of one call."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self.notes: list[str] = []

    def restore(self, value: JsonValue, schema: JsonValue, path: str) -> JsonValue:
        """The value as its schema wants it, or as it is."""
        branches = self._branches(schema)
        wanted = {kind: branch for branch in branches for kind in _types(branch)}
        if not wanted or not all(map(_types, branches)):
            return value  # somewhere anything is allowed
        actual = _type_of(value)
        fitting = wanted.get(actual) or (wanted.get("number") if actual == "integer" else None)
        if fitting is not None:
            return self._inside(value, fitting, path)
        changed, found = _convert(value, tuple(wanted))
        if not found:
            return value
        self.notes.append(f"{path}: {jsontext.kind_of(value)} read as {jsontext.kind_of(changed)}")
        return self._inside(changed, wanted.get(_type_of(changed), {}), path)

    def _inside(self, value: JsonValue, schema: JsonObject, path: str) -> JsonValue:
        if isinstance(value, dict) and isinstance(schema.get("properties"), dict):
            known = cast("JsonObject", schema["properties"])
            inner = cast("JsonObject", value)
            return {key: self.restore(item, known.get(key), f"{path}.{key}") for key, item in inner.items()}
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            items = cast("list[JsonValue]", value)
            return [self.restore(item, schema["items"], f"{path}[{at}]") for at, item in enumerate(items)]
        return cast("JsonValue", value)

    def _branches(self, schema: JsonValue, depth: int = 0) -> list[JsonObject]:
        """The schemas of which one has to hold: alternatives laid open, references within the schema followed."""
        if not isinstance(schema, dict) or depth > DEPTH:
            return []
        node = cast("JsonObject", schema)
        reference = node.get("$ref")
        if isinstance(reference, str):
            return self._branches(self._resolve(reference), depth + 1)
        for key in ("anyOf", "oneOf"):
            alternatives = node.get(key)
            if isinstance(alternatives, list) and not _types(node):
                listed = cast("list[JsonValue]", alternatives)
                return [branch for each in listed for branch in (self._branches(each, depth + 1) or [{}])]
        return [node]

    def _resolve(self, reference: str) -> JsonValue:
        """What `#/$defs/Name` leads to; None where it leads nowhere."""
        found: JsonValue = self._root
        if not reference.startswith("#/"):
            return None
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            found = cast("JsonObject", found).get(key) if isinstance(found, dict) else None
        return found


def _types(schema: JsonObject) -> tuple[str, ...]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(str(item) for item in cast("list[JsonValue]", declared))
    return ("object",) if "properties" in schema else ()


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
