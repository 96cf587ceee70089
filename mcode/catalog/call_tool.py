"""call_tool: how a tool that was found is called where the list of tools in the request never changes.

It has no body of its own: the gate puts the tool that it names in its place, so that hooks, rules, questions, cards
and the journal see that tool under the same call id.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.call import FailureKind
from mcode.catalog.placement import CALL_TOOL
from mcode.model.reading import is_object, text_field
from mcode.tool import Effect, Placement, Tool, ToolResult

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices


_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["name"],
    "additionalProperties": False,
}


class CallTool(Tool):
    """Stands in the request for every tool that was found."""

    name = CALL_TOOL
    description = (
        "Call a tool that tool_search has found, by its name and with the arguments of its definition. "
        "What stands in your own list of tools you call directly."
    )
    input_schema = _SCHEMA
    # What it can do is what any tool can do: no two such calls run side by side.
    effects = frozenset(Effect)
    placement = Placement.TOP_LEVEL_ONLY

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Never reached: the gate has put another tool in its place."""
        del arguments, services
        return ToolResult("call_tool cannot call itself.", failure=FailureKind.INVALID_ARGUMENTS)


def target_of(call: Call, arguments: JsonObject) -> Call:
    """The call that a valid use of call_tool means: the same id, the tool and the arguments that it names."""
    return replace(call, tool=arguments["name"], arguments=arguments.get("arguments", {}))


def meant_block(block: JsonObject) -> JsonObject:
    """A `tool_use` block with the tool that it means in place of call_tool; any other block as it is."""
    if block.get("type") != "tool_use" or block.get("name") != CALL_TOOL:
        return block
    said = block.get("input")
    name = text_field(said, "name")
    if not is_object(said) or not name:
        return block
    arguments = said.get("arguments")
    return {**block, "name": name, "input": arguments if is_object(arguments) else {}}
