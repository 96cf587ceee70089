"""Simplifies the schemas of foreign tools: no references, an object at the root, nothing that a validator chokes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.mcp.names import with_mark
from mcode.model.reading import is_list, is_object, objects_in, text_field

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

SIZE_LIMIT = 256 * 1024
"""Bytes of a schema that is taken."""

DEPTH_LIMIT = 20
"""Levels of objects and arrays in a schema that is taken, and in what references make of it."""

NODE_LIMIT = 20_000
"""Parts of a schema after references are replaced; beyond it anything is allowed."""

ARGUMENT_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Names of arguments that endpoints take."""

LONGEST_NAME = 64

_STRANGE = re.compile(r"[^a-zA-Z0-9_.-]")

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

GROUPS = ("anyOf", "oneOf", "allOf")

DROPPED = frozenset({"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$comment", "$vocabulary", "$defs"}) | {
    "definitions", "$recursiveRef", "$dynamicRef", "$recursiveAnchor", "patternProperties", "dependencies",
}  # fmt: skip
"""Keywords that mean nothing once references are replaced, or that a hostile server could make expensive.

Patterns are checked by the server alone: a foreign expression can take for ever here.
"""

SCHEMAS = frozenset({"items", "contains", "not", "if", "then", "else", "propertyNames", "additionalItems"}) | {
    "additionalProperties", "unevaluatedProperties", "unevaluatedItems",
}  # fmt: skip
"""Keywords whose value is one schema."""

COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})


class BadSchemaError(ValueError):
    """Why a tool with this schema is not taken."""


@dataclass(frozen=True, slots=True)
class PlainSchema:
    """A schema as mcode uses it."""

    schema: JsonObject
    note: str = ""
    """A sentence for the description, on what an object's schema cannot say."""


def plain_schema(value: JsonValue) -> PlainSchema:
    """Make an input schema plain. Raises BadSchemaError where it is none, too large or too deep."""
    if value is None:
        return PlainSchema({"type": "object", "properties": {}})
    if not is_object(value):
        raise BadSchemaError(f"its schema is {jsontext.kind_of(value)}, not an object")
    if value.get("type", "object") != "object":
        raise BadSchemaError(f"its schema describes {str(value['type'])[:40]!r}, not an object")
    schema: JsonObject = value
    if _depth(schema) > DEPTH_LIMIT:
        raise BadSchemaError(f"its schema has more than {DEPTH_LIMIT} levels")
    size = len(jsontext.dump(schema).encode(errors="replace"))
    if size > SIZE_LIMIT:
        raise BadSchemaError(f"its schema has {size:,} bytes; at most {SIZE_LIMIT:,} are taken")
    walked = _Plain(schema).schema(schema, 0, frozenset())
    root: JsonObject = walked if is_object(walked) else {}
    note = _flatten(root)
    return PlainSchema({"type": "object", "properties": {}, **root}, note)


