"""Edit: replace exact text in a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.change import Plan, change_file, change_result, compare_bytes, look_at, require_fresh
from mcode.builtins.content import UTF_8, Content, decode, encode, require_encodable
from mcode.builtins.file_tool import FileTool
from mcode.builtins.near import explain_mismatch
from mcode.builtins.paths import resolve
from mcode.builtins.refusal import UNCHANGED, RefusalError
from mcode.builtins.splice import Replacement, line_of, places, splice
from mcode.errors import McodeError
from mcode.text import show_control
from mcode.tool import Effect, Preview, object_schema

if TYPE_CHECKING:
    from mcode.builtins.handles import Snapshot
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace

NAMED_PLACES = 5
"""Places of an ambiguous text that are named."""
_SHOWN_AROUND = 6
"""Lines shown around the place of an edit whose file has changed."""


class Edit(FileTool):
    """Replaces text in a file that the session has read."""

    name = "Edit"
    effects = frozenset({Effect.WRITES_FILES})
    input_schema = object_schema(
        {
            "file_path": {"type": "string"},
            "old_string": {"type": "string"},
            "new_string": {"type": "string"},
            "replace_all": {"type": "boolean"},
        },
        required=["file_path", "old_string", "new_string"],
    )

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        replacement = _replacement(arguments)
        every = " (every occurrence)" if replacement.everywhere else ""
        path = Path(arguments["file_path"])
        body = f"In {path} replace{every}:\n{arguments['old_string']}\nwith:\n{arguments['new_string']}"
        title = self.card_name(arguments, workspace)
        diff = await asyncio.to_thread(_preview_diff, path, replacement, title)
        return Preview(title, body, diff)

    @override
    async def work(self, path: Path, arguments: JsonObject, services: ToolServices) -> ToolResult:
        replacement = _replacement(arguments)

        def make_plan(target: Path, before: Snapshot | None) -> Plan:
            if replacement.old == replacement.new:
                raise RefusalError(
                    f"old_string and new_string are the same for {path}. {UNCHANGED} Give a new_string that differs."
                )
            if before is None:
                return _creation(path, arguments["new_string"], replacement)
            if not replacement.old:
                raise RefusalError(
                    f"{path} exists already; an empty old_string is only for a new file. {UNCHANGED} "
                    "Name the text to replace, or use Write."
                )
            require_fresh(self.files, target, before, lambda text: _around(text, replacement.old))
            return _edit(path, decode(before.raw), replacement)

        change = await change_file(path, self.files, services, make_plan)
        return change_result(change, path, services.workspace)


def _replacement(arguments: JsonObject) -> Replacement:
    old, new = arguments["old_string"], arguments["new_string"]
    everywhere = bool(arguments.get("replace_all", False))
    return Replacement(old.replace("\r\n", "\n"), new.replace("\r\n", "\n"), everywhere)


def _creation(path: Path, content: str, replacement: Replacement) -> Plan:
    if replacement.old:
        raise RefusalError(
            f"{path} does not exist, so nothing in it can be replaced. {UNCHANGED} Check the path; an empty "
            "old_string creates a file."
        )
    require_encodable(UTF_8, content)
    return Plan(encode(UTF_8, content), "created")


def _edit(path: Path, content: Content, replacement: Replacement) -> Plan:
    text = content.text
    starts = _find(path, text, replacement)
    where = f"at line {line_of(text, starts[0])}" if len(starts) == 1 else f"at {len(starts)} places"
    note = content.encoding.note
    return Plan(splice(content, replacement, starts), f"edited {where}", (note,) if note else ())


def _find(path: Path, text: str, replacement: Replacement) -> list[int]:
    """Where the old text stands. Raises RefusalError where that is nowhere, or not unique although it must be."""
    starts = places(text, replacement.old, overlapping=not replacement.everywhere)
    if not starts:
        raise RefusalError(
            f"old_string is not in {path} (0 matches). {UNCHANGED} {explain_mismatch(text, replacement.old)}"
        )
    if len(starts) > 1 and not replacement.everywhere:
        lines = ", ".join(str(line_of(text, start)) for start in starts[:NAMED_PLACES])
        more = ", ..." if len(starts) > NAMED_PLACES else ""
        raise RefusalError(
            f"old_string is in {path} {len(starts)} times, at lines {lines}{more}. {UNCHANGED} Give more of the "
            "text around it so that it is unique, or set replace_all."
        )
    return starts


def _around(text: str, old: str) -> str:
    """The present text around the place of an edit."""
    index = text.find(old) if old else -1
    if index < 0:
        return explain_mismatch(text, old)
    first = max(0, line_of(text, index) - 1 - _SHOWN_AROUND // 2)
    lines = text.split("\n")[first : first + _SHOWN_AROUND + old.count("\n") + 1]
    return f"The text there is now (from line {first + 1}):\n" + show_control("\n".join(lines))


def _preview_diff(path: Path, replacement: Replacement, title: str) -> str | None:
    """The diff that the edit would make; None where it would fail. Changes nothing."""
    try:
        before = look_at(resolve(path))
        if before is None:
            plan = _creation(path, replacement.new, replacement)
        elif not replacement.old or replacement.old == replacement.new:
            return None
        else:
            plan = _edit(path, decode(before.raw), replacement)
    except (McodeError, OSError):
        return None
    return compare_bytes(before, plan.new, title).text or None
