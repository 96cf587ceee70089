"""/quit: the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult, Quit
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext, Session


async def _quit(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/quit")
    session = context.agent.session
    return CommandResult("\n".join(last_words(session)), {"session": session.id}, Quit())


def last_words(session: Session) -> tuple[str, ...]:
    """Where all of the session is, and how to go on with it: what stays on the terminal at the end."""
    path = session.journal.path
    kept = (f"transcript: {clean(str(path), Kind.LINE)}",) if path.exists() else ()
    return (*kept, f"Go on later with: mcode --resume {session.id}")


QUIT = Command("quit", "end mcode; the session can be resumed", _quit, aliases=("exit",), elsewhere=("q",))
