"""A session of the real agent with a scripted model, and a way to type commands into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry

if TYPE_CHECKING:
    from mcode.commands.registry import CommandResult
    from tests.stage import Stage


def context_of(session: Stage) -> CommandContext:
    """What commands get in this session."""
    return CommandContext(session.agent, session.bench.surroundings(), standard_registry())


async def typed(session: Stage, line: str) -> CommandResult:
    """The answer to a slash command."""
    context = context_of(session)
    return await context.registry.run(line, context)
