"""/compact: a summary in the place of what is old in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import tokens
from mcode.errors import UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext


async def _compact(context: CommandContext, arguments: Arguments) -> CommandResult:
    if context.agent.busy:
        raise UsageError(
            "/compact begins the conversation again from a summary, and a turn is running in it; nothing was done. "
            "Interrupt the turn or wait until it has ended."
        )
    made = await context.agent.room.compact(arguments.rest)
    if made is None:
        return CommandResult("There is nothing to summarise.", {"before": 0, "after": 0}, failed=True)
    data = {"before": made.before, "after": made.after, "summary": made.summary}
    heading = f"From {tokens(made.before)} to {tokens(made.after)} tokens. What the model goes on from:"
    return CommandResult(f"{heading}\n{made.summary}", data)


COMPACT = Command(
    "compact",
    "summarise the conversation to make room; a hint says what matters",
    _compact,
    "[what to pay attention to]",
)
