"""Check arguments against a tool's JSON Schema. The only file that imports jsonschema."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.tool import Tool

_SHOWN = 120


class SchemaValidator:
    """Validates arguments; keeps one compiled validator a tool."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[JsonObject, Any]] = {}

    async def prepare(self) -> None:
        """Import the library in a thread, since that takes longer than the event loop may stand still."""
        if "jsonschema" not in sys.modules:
            await asyncio.to_thread(_load)

    def problems(self, tool: Tool, arguments: JsonObject) -> tuple[str, ...]:
        """One sentence for each thing wrong: path, what was expected, what came. Empty when all is well."""
        errors = sorted(self._validator(tool).iter_errors(arguments), key=lambda error: list(error.path))
        return tuple(_describe(error) for error in errors[:5])

    def _validator(self, tool: Tool) -> Any:
        known = self._compiled.get(tool.name)
        if known is not None and known[0] is tool.input_schema:
            return known[1]
        validator = _load()(tool.input_schema)
        self._compiled[tool.name] = (tool.input_schema, validator)
        return validator


def shape_fault(schema: JsonObject, value: JsonValue) -> str:
    """What is wrong with a result under the schema that was promised for it; empty where it fits."""
    error = next(iter(_load()(schema).iter_errors(value)), None)
    return _describe(error) if error is not None else ""


def _load() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator


def _describe(error: Any) -> str:
    path = ".".join(str(part) for part in error.absolute_path) or "the arguments"
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{path}: missing {', '.join(missing)}"
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        extra = [name for name in error.instance if name not in known]
        return f"{path}: unknown {', '.join(extra)}; known are {', '.join(known) or 'none'}"
    if error.validator == "type":
        return f"{path}: expected {_wanted(error.validator_value)}, got {_shown(error.instance)}"
    if error.validator == "enum":
        return f"{path}: expected one of {_shown(error.validator_value)}, got {_shown(error.instance)}"
    return f"{path}: {str(error.message)[:_SHOWN]}"


def _wanted(types: JsonValue) -> str:
    return str(types) if isinstance(types, str) else " or ".join(str(item) for item in types)


def _shown(value: JsonValue) -> str:
    text = jsontext.dump(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
