"""Write: create a file, or give an existing one a new content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.change import Plan, change_file, change_result, compare_bytes, look_at, require_fresh
from mcode.builtins.content import UTF_8, decode, encode, require_encodable
from mcode.builtins.file_tool import FileTool
from mcode.builtins.paths import resolve
from mcode.builtins.refusal import RefusalError
from mcode.errors import McodeError
from mcode.text import show_control
from mcode.tool import Effect, Preview, object_schema

if TYPE_CHECKING:
    from mcode.builtins.handles import Snapshot
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace

_SHOWN_LINES = 10
"""Lines shown of a file that has changed since it was read."""


class Write(FileTool):
    """Writes a whole file."""

    name = "Write"
    effects = frozenset({Effect.WRITES_FILES})
    input_schema = object_schema(
        {"file_path": {"type": "string"}, "content": {"type": "string"}}, required=["file_path", "content"]
    )

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        path, content = Path(arguments["file_path"]), arguments["content"]
        title = self.card_name(arguments, workspace)
        diff = await asyncio.to_thread(_preview_diff, path, content, title)
        return Preview(title, f"Write to {path}:\n{content}", diff)

    @override
    async def work(self, path: Path, arguments: JsonObject, services: ToolServices) -> ToolResult:
        content = arguments["content"]

        def make_plan(target: Path, before: Snapshot | None) -> Plan:
            if before is not None:
                require_fresh(self.files, target, before, _beginning)
            return _write(before, content)

        change = await change_file(path, self.files, services, make_plan)
        return change_result(change, path, services.workspace)


def _write(before: Snapshot | None, content: str) -> Plan:
    """The given text, byte for byte, in the encoding that the file has."""
    if before is None:
        return Plan(encode(UTF_8, content), "created")
    old = decode(before.raw)
    encoding, notes = old.encoding, [old.encoding.note] if old.encoding.mark else []
    try:
        require_encodable(encoding, content)
    except RefusalError:
        require_encodable(UTF_8, content)
        notes = [f"The file was {encoding.label}; the new text cannot be written so and is UTF-8 now."]
        encoding = UTF_8
    if "\r\n" in old.exact and "\n" in content and "\r\n" not in content:
        notes.append("The file had CRLF line endings; it has the LF endings of the given content now.")
    text = content.removeprefix("\ufeff") if encoding.mark else content
    return Plan(encode(encoding, text), "replaced", tuple(notes))


def _beginning(text: str) -> str:
    lines = text.split("\n")[:_SHOWN_LINES]
    return "It begins now:\n" + show_control("\n".join(lines))


def _preview_diff(path: Path, content: str, title: str) -> str | None:
    """The diff that the write would make; None where it would fail. Changes nothing."""
    try:
        before = look_at(resolve(path))
        return compare_bytes(before, _write(before, content).new, title).text or None
    except (McodeError, OSError):
        return None
