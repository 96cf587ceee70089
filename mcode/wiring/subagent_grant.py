"""Which tools a sub-agent may use, by the definition of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog.placement import CALL_TOOL, RUN_CODE, TOOL_SEARCH
from mcode.permissions.names import canonical_name
from mcode.permissions.wildcard import Wildcard

if TYPE_CHECKING:
    from mcode.config.agent_files import AgentFile
    from mcode.tool import Tool

NOT_THERE = frozenset(
    {
        "Agent",
        "AskUserQuestion",
        "TodoWrite",
        "ExitPlanMode",
        "TaskOutput",
        "TaskStop",
        TOOL_SEARCH,
        CALL_TOOL,
        RUN_CODE,
    }
)
"""Tools of the session that a sub-agent has not, or has one of its own of."""


@dataclass(frozen=True, slots=True)
class SubagentGrant:
    """What a kind of sub-agent may have."""

    kind: AgentFile
    own_servers: frozenset[str]
    """Names of the servers that it brings along, each in place of the session's of that name."""

    def names(self, tool: str) -> bool:
        """Whether its definition gives it a tool of this name."""
        wanted = not self.kind.tools or any(_means(each, tool) for each in self.kind.tools)
        return wanted and not self._is_without(tool)

    def shares(self, tool: Tool) -> bool:
        """Whether it has this tool of the session's."""
        if tool.name in NOT_THERE or not self.names(tool.name) or tool.source in self.own_servers:
            return False
        return not (self.kind.servers and tool.name.startswith("mcp__")) or tool.source in self.kind.servers

    def brings(self, tool: Tool) -> bool:
        """Whether it has this tool of a server of its own: those it was given, whatever else it is given."""
        return not self._is_without(tool.name)

    def _is_without(self, tool: str) -> bool:
        return any(_means(each, tool) for each in self.kind.without)


def _means(written: str, tool: str) -> bool:
    """Whether a word of a list of tools means this one: a name, `mcp__server`, or a pattern with `*`."""
    name = canonical_name(written.partition("(")[0].strip())
    if "*" in name:
        return Wildcard(name).matches(tool)
    return name == tool or (name.startswith("mcp__") and tool.startswith(f"{name}__"))
