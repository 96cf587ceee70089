"""/agents: the kinds of sub-agents, those that run, and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.near_words import unknown_word
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table
from mcode.errors import UsageError
from mcode.text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.config.agent_files import AgentFile
    from mcode.jsontext import JsonObject

_USAGE = "/agents [stop ID]"

_SHOWN = 240
"""Cells of a description; `--json` has all of it."""


async def _agents(context: CommandContext, arguments: Arguments) -> CommandResult:
    match arguments.at_most(2, _USAGE):
        case ():
            return _list(context)
        case ("stop", call):
            if context.agent.subagents.stop(call):
                text = f"The sub-agent {call} is stopped; what it has changed stays changed."
                return CommandResult(text, {"stopped": call})
            return CommandResult(
                f"No sub-agent {call} runs; nothing was done.", {"stopped": None}, failed=True
            )
        case ("stop",):
            raise UsageError(f"Which sub-agent? Nothing was done; /agents lists them. Usage: {_USAGE}")
        case _:
            raise unknown_word("/agents", arguments.rest, ("stop",), _USAGE)


def _list(context: CommandContext) -> CommandResult:
    agents = context.agent.subagents
    running: list[JsonObject] = [
        {
            "id": each.call,
            "agent": each.kind,
            "task": each.task,
            "requests": each.child.meter.totals.requests,
            "calls": each.child.events.calls,
        }
        for each in agents.running
    ]
    data: JsonObject = {"agents": [_as_object(each) for each in agents.kinds.values()], "running": running}
    rows = [
        (
            each.name,
            each.scope,
            each.model or "the session's model",
            _tools(each),
            shorten(each.in_listing, _SHOWN),
        )
        for each in agents.kinds.values()
    ]
    lines = [plural(len(rows), "kind of agent", "kinds of agents"), table(rows)]
    if running:
        lines.append("Running; /agents stop ID ends one")
        lines.append(
            table(
                [(each["id"], each["agent"], each["task"], plural(each["calls"], "call")) for each in running]
            )
        )
    lines.append("They were read when the session began; /clear reads them anew.")
    return CommandResult("\n".join(lines), data)


def _tools(agent: AgentFile) -> str:
    return ", ".join(agent.tools) or "all tools"


def _as_object(agent: AgentFile) -> JsonObject:
    return {
        "name": agent.name,
        "scope": agent.scope,
        "path": str(agent.path) if agent.path is not None else None,
        "description": agent.description,
        "tools": list(agent.tools),
        "without": list(agent.without),
        "model": agent.model,
        "mode": agent.mode,
        "max_turns": agent.max_turns,
        "skills": list(agent.skills),
        "servers": list(agent.servers),
        "own_servers": list(agent.own_servers),
        "hooks": sorted({hook.event for hook in agent.hooks}),
        "background": agent.background,
        "effort": agent.effort,
        "isolation": "worktree" if agent.isolated else "",
        "unused": list(agent.unused),
    }


def _words(context: CommandContext) -> Sequence[str]:
    return [f"stop {each.call}" for each in context.agent.subagents.running]


AGENTS = Command("agents", "kinds of sub-agents, and those that run", _agents, "[stop ID]", complete=_words)
