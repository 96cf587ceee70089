"""/memory: the instruction files that the model reads, and one of them in the user's editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.near_words import unknown_word
from mcode.commands.registry import Arguments, Command, CommandResult, OpenEditor
from mcode.commands.tables import plural, table, tokens
from mcode.errors import UsageError
from mcode.model.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.config.memory import MemoryFile
    from mcode.jsontext import JsonObject

_USAGE = "/memory [edit [N|user|project]]"


async def _memory(context: CommandContext, arguments: Arguments) -> CommandResult:
    files = tuple(context.around.memory())
    match arguments.at_most(2, _USAGE):
        case ("edit",):
            return _edit(context, files, "")
        case ("edit", which):
            return _edit(context, files, which)
        case ():
            pass
        case _:
            raise unknown_word("/memory", arguments.rest, ("edit",), _USAGE)
    data: list[JsonObject] = [
        {
            "path": str(file.path),
            "scope": str(file.scope),
            "tokens": count_tokens(file.text),
            "lines": len(file.text.splitlines()),
            "imported_by": str(file.imported_by) if file.imported_by else None,
            "note": file.note,
        }
        for file in files
    ]
    if not files:
        text = (
            "No instruction file was found. The model would read CLAUDE.md or AGENTS.md in this folder and "
            "the folders above, and the ones in your home; they are read when a session begins. /memory edit makes "
            "one."
        )
        return CommandResult(text, data)
    rows = [
        (str(number), str(row["scope"]), str(row["path"]), tokens(row["tokens"]), _remark(row))
        for number, row in enumerate(data, 1)
    ]
    total = sum(row["tokens"] for row in data)
    lines = [
        f"{plural(len(files), 'instruction file')}, {tokens(total)} tokens in every request (estimate)",
        table(rows, right=frozenset({3})),
        "They were read when the session began; /clear reads them anew. /memory edit N opens one in your editor.",
    ]
    return CommandResult("\n".join(lines), data)


def _edit(context: CommandContext, files: Sequence[MemoryFile], which: str) -> CommandResult:
    """Open one by its number in the list, `user` or `project` for what is kept there; the last one without a word."""
    start, claude = context.agent.workspace.start, context.around.places.claude
    if which == "user":
        path = claude / "CLAUDE.md"
    elif which == "project" or (not which and not files):
        own = (name for name in ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md") if (start / name).is_file())
        path = start / next(own, "AGENTS.md")
    elif not which:
        path = files[-1].path
    elif which.isdecimal() and 0 < int(which) <= len(files):
        path = files[int(which) - 1].path
    else:
        raise UsageError(
            f"/memory lists {plural(len(files), 'file')}, and none is {which!r}. Usage: {_USAGE}."
        )
    text = f"{path} opens in your editor (VISUAL or EDITOR). /clear and the next compaction read it anew."
    return CommandResult(text, {"path": str(path)}, OpenEditor(path))


def _remark(row: JsonObject) -> str:
    imported = f"imported by {row['imported_by']}" if row["imported_by"] else ""
    return ", ".join(part for part in (imported, str(row["note"])) if part)


MEMORY = Command(
    "memory",
    "the instruction files the model reads, with their cost; opens one in your editor",
    _memory,
    usage="[edit [N|user|project]]",
    complete=lambda _: ["edit"],
)
