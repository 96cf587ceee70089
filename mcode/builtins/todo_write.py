"""TodoWrite: the model's list of tasks, shown to the user."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.tool import Effect, Placement, Preview, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


class TodoWrite(Tool):
    """Replaces the list. The agent takes it from the result's data."""

    name = "TodoWrite"
    effects = frozenset({Effect.CHANGES_SESSION})
    placement = Placement.TOP_LEVEL_ONLY
    input_schema = object_schema(
        {
            "todos": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "minLength": 1},
                        "status": {"enum": ["pending", "in_progress", "completed"]},
                        "activeForm": {"type": "string"},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            }
        },
        required=["todos"],
    )

    def __init__(self) -> None:
        self.description = read_description("todo_write")

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        todos: list[JsonObject] = arguments["todos"]
        body = "\n".join(f"{_MARKS[todo['status']]} {todo['content']}" for todo in todos)
        return Preview(_summary(todos), body)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        del services
        todos: list[JsonObject] = arguments["todos"]
        summary = _summary(todos)
        return ToolResult(f"The list is kept: {summary}.", data={"todos": todos}, summary=summary)


def _summary(todos: list[JsonObject]) -> str:
    if not todos:
        return "no todos"
    counts = Counter(todo["status"] for todo in todos)
    return f"{counts['completed']} of {len(todos)} completed, {counts['in_progress']} in progress"
