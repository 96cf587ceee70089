"""The first screen: what is open, where, what the model gets, and how to get help."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.config.repository import branch
from mcode.text import Kind, clean
from mcode.ui.greeting import head_line

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.host import CommandContext, Surroundings

_TRY = (
    ("Try:", "find out why a test fails, and mend what is wrong"),
    ("", "@               name a file: some letters, then Tab"),
    ("", "!git status     run a shell command yourself"),
    ("", "/tools          what the model can see right now, and what it costs"),
)

_TRY_OFFLINE = (
    ("Try:", "hello           the guide shows you around"),
    ("", "show me an edit, with your approval"),
    *_TRY[2:],
)
"""Where no model reads what is typed."""

_TRY_DEMO = (
    ("Try:", "play the demo   one audit in two ways, measured"),
    ("", "hello           the guide shows you around"),
    *_TRY[2:],
)
"""Where the demo's server is there as well."""


def early_lines(start: Path, home: Path) -> list[str]:
    """What is known before anything is prepared: version, directory, branch."""
    on = branch(start)
    return [head_line(start, home) + (f"   branch {clean(on, Kind.LINE)}" if on else "")]


async def late_lines(context: CommandContext) -> list[str]:
    """What takes a moment to find out: the tools' cost, and what can be gone on with."""
    from mcode.commands.tables import plural
    from mcode.commands.tools import resident_summary
    from mcode.demo.audit import PEOPLE

    if context.agent.transcript() or context.around.looked_at:
        return []
    sessions = await asyncio.to_thread(context.around.sessions)
    earlier = sum(info.id != context.agent.session.id for info in sessions)
    offline = context.around.endpoint == "offline guide"
    demo = offline and context.agent.catalog.find(PEOPLE) is not None
    rows = [f"{head:<6}{text}" for head, text in (_TRY_DEMO if demo else _TRY_OFFLINE if offline else _TRY)]
    if is_keyless(context.around):
        rows.append(f"{'':<6}/key            use a key for this run; what is here works without one too")
    if earlier:
        rows.append(f"{'':<6}/resume         {plural(earlier, 'earlier session')} in this folder")
    return [f"Ready. {resident_summary(context)}", "", *rows]


def is_keyless(around: Surroundings) -> bool:
    """True where the offline guide answers because no key was found."""
    return around.credential == "none" and around.endpoint == "offline guide"
