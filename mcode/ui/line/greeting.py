"""The first screen: what is open, where, and how to get help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.greeting import NAME, head_line
from mcode.ui.wrap import wrap_item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.commands.host import CommandContext
    from mcode.ui.look import Look


def early_lines(start: Path, home: Path, look: Look, width: int) -> list[str]:
    """What is known before anything is prepared: version and directory."""
    line = head_line(start, home)
    if not look.decorated:
        return [line]
    first, *more = wrap_item(line, width)
    return [first.replace(NAME, look.palette.bold(NAME), 1), *more]


def late_lines(context: CommandContext, look: Look, remarks: Sequence[str], width: int) -> list[str]:
    """Model, mode and tools; then the remarks, such as that no key was found."""
    from mcode.commands.tools import resident_summary

    agent = context.agent
    lines = [
        "   ".join(part for part in (clean(agent.model, Kind.LINE), agent.mode) if part),
        f"{resident_summary(context)}   /tools and /context show what the model gets",
        "/help: commands   F1: keys   @: a file   !: your own shell command",
    ]
    looked_at = context.around.looked_at
    if looked_at:
        lines.append(f"A key was looked for in: {'; '.join(': '.join(each) for each in looked_at)}")
    for remark in remarks:
        lines += clean(remark, Kind.BLOCK).split("\n")
    if not look.decorated:
        return lines
    return [*(row for line in lines for row in wrap_item(line, width)), ""]
