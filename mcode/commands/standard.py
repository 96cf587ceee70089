"""The commands that every front end offers, in the order of /help."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.add_directory import ADD_DIRECTORY
from mcode.commands.agents import AGENTS
from mcode.commands.compact import COMPACT
from mcode.commands.config import CONFIG
from mcode.commands.context import CONTEXT
from mcode.commands.copy import COPY
from mcode.commands.cost import COST
from mcode.commands.diff import DIFF
from mcode.commands.doctor import DOCTOR
from mcode.commands.export import EXPORT
from mcode.commands.help import HELP
from mcode.commands.hooks import HOOKS
from mcode.commands.init import INIT
from mcode.commands.mcp import MCP
from mcode.commands.memory import MEMORY
from mcode.commands.mode import MODE
from mcode.commands.model import MODEL
from mcode.commands.output_style import OUTPUT_STYLE
from mcode.commands.permissions import PERMISSIONS
from mcode.commands.plan import PLAN
from mcode.commands.programs import PROGRAMS, kept_names, run_kept
from mcode.commands.prompts import prompt_names, run_prompt
from mcode.commands.quit import QUIT
from mcode.commands.registry import Registry
from mcode.commands.rewind import REWIND
from mcode.commands.session import BRANCH, CLEAR, RENAME, RESUME
from mcode.commands.skills import SKILLS
from mcode.commands.status import STATUS
from mcode.commands.tasks import TASKS
from mcode.commands.theme import THEME
from mcode.commands.tools import TOOLS
from mcode.commands.trust import TRUST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import Arguments, CommandResult


async def _run_named(context: CommandContext, name: str, arguments: Arguments) -> CommandResult | None:
    """What is no command of mcode's own: a prompt of a server, else a program that the user keeps."""
    return await run_prompt(context, name, arguments) or await run_kept(context, name, arguments)


async def _other_names(context: CommandContext) -> Sequence[str]:
    """The user's skills and kept programs, and the prompts of servers."""
    skills = [skill.name for skill in context.agent.skills.all if skill.by_user]
    kept = await asyncio.to_thread(kept_names, context)
    return (*skills, *(name for name, _ in kept), *prompt_names(context))


def standard_registry() -> Registry:
    """All commands of this version."""
    return Registry(
        (
            HELP,
            TOOLS,
            MCP,
            CONTEXT,
            PROGRAMS,
            SKILLS,
            AGENTS,
            TASKS,
            PERMISSIONS,
            HOOKS,
            TRUST,
            MEMORY,
            INIT,
            OUTPUT_STYLE,
            CONFIG,
            STATUS,
            DOCTOR,
            MODEL,
            MODE,
            PLAN,
            CLEAR,
            RESUME,
            RENAME,
            BRANCH,
            THEME,
            COPY,
            ADD_DIRECTORY,
            COST,
            COMPACT,
            REWIND,
            DIFF,
            EXPORT,
            QUIT,
        ),
        _run_named,
        _other_names,
    )
