"""/memory: the instruction files that the model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table, tokens
from mcode.model.tokens import count_tokens

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject


async def _memory(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/memory")
    files = tuple(context.around.memory())
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
            "the folders above, and the ones in your home; they are read when a session begins."
        )
        return CommandResult(text, data)
    rows = [(str(row["scope"]), str(row["path"]), tokens(row["tokens"]), _remark(row)) for row in data]
    total = sum(row["tokens"] for row in data)
    lines = [
        f"{plural(len(files), 'instruction file')}, {tokens(total)} tokens in every request (estimate)",
        table(rows, right=frozenset({2})),
        "They were read when the session began; /clear reads them anew.",
    ]
    return CommandResult("\n".join(lines), data)


def _remark(row: JsonObject) -> str:
    imported = f"imported by {row['imported_by']}" if row["imported_by"] else ""
    return ", ".join(part for part in (imported, str(row["note"])) if part)


MEMORY = Command("memory", "the instruction files the model reads, with their cost", _memory)
