"""The definition of run_code: its fixed text, and the signatures of the tools that programs can call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcode.catalog.signatures import signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.jsontext import JsonObject
    from mcode.run_code.names import ProgramTool


def _object(**types: str) -> JsonObject:
    properties = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": properties, "required": list(types)}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


_TEXT: JsonObject = {"type": "string"}
_CHANGE = _object(path="string", added="integer", removed="integer")

VALUES: dict[str, JsonObject] = {
    "Bash": _object(stdout="string", stderr="string", exit_code="integer", timed_out="boolean"),
    "Edit": _CHANGE,
    "Glob": _list(_TEXT),
    "Grep": {
        "anyOf": [
            _list(_TEXT),
            _list(_object(path="string", line="integer", text="string")),
            _list(_object(path="string", count="integer")),
        ]
    },
    "Read": _object(text="string", lines="integer", total_lines="integer", truncated="boolean"),
    "Write": _CHANGE,
}
"""What `value` is, as a schema, for tools of ours; else it is JSON where the server sends JSON, or text."""


def describe(tools: Sequence[ProgramTool]) -> str:
    """The description that the model gets, with a line for each tool that a program can call."""
    fixed = Path(__file__).with_name("run_code.md").read_text("utf-8").strip()
    lines = [one_line(tool) for tool in tools if tool.callable]
    return (
        "\n".join((fixed, "", "In `tools`, beside what tool_search has loaded:", *lines)) if lines else fixed
    )


def one_line(tool: ProgramTool) -> str:
    """Signature and first sentence of one tool, as a program spells it."""
    name = tool.short or tool.spelled.removeprefix("tools")
    value = VALUES.get(tool.name) if tool.tool.source == "core" else None
    return signature(name, tool.tool.description, tool.tool.input_schema, value)
