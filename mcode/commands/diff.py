"""/diff: what mcode's tools changed in files since the session began."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.builtins.content import decode
from mcode.builtins.difference import compare
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural
from mcode.errors import StorageError
from mcode.session.undo import ABSENT

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext, OldContents
    from mcode.jsontext import JsonObject
    from mcode.session.rewind import FileChange


async def _diff(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/diff")
    undo, start = context.agent.session.undo, context.agent.workspace.start

    def differences() -> list[JsonObject]:
        changes = context.agent.rewinding.changes_since(0)
        return [_difference(change, undo, start) for change in changes]

    files = [each for each in await asyncio.to_thread(differences) if each["diff"] or each["note"]]
    if not files:
        return CommandResult("No file differs from what it was before mcode's tools changed it.", [])
    added, removed = sum(each["added"] for each in files), sum(each["removed"] for each in files)
    heading = (
        f"{plural(len(files), 'file')} changed by mcode's tools in this session, +{added} -{removed} lines; what shell "
        "commands changed is not among them."
    )
    parts = [each["diff"].rstrip("\n") or f"{each['path']}: {each['note']}" for each in files]
    return CommandResult("\n".join((heading, *parts)), files)


def _difference(change: FileChange, undo: OldContents, start: Path) -> JsonObject:
    path = Path(change.path)
    name = str(path.relative_to(start)) if path.is_relative_to(start) else change.path
    told: JsonObject = {"path": name, "diff": "", "added": 0, "removed": 0, "note": ""}
    try:
        old = None if change.old == ABSENT else decode(undo.read(change.old)).text
        new = decode(path.read_bytes()).text if path.is_file() else ""
    except (OSError, StorageError) as error:
        return {**told, "note": f"the difference cannot be shown: {error}"}
    difference = compare(old, new, name)
    gone = "" if path.is_file() or old is None else "the file is gone"
    return {
        **told,
        "diff": difference.text,
        "added": difference.added,
        "removed": difference.removed,
        "note": gone,
    }


DIFF = Command("diff", "what mcode's tools changed in this session", _diff)
