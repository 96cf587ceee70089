"""StructuredOutput: the answer of a headless run in the shape that its caller has asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.tool import Effect, Placement, Preview, Tool, ToolResult

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.tool import ToolServices, Workspace

NAME = "StructuredOutput"

_VALUE = "value"
"""Holds an answer that is no object, since arguments always are one."""


class StructuredOutput(Tool):
    """Keeps the last answer that it was given; the road has checked it against the schema."""

    name = NAME
    effects = frozenset({Effect.CHANGES_SESSION})
    placement = Placement.TOP_LEVEL_ONLY
    description = (
        "Your final answer goes here, in this shape, and only here: whoever asks reads nothing else. Call it once, "
        "when the work is done."
    )

    def __init__(self, schema: JsonObject) -> None:
        self._wrapped = schema.get("type") != "object"
        wrapped: JsonObject = {"type": "object", "properties": {_VALUE: schema}, "required": [_VALUE]}
        self.input_schema = wrapped if self._wrapped else schema
        self.answers: list[JsonValue] = []
        """What was answered; the last one counts."""

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del arguments, workspace
        return Preview("the final answer")

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        del services
        self.answers.append(arguments[_VALUE] if self._wrapped else arguments)
        return ToolResult("Taken. Nothing more is needed; end with one word.", summary="taken")
