"""Skill: bring in the instructions of a skill that fits the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.tool import Effect, Placement, Preview, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace


class SkillBook(Protocol):
    """The session's skills."""

    def listing(self) -> str:
        """A line for each that the model may use."""
        ...

    async def by_model(self, name: str, arguments: str, call: Call) -> str:
        """The instructions; raises UsageError."""
        ...


class SkillTool(Tool):
    """There only where the session has skills that the model may use. Its data is {skill, characters}."""

    name = "Skill"
    effects = frozenset({Effect.CHANGES_SESSION})
    placement = Placement.TOP_LEVEL_ONLY
    output_limit = 200_000
    input_schema = object_schema(
        {
            "skill": {"type": "string", "minLength": 1},
            "args": {"type": "string"},
        },
        required=["skill"],
    )

    def __init__(self, skills: SkillBook, *, seldom: bool = False) -> None:
        """`seldom`: the model hears of skills in mid-session only, so the definition is not in the first request."""
        self._skills = skills
        self.seldom = seldom
        self.description = f"{read_description('skill')} Skills:\n{skills.listing()}"

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        return Preview(f"{arguments['skill']} {arguments.get('args', '')}".strip())

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        name = str(arguments["skill"])
        text = await self._skills.by_model(name, str(arguments.get("args", "")), services.call)
        data = {"skill": name, "characters": len(text)}
        return ToolResult(text, data=data, summary=f"{len(text):,} characters of instructions")
