"""/quit: the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult, Quit

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext


async def _quit(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/quit")
    identifier = context.agent.session.id
    return CommandResult(f"Go on later with: mcode --resume {identifier}", {"session": identifier}, Quit())


QUIT = Command("quit", "end mcode; the session can be resumed", _quit, aliases=("exit",))