def with_plain_names(schema: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The schema with argument names that endpoints take, and the server's own names by those that were changed.

    An endpoint refuses a whole request for one name such as `uids[]`, so a tool with one would end every session.
    """
    properties: JsonObject = schema.get("properties") or {}
    own: JsonObject = {}
    for name in properties:
        if not ARGUMENT_NAME.fullmatch(name):
            mapped = _STRANGE.sub("_", name)
            lost = len(mapped) > LONGEST_NAME or any(each.isalnum() and not each.isascii() for each in name)
            if lost or not mapped or mapped in properties or mapped in own:
                mapped = with_mark(mapped, name)
            own[mapped] = name
    if not own:
        return schema, own
    renamed = {name: mapped for mapped, name in own.items()}
    changed: JsonObject = {**schema}
    changed["properties"] = {renamed.get(name, name): each for name, each in properties.items()}
    if "required" in schema:
        changed["required"] = [renamed.get(name, name) for name in schema["required"]]
    for keyword in ("dependentRequired", "dependentSchemas", "propertyNames"):
        changed.pop(keyword, None)  # the server checks what they say
    return changed, own


class _Plain:
    """Walks one schema; a reference is replaced by what it names, and by nothing where it leads back to itself."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = NODE_LIMIT

    def schema(self, value: JsonValue, depth: int, within: frozenset[str]) -> JsonValue:
        if isinstance(value, bool):
            return value
        self._left -= 1
        if not is_object(value) or depth > DEPTH_LIMIT or self._left < 0:
            return {}
        reference = value.get("$ref")
        if isinstance(reference, str):
            return self._referred(value, reference, depth, within)
        plain: JsonObject = {}
        for key, part in value.items():
            if key not in DROPPED:
                kept = self._keyword(key, part, depth, within)
                if kept is not None:
                    plain[key] = kept
        return plain

    def _referred(self, value: JsonObject, reference: str, depth: int, within: frozenset[str]) -> JsonValue:
        beside = {key: part for key, part in value.items() if key != "$ref"}
        target = self._target(reference)
        if target is None or reference in within:
            why = f"as {reference.rsplit('/', 1)[-1]}" if reference in within else ""
            beside = {"description": why, **beside} if why and "description" not in beside else beside
            return self.schema(beside, depth, within)
        inner = self.schema(target, depth, within | {reference})
        outer = self.schema(beside, depth, within)
        return {**inner, **outer} if is_object(inner) and is_object(outer) else inner

    def _target(self, reference: str) -> JsonValue:
        """What a reference into the same schema names; None for any other."""
        if not reference.startswith("#"):
            return None
        found: JsonValue = self._root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if is_object(found) else None
        return found if is_object(found) or isinstance(found, bool) else None

    def _keyword(self, key: str, part: JsonValue, depth: int, within: frozenset[str]) -> JsonValue:
        """The value of one keyword; None where it makes no sense."""
        if key in SCHEMAS:
            return self.schema(part, depth + 1, within) if is_object(part) or isinstance(part, bool) else None
        if key in ("properties", "dependentSchemas"):
            if not is_object(part):
                return None
            return {name: self.schema(each, depth + 1, within) for name, each in part.items()}
        if key in GROUPS or key == "prefixItems":
            parts = objects_in(part)
            return [self.schema(each, depth + 1, within) for each in parts] or None
        return _plain_value(key, part)


def _plain_value(key: str, part: JsonValue) -> JsonValue:
    """The value of a keyword that holds no schema; None where it makes no sense."""
    if key == "type":
        if is_list(part):
            return [each for each in part if isinstance(each, str) and each in TYPES] or None
        return part if isinstance(part, str) and part in TYPES else None
    if key == "required":
        return [each for each in part if isinstance(each, str)] if is_list(part) else None
    if key == "enum":
        return part if is_list(part) and part else None
    if key in COUNTS:
        return part if isinstance(part, int) and not isinstance(part, bool) and part >= 0 else None
    if key in NUMBERS:
        good = isinstance(part, (int, float)) and not isinstance(part, bool)
        return part if good and (key != "multipleOf" or part > 0) else None
    if key in ("description", "title", "format", "pattern"):
        return None if key == "pattern" or not isinstance(part, str) else part
    if key == "dependentRequired":
        return part if is_object(part) and all(_is_names(each) for each in part.values()) else None
    return part


def _is_names(value: JsonValue) -> bool:
    return is_list(value) and all(isinstance(each, str) for each in value)


def _flatten(root: JsonObject) -> str:
    """Merge groups at the root, which endpoints refuse, into the one object; returns what is lost by that."""
    notes: list[str] = []
    for group in GROUPS:
        branches = objects_in(root.pop(group, None))
        if not branches:
            continue
        properties: JsonObject = root.setdefault("properties", {})
        for branch in branches:
            own: JsonObject = branch.get("properties") or {}
            for name, schema in own.items():
                properties[name] = _either(properties[name], schema) if name in properties else schema
        needed = [list(branch.get("required") or ()) for branch in branches]
        both = set(needed[0]).union(*needed) if group == "allOf" else set(needed[0]).intersection(*needed)
        required: list[str] = [*(root.get("required") or ()), *sorted(both)]
        if required:
            root["required"] = list(dict.fromkeys(required))
        if group != "allOf":
            notes.append(_groups_note(group, branches))
    for keyword in ("not", "if", "then", "else", "enum", "const"):
        root.pop(keyword, None)
    return " ".join(note for note in notes if note)


def _either(one: JsonValue, other: JsonValue) -> JsonValue:
    return one if one == other else {"anyOf": [one, other]}


def _groups_note(group: str, branches: list[JsonObject]) -> str:
    sets: list[str] = []
    for branch in branches:
        names = list(branch.get("required") or branch.get("properties") or ())
        title = text_field(branch, "title")
        if names:
            sets.append((f"{title}: " if title else "") + " + ".join(names))
    if len(sets) < 2:
        return ""
    how = "exactly one" if group == "oneOf" else "at least one"
    return f"Arguments go together in groups, give {how} of: {'; '.join(sets)}."


def _depth(value: JsonValue) -> int:
    level: list[JsonValue] = [value]
    depth = 0
    while level and depth <= DEPTH_LIMIT:
        level = [
            child
            for parent in level
            for child in (parent.values() if is_object(parent) else parent)
            if isinstance(child, (dict, list))
        ]
        depth += 1
    return depth
