"""MemoryNote: a line for later sessions, in the project's file of instructions or in the user's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.change import Plan, change_file, change_result, compare_bytes, look_at
from mcode.builtins.content import UTF_8, decode, encode, require_encodable
from mcode.builtins.description import read_description
from mcode.builtins.paths import resolve, shown
from mcode.builtins.refusal import UNCHANGED, RefusalError, failed
from mcode.errors import McodeError
from mcode.text import Kind, clean
from mcode.tool import Access, Effect, Placement, Preview, Tool, object_schema

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.builtins.file_state import FileState
    from mcode.builtins.handles import Snapshot
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace

NOTE_LIMIT = 2_000
"""Characters of a note; every later session pays for it."""
_NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")
"""Files of instructions of a directory, the one that is read in place of the others first."""
_NEW = "# Notes\n"


class MemoryNote(Tool):
    """Only ever appends, so the file need not have been read. Its data is {path, added, removed}."""

    name = "MemoryNote"
    effects = frozenset({Effect.WRITES_FILES})
    placement = Placement.DEFERRED
    input_schema = object_schema(
        {
            "note": {"type": "string", "minLength": 1, "maxLength": NOTE_LIMIT},
            "scope": {"enum": ["project", "user"], "description": "Default project"},
        },
        required=["note"],
    )
    input_examples: tuple[JsonObject, ...] = (
        {"note": "Run the tests with `make check`; plain pytest misses the generated files."},
        {"note": "Answer in German.", "scope": "user"},
    )

    def __init__(self, files: FileState, user: Path) -> None:
        """`user` is the directory of the user's own instructions."""
        self.description = read_description("memory_note")
        self.files = files
        self._user = user

    @override
    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        return Access(writes=self.files.targets.judge(self._file(arguments, workspace)))

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        path = self._file(arguments, workspace)
        title = shown(path, workspace.start)
        diff = await asyncio.to_thread(_preview_diff, path, arguments["note"], title)
        return Preview(title, f"Append to {path}:\n{arguments['note']}", diff)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        path = self._file(arguments, services.workspace)

        def make_plan(target: Path, before: Snapshot | None) -> Plan:
            del target
            return _plan(before, arguments["note"])

        try:
            change = await change_file(path, self.files, services, make_plan)
        except McodeError as error:
            return failed(error)
        return change_result(change, path, services.workspace)

    def _file(self, arguments: JsonObject, workspace: Workspace) -> Path:
        """The file that sessions read: of those there are the first, else a new AGENTS.md."""
        of_user = arguments.get("scope") == "user"
        directory = self._user if of_user else workspace.start
        names = _NAMES[:2] if of_user else _NAMES
        there = (directory / name for name in names if (directory / name).is_file())
        return next(there, directory / "AGENTS.md")


def _plan(before: Snapshot | None, note: str) -> Plan:
    """The file with the note behind its end, in its own encoding and line ends."""
    text = clean(note, Kind.MODEL).strip()
    if not text:
        raise RefusalError(f"The note holds nothing that can be seen. {UNCHANGED}")
    item = "- " + text.replace("\n", "\n  ")
    content = decode(before.raw if before is not None else b"")
    old = content.exact or _NEW
    newline = "\r\n" if "\r\n" in old else "\n"
    lines = old.splitlines()
    follows_item = bool(lines) and lines[-1].startswith(("- ", "  "))
    gap = "" if old.endswith("\n") else newline
    gap += "" if follows_item or not lines else newline
    added = gap + item.replace("\n", newline) + newline
    encoding = content.encoding if before is not None else UTF_8
    require_encodable(encoding, added)
    return Plan(encode(encoding, old + added), "has the note now" if before else "created with the note")


def _preview_diff(path: Path, note: str, title: str) -> str | None:
    """The diff that the call would make; None where it would fail. Changes nothing."""
    try:
        before = look_at(resolve(path))
        return compare_bytes(before, _plan(before, note).new, title).text or None
    except (McodeError, OSError):
        return None
