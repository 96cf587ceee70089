"""/plan: read and explore only, until a plan is approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.permissions.modes import Mode

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext


async def _plan(context: CommandContext, arguments: Arguments) -> CommandResult:
    agent = context.agent
    before = agent.mode
    if before != Mode.PLAN:
        agent.set_mode(str(Mode.PLAN))
    turn = agent.queue(arguments.rest) if arguments.rest else None
    text = (
        "Mode plan: the model reads and explores only, and puts a plan before you. You approve it, change it or say "
        "what is wrong; the mode after it is yours to choose. /mode leaves it without a plan."
    )
    return CommandResult(text, {"mode": str(Mode.PLAN), "before": before}, turn=turn)


PLAN = Command("plan", "explore and plan first; nothing changes until you approve", _plan, "[task]")
