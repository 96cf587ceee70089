"""/help: what can be typed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.programs import kept_names
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table
from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject

_INPUT = (
    ("Enter", "send; while a turn runs: put in the queue"),
    ("/ at the start", "a command"),
    ("! at the start", "run a shell command yourself"),
    ("@", "name a file; completion offers files of the workspace"),
)


async def _help(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/help [command]")
    if words:
        return _one(context, words[0].removeprefix("/"))
    rows = [(f"/{command.name}", command.summary) for command in context.registry]
    kept = await asyncio.to_thread(kept_names, context)
    own = ("", "Your programs", table([(f"/{name} [key=value ...]", title) for name, title in kept]))
    head = "Commands; `/help NAME` says what can stand behind one"
    text = "\n".join((head, table(rows), *(own if kept else ()), "", "What you type", table(_INPUT)))
    return CommandResult(text, [_as_object(command) for command in context.registry])


def _one(context: CommandContext, name: str) -> CommandResult:
    command = context.registry.find(name)
    if command is None:
        nearest = context.registry.nearest(name)
        hint = f" Did you mean {', '.join('/' + near for near in nearest)}?" if nearest else ""
        raise UsageError(f"There is no command /{name} to explain.{hint} /help lists all of them.")
    lines = [_heading(command), f"  {command.summary}"]
    if command.aliases:
        lines.append(f"  also: {', '.join('/' + alias for alias in command.aliases)}")
    lines += [f"  {line}" for line in command.detail.splitlines()]
    return CommandResult("\n".join(lines), _as_object(command))


def _heading(command: Command) -> str:
    return f"/{command.name} {command.usage}".rstrip()


def _as_object(command: Command) -> JsonObject:
    return {
        "name": command.name,
        "usage": command.usage,
        "summary": command.summary,
        "aliases": list(command.aliases),
    }


def _names(context: CommandContext) -> Sequence[str]:
    return [command.name for command in context.registry]


HELP = Command("help", "list the commands, or explain one", _help, "[command]", complete=_names)
