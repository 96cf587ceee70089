"""/tools: what the model can see, what it costs, and what may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table, tokens
from mcode.model.usage import count_definition
from mcode.tool import Placement

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

_ELSEWHERE = {
    Placement.RESIDENT: "LATER",
    Placement.TOP_LEVEL_ONLY: "LATER",
    Placement.DEFERRED: "DEFERRED",
    Placement.PROGRAM_ONLY: "PROGRAM",
}
"""States of tools that are not in the request; LATER: the next prefix will hold them."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One line of /tools."""

    state: str
    """RESIDENT (in every request; `only`: programs may not call it), BLOCKED, DEFERRED, PROGRAM or LATER."""
    name: str
    source: str
    tokens: int
    """What the definition costs in a request that holds it (estimate)."""
    permission: str
    in_request: bool
    """True where every request pays for it."""


def tool_rows(context: CommandContext) -> tuple[ToolRow, ...]:
    """One row a tool of the session: those in the request first, then by name."""
    agent = context.agent
    sent = {str(tool["name"]): tool for tool in agent.builder.preview(agent.model).tools}
    rows = [_row(context, tool, sent.get(tool.name)) for tool in agent.catalog]
    return tuple(sorted(rows, key=lambda row: (not row.in_request, row.state, row.name)))


def resident_summary(context: CommandContext) -> str:
    """`9 tools resident (2.1k tokens)`, for the first screen."""
    sent = [row.tokens for row in tool_rows(context) if row.in_request]
    return f"{plural(len(sent), 'tool')} resident ({tokens(sum(sent))} tokens)"


def _row(context: CommandContext, tool: Tool, sent: JsonObject | None) -> ToolRow:
    definition = sent or {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    return ToolRow(
        state=_state(context, tool, in_request=sent is not None),
        name=tool.name,
        source=tool.source,
        tokens=count_definition(definition),
        permission=_permission(context, tool),
        in_request=sent is not None,
    )


async def _tools(context: CommandContext, arguments: Arguments) -> CommandResult:
    wanted = tuple(word.lower() for word in arguments.words)
    rows = [row for row in tool_rows(context) if all(word in _searched(context, row) for word in wanted)]
    data = [
        {
            "state": row.state,
            "name": row.name,
            "source": row.source,
            "tokens": row.tokens,
            "permission": row.permission,
            "in_request": row.in_request,
        }
        for row in rows
    ]
    if not rows:
        return CommandResult(f"No tool matches `{arguments.rest}`. /tools lists all of them.", data)
    head = ("state", "tool", "source", "tokens", "permission")
    body = [(row.state, row.name, row.source, _cost(row), row.permission) for row in rows]
    resident = [row.tokens for row in rows if row.in_request]
    total = (
        f"  {plural(len(resident), 'tool')} in every request: {tokens(sum(resident))} tokens (estimate; /context "
        "has the figures of the last request)"
    )
    return CommandResult("\n".join((table((head, *body), right=frozenset({3})), total)), data)


def _searched(context: CommandContext, row: ToolRow) -> str:
    tool = context.agent.catalog.find(row.name)
    description = tool.description if tool is not None else ""
    return f"{row.name} {row.source} {row.state} {description}".lower()


def _cost(row: ToolRow) -> str:
    if row.in_request:
        return tokens(row.tokens)
    return "0" if row.state == "BLOCKED" else f"({tokens(row.tokens)})"


def _state(context: CommandContext, tool: Tool, *, in_request: bool) -> str:
    if context.agent.policy.hides(tool.name) is not None:
        return "BLOCKED"
    if not in_request:
        return _ELSEWHERE[tool.placement]
    return "RESIDENT only" if tool.placement is Placement.TOP_LEVEL_ONLY else "RESIDENT"


def _permission(context: CommandContext, tool: Tool) -> str:
    """What bare rules say of a tool, else what its effects mean; and how many finer rules there are."""
    policy = context.agent.policy
    hiding = policy.hides(tool.name)
    if hiding is not None:
        return f"deny ({hiding.source.scope})"
    about = [rule for rule in policy.rules if rule.is_about(tool.name, tool.source)]
    bare = [rule for rule in about if rule.specifier is None]
    standing = str(bare[0].behavior) if bare else ("allow" if tool.read_only else "ask")
    finer = len(about) - len(bare)
    return f"{standing}, {plural(finer, 'rule')}" if finer else standing


TOOLS = Command("tools", "the tools the model sees, with cost and permission", _tools, "[words]")
