"""/add-dir: one more working directory for this session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.errors import UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext

_USAGE = "/add-dir PATH"


async def _add(context: CommandContext, arguments: Arguments) -> CommandResult:
    workspace = context.agent.workspace
    words = arguments.at_most(1, _USAGE)
    if not words:
        listed = "\n".join(f"  {root}" for root in workspace.roots)
        return CommandResult(f"Working directories\n{listed}", [str(root) for root in workspace.roots])
    path = await asyncio.to_thread(_resolved, words[0], workspace.current)
    if path in workspace.roots or any(root in path.parents for root in workspace.roots):
        raise UsageError(f"{path} lies in the working directories already; nothing was changed.")
    workspace.additional = (*workspace.additional, path)
    fields = {"directory": str(path), "source": "slash_command"}
    context.agent.hooks.observe("DirectoryAdded", fields, "slash_command")
    text = f"{path} is a working directory until this session is left: reading there asks no more."
    return CommandResult(text, {"added": str(path)})


def _resolved(given: str, current: Path) -> Path:
    path = Path(given).expanduser() if given.startswith("~") else current / given
    try:
        path = path.resolve(strict=True)
    except (OSError, RuntimeError):
        path = current / given
    if not path.is_dir():
        raise UsageError(f"{path} is no directory that is there; nothing was changed. Usage: {_USAGE}")
    return path


ADD_DIRECTORY = Command("add-dir", "one more working directory for this session", _add, "PATH")
