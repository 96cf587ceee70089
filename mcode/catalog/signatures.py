"""Writes a tool's JSON Schema as one line that a model reads as it reads TypeScript: `name(a: {path: string})`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.document import first_sentence
from mcode.model.reading import is_list, is_object
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.jsontext import JsonObject, JsonValue

LENGTH_LIMIT = 2_000
"""Characters of a signature; a longer one is written again with less depth."""

DEPTHS = (6, 3, 2, 1)
"""Levels of nested objects that are written out, tried in turn."""

COMMENT_LIMIT = 160
"""Characters of the sentence behind a signature."""

CHOICE_LIMIT = 24
"""Values of one enumeration."""

PROPERTY_LIMIT = 60
"""Properties of one object."""

VALUE_LIMIT = 40
"""Characters of a value that is written out: a choice, a default."""

LEVEL_LIMIT = 40
"""Schemas within one another; what is deeper may be anything."""

PART_LIMIT = 1_000
"""Schemas that are written for one type: references can make few of them many."""

TEXT_LIMIT = 2_000
"""Characters of a description that are looked at for its first sentence."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_SCALARS = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "null": "null",
}


def signature(
    name: str, description: str, input_schema: JsonObject, output_schema: JsonObject | None = None
) -> str:
    """
    A tool in one line: `name(a: {path: string, limit?: integer = 10}): {text: string} // First sentence.`

    What does not fit into LENGTH_LIMIT is folded from the inside out: `object` in place of a nested object, and at
    last `...` in place of optional properties.
    """
    sentence = _comment(description)
    line = ""
    for depth in DEPTHS:
        line = f"{name}({_argument(input_schema, depth)}){_result(output_schema, depth)}{sentence}"
        if len(line) <= LENGTH_LIMIT:
            return line
    line = f"{name}({_argument(_only_required(input_schema), 1)}){_result(output_schema, 0)}{sentence}"
    return line if len(line) <= LENGTH_LIMIT else f"{name}(a: object){sentence}"


def type_text(schema: JsonValue, depth: int = DEPTHS[0]) -> str:
    """A JSON Schema as a type, with nested objects written out to a depth."""
    return _Writer(schema, depth).write(schema)


def _argument(schema: JsonObject, depth: int) -> str:
    text = type_text(schema, depth)
    if text in {"{}", "object", "any"}:
        return "" if not schema.get("additionalProperties") else "a?: object"
    required = schema.get("required")
    needed = is_list(required) and len(required) > 0
    return f"a: {text}" if needed or "properties" not in schema else f"a?: {text}"


def _result(schema: JsonObject | None, depth: int) -> str:
    return f": {type_text(schema, depth)}" if schema else ""


def _comment(description: str) -> str:
    sentence = _sentence(description)
    return f" // {sentence}" if sentence else ""


def _sentence(text: str) -> str:
    """The first sentence of a text as one line, cut at a word."""
    sentence, _ = first_sentence(clean(text[:TEXT_LIMIT], Kind.MODEL))
    line = clean(sentence, Kind.LINE).strip()
    return line if len(line) <= COMMENT_LIMIT else line[:COMMENT_LIMIT].rsplit(" ", 1)[0] + "..."


