"""Agent: give a task to a sub-agent, and get its last answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.tool import Effect, Placement, Preview, Tool, object_schema

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace


class Agents(Protocol):
    """Who runs sub-agents."""

    def listing(self) -> str:
        """A line for each kind."""
        ...

    async def work(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Run one to its end, or begin with it; raises UsageError for a kind that does not exist."""
        ...


class AgentTool(Tool):
    """Its data is {agent, answer, requests, calls, input_tokens, output_tokens, cost}; {state} in the background."""

    name = "Agent"
    effects = frozenset({Effect.CHANGES_SESSION})
    placement = Placement.TOP_LEVEL_ONLY
    input_schema = object_schema(
        {
            "prompt": {"type": "string", "minLength": 1},
            "description": {"type": "string", "description": "three to five words, for the screen"},
            "subagent_type": {"type": "string", "description": "default general-purpose"},
            "model": {"type": "string"},
            "run_in_background": {"type": "boolean", "description": "its answer comes in a message later"},
        },
        required=["prompt", "description"],
    )

    def __init__(self, agents: Agents, *, seldom: bool) -> None:
        """`seldom`: nobody has defined a kind of agent, so the definition is not in the first request."""
        self._agents = agents
        self.seldom = seldom
        self.description = f"{read_description('agent')} Kinds:\n{agents.listing()}"

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        kind = arguments.get("subagent_type", "general-purpose")
        return Preview(f"{kind}: {arguments['description']}", str(arguments["prompt"]))

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        return await self._agents.work(arguments, services)
