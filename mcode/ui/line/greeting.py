"""The first screen: what is open, where, and how to get help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.tools import resident_summary
from mcode.text import Kind, clean
from mcode.ui.line.wrap import wrap_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.ui.line.look import Look


def greeting_lines(context: CommandContext, look: Look, remarks: Sequence[str], width: int) -> list[str]:
    """Version, directory, model and tools; then the remarks, such as that no key was found."""
    agent = context.agent
    palette = look.palette
    directory = _short(str(agent.workspace.start), str(agent.workspace.home))
    name = f"mcode {clean(context.around.version, Kind.LINE)}"
    lines = [
        f"{name}   {clean(directory, Kind.LINE)}   {clean(agent.model, Kind.LINE)}   {agent.mode}",
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
    first, *more = [row for line in lines for row in wrap_item(line, width)]
    return [first.replace(name, palette.bold(name), 1), *more, ""]


def _short(directory: str, home: str) -> str:
    if directory == home:
        return "~"
    return f"~{directory.removeprefix(home)}" if directory.startswith(f"{home}/") else directory
