"""/init: have the model write AGENTS.md, or improve the one that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext

_WRITE = """\
Write AGENTS.md in {start}: what a coding agent must know before it works here, and cannot see at a glance. Look at \
the project first: its README, build files, tests, continuous integration, and a few typical sources. Put in how to \
build, test (also a single test) and check, the layout in a few lines, and conventions that differ from what is usual. \
Leave out what any developer knows, lists of all files, and whatever you have not verified. Aim at 40 lines."""

_IMPROVE = """\
Improve {file}, which later sessions read as instructions. Read it, then check what it says against the project: build \
files, tests, layout. Correct what is wrong, add what is missing and matters, take out what is obvious or no longer \
true, and keep the author's wording and rules everywhere else. Edit the file in place; do not write it anew."""

_NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")


async def _init(context: CommandContext, arguments: Arguments) -> CommandResult:
    start = context.agent.workspace.start
    there = next((name for name in _NAMES if (start / name).is_file()), None)
    prompt = _IMPROVE.format(file=start / there) if there else _WRITE.format(start=start)
    if arguments.rest:
        prompt = f"{prompt}\nThe user adds: {arguments.rest}"
    turn = context.agent.queue(prompt, typed=False)
    told = f"The model is asked to improve {there}." if there else "The model is asked to write AGENTS.md."
    data = {"file": there or "AGENTS.md"}
    return CommandResult(f"{told} Its change is shown before it is made.", data, turn=turn)


INIT = Command("init", "have AGENTS.md written, or improved", _init, "[what matters]")
