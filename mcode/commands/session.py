"""/clear, /resume and /rename: the session as a whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult, OpenSession
from mcode.commands.tables import plural, table
from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.session.store import SessionInfo

_LISTED = 20


async def _clear(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/clear")
    _refuse_while_busy(context, "/clear")
    old = context.agent.session.id
    text = f"A new session begins. The old one is kept: /resume {old[:8]}"
    return CommandResult(text, {"left": old}, OpenSession("clear"))


async def _resume(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, '/resume [id or "name"]')
    if not words:
        return _listing(context, await asyncio.to_thread(context.around.sessions))
    _refuse_while_busy(context, "/resume")
    identifier = await asyncio.to_thread(context.around.resolve, words[0])
    if identifier == context.agent.session.id:
        raise UsageError(f"The session {identifier[:8]} is the one that is open; nothing was done.")
    text = f"Resuming {identifier[:8]}"
    return CommandResult(text, {"id": identifier}, OpenSession("resume", identifier))


async def _branch(context: CommandContext, arguments: Arguments) -> CommandResult:
    _refuse_while_busy(context, "/branch")
    old, name = context.agent.session.id, " ".join(arguments.words)
    called = f' It is called "{name}".' if name else ""
    text = f"You go on in a copy of the session {old[:8]}.{called} /resume {old[:8]} goes back to that one."
    return CommandResult(text, {"left": old}, OpenSession("fork", old, name))


async def _rename(context: CommandContext, arguments: Arguments) -> CommandResult:
    name = " ".join(arguments.words)
    if not name:
        raise UsageError("A session's name cannot be empty; nothing was changed. Usage: /rename NAME")
    context.agent.rename(name)
    return CommandResult(f'This session is now called "{name}": /resume "{name}"', {"name": name})


def _listing(context: CommandContext, sessions: Sequence[SessionInfo]) -> CommandResult:
    current = context.agent.session.id
    others = [info for info in sessions if info.id != current]
    data = [
        {
            "id": info.id,
            "name": info.name,
            "first_prompt": info.first_prompt,
            "modified": info.modified,
            "messages": info.messages,
            "size": info.size,
            "current": info.id == current,
        }
        for info in sessions
    ]
    if not others:
        return CommandResult("There is no earlier session in this folder.", data)
    rows = [
        (
            info.id[:8],
            info.name or _first_line(info.first_prompt),
            plural(info.messages, "message"),
            _when(info),
        )
        for info in others[:_LISTED]
    ]
    lines = ["Sessions of this folder, newest first", table(rows, right=frozenset({2}))]
    if len(others) > _LISTED:
        lines.append(f"  and {len(others) - _LISTED} older ones; /resume --json shows all")
    lines.append("Resume one with /resume ID (the beginning is enough) or its name in quotes.")
    return CommandResult("\n".join(lines), data)


def _refuse_while_busy(context: CommandContext, command: str) -> None:
    if context.agent.busy:
        raise UsageError(
            f"{command} leaves this session, and a turn is running in it; nothing was done. Interrupt the "
            "turn or wait until it has ended."
        )


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "(no message yet)"
    return line if len(line) <= 60 else line[:59] + "~"


def _when(info: SessionInfo) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(info.modified).astimezone().strftime("%Y-%m-%d %H:%M")


def _references(context: CommandContext) -> Sequence[str]:
    current = context.agent.session.id
    return [
        f'"{info.name}"' if info.name else info.id[:8]
        for info in context.around.sessions()
        if info.id != current
    ]


CLEAR = Command(
    "clear", "begin a new session; the old one stays resumable", _clear, elsewhere=("new", "reset")
)
RESUME = Command(
    "resume",
    "list earlier sessions of this folder, or go on with one",
    _resume,
    "[id|name]",
    aliases=("continue",),
    elsewhere=("sessions",),
    complete=_references,
)
BRANCH = Command(
    "branch",
    "go on with a copy of this session; this one stays as it is",
    _branch,
    "[NAME]",
    elsewhere=("fork",),
)
RENAME = Command("rename", "give this session a name", _rename, "NAME")