def _only_required(schema: JsonObject) -> JsonObject:
    properties, required = schema.get("properties"), schema.get("required")
    if not is_object(properties):
        return schema
    needed = [each for each in required if isinstance(each, str)] if is_list(required) else []
    kept = {name: value for name, value in properties.items() if name in needed}
    return {**schema, "properties": kept, "additionalProperties": len(kept) < len(properties)}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the parts of one schema."""

    root: JsonValue
    """Where references are looked up."""
    depth: int
    """Levels of objects that may still be written out."""
    references: tuple[str, ...] = ()
    """References on the way here, lest one lead to itself for ever."""
    level: int = 0
    """Schemas around the one that is written."""
    left: list[int] = field(default_factory=lambda: [PART_LIMIT])
    """How many more schemas may be written, in one place for all writers of a signature."""

    def write(self, schema: JsonValue) -> str:
        """The type that a schema describes."""
        if schema is False:
            return "never"
        self.left[0] -= 1
        if not is_object(schema) or self.level > LEVEL_LIMIT or self.left[0] < 0:
            return "any"
        return replace(self, level=self.level + 1).write_known(schema)

    def write_known(self, schema: JsonObject) -> str:
        """The type of a schema that is an object and near enough to be written."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._follow(reference)
        if "const" in schema:
            return _literal(schema["const"]) or "any"
        choices = schema.get("enum")
        if is_list(choices):
            return _join(_choices(choices))
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if is_list(branches) and "properties" not in schema:
                return _join([self.write(branch) for branch in islice(branches, CHOICE_LIMIT)])
        together = schema.get("allOf")
        if is_list(together) and together and "properties" not in schema:
            parts = dict.fromkeys(self.write(part) for part in islice(together, CHOICE_LIMIT))
            return " & ".join(part for part in parts if part != "any") or "any"
        return self._write_type(schema)

    def _write_type(self, schema: JsonObject) -> str:
        kind = schema.get("type")
        if is_list(kind):
            return _join([self._write_type({**schema, "type": each}) for each in islice(kind, 8)])
        if kind == "array":
            return self._array(schema)
        if kind == "object" or "properties" in schema:
            return self._object(schema)
        return _SCALARS.get(kind, "any") if isinstance(kind, str) else "any"

    def _array(self, schema: JsonObject) -> str:
        members = schema.get("prefixItems")
        if is_list(members):
            return f"[{', '.join(self.write(each) for each in islice(members, 8))}]"
        item = self.write(schema.get("items", True))
        return f"({item})[]" if " | " in item or " & " in item else f"{item}[]"

    def _object(self, schema: JsonObject) -> str:
        properties, more = schema.get("properties"), schema.get("additionalProperties")
        if not is_object(properties) or not properties:
            if is_object(more) and more and self.depth > 0:
                return f"{{[key: string]: {replace(self, depth=self.depth - 1).write(more)}}}"
            return "{}" if more is False else "object"
        if self.depth <= 0:
            return "object"
        required = schema.get("required")
        needed = required if is_list(required) else []
        inner = replace(self, depth=self.depth - 1)
        ordered = sorted(properties.items(), key=lambda pair: pair[0] not in needed)
        parts = [inner.property_text(name, each, name in needed) for name, each in ordered[:PROPERTY_LIMIT]]
        if len(ordered) > PROPERTY_LIMIT or is_object(more) or more is True:
            parts.append("...")
        return f"{{{', '.join(parts)}}}{_either(schema)}"

    def property_text(self, name: str, schema: JsonValue, needed: bool) -> str:
        """One property of an object: `name?: type = default`."""
        key = name if _IDENTIFIER.fullmatch(name) else jsontext.dump(clean(name[:VALUE_LIMIT], Kind.LINE))
        text = self.write(schema)
        if needed:
            return f"{key}: {text}"
        # Leaving an optional property out says null in fewer words.
        return f"{key}?: {text.removesuffix(' | null')}{_default(schema)}"

    def _follow(self, reference: str) -> str:
        if reference in self.references:
            return "object"
        target = _resolve(self.root, reference)
        return replace(self, references=(*self.references, reference)).write(target)


def _resolve(root: JsonValue, reference: str) -> JsonValue:
    """What `#/$defs/Name` leads to; True, which is any value, where it leads nowhere or out of the schema."""
    if not reference.startswith("#"):
        return True
    found = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if is_object(found) and key in found:
            found = found[key]
        elif is_list(found) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            return True
    return found


def _choices(values: Sequence[JsonValue]) -> list[str]:
    shown = [text for text in (_literal(value) for value in values[:CHOICE_LIMIT]) if text]
    return [*shown, "..."] if len(values) > len(shown) else shown


def _literal(value: JsonValue) -> str:
    """A value as it is written in a program; empty for one that is too long or not simple."""
    if is_object(value) or is_list(value):
        return ""
    text = jsontext.dump(clean(value, Kind.LINE) if isinstance(value, str) else value)
    return text if len(text) <= VALUE_LIMIT else ""


def _default(schema: JsonValue) -> str:
    value = schema.get("default") if is_object(schema) else None
    if value is None or value == "":
        return ""
    text = _literal(value)
    return f" = {text}" if text else ""


def _either(schema: JsonObject) -> str:
    """Sets of properties of which one must be given, as a comment: a type cannot say it briefly."""
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if is_list(branches):
            needs = [", ".join(_required_of(branch)) for branch in islice(branches, 8)]
            if all(needs):
                return f" /* needs {' or '.join(needs)} */"
    return ""


def _required_of(branch: JsonValue) -> Iterator[str]:
    required = branch.get("required") if is_object(branch) else None
    for name in required if is_list(required) else ():
        if isinstance(name, str):
            yield clean(name[:VALUE_LIMIT], Kind.LINE)


def _join(parts: Sequence[str]) -> str:
    """Alternatives, each once, `null` at the end; none at all is any value."""
    single = dict.fromkeys(part for whole in parts for part in _members(whole))
    if "any" in single:
        return "any"
    ordered = sorted(single, key=lambda part: part == "null")
    return " | ".join(ordered) or "any"


def _members(text: str) -> list[str]:
    """The members of a plain union, lest a union within a union repeat them; anything else as it is."""
    return text.split(" | ") if re.fullmatch(r"[a-z]+( \| [a-z]+)+", text) else [text]
