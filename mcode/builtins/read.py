"""Read: show a text file with line numbers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.content import binary_kind, without_surrogates
from mcode.builtins.file_part import FilePart, count_lines, cut_part, read_large
from mcode.builtins.file_tool import FileTool
from mcode.builtins.handles import SIZE_LIMIT, open_directory, open_regular, read_at_most
from mcode.builtins.read_image import show_image
from mcode.builtins.refusal import RefusalError, explain
from mcode.builtins.suggestions import similar_names
from mcode.builtins.window import Window, show_lines
from mcode.images.store import is_pasted
from mcode.tool import Effect, Preview, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.builtins.file_state import FileState
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

DATA_LIMIT = 16 * 1024 * 1024
"""Characters of text that a program gets."""


class Read(FileTool):
    """Reads a file and notes its state for later changes."""

    name = "Read"
    effects = frozenset({Effect.READS_FILES})
    output_limit = 400_000
    input_schema = object_schema(
        {
            "file_path": {"type": "string"},
            "offset": {"type": "integer", "minimum": 1},
            "limit": {"type": "integer", "minimum": 1},
        },
        required=["file_path"],
    )

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        title = self.card_name(arguments, workspace)
        path = Path(arguments["file_path"])
        if is_pasted(path):
            return Preview(f"{path.name} (pasted)", body=title)
        first, limit = arguments.get("offset", 1), arguments.get("limit")
        if limit is not None:
            title = f"{title}:{first}-{first + limit - 1}"
        elif first > 1:
            title = f"{title}:{first}-"
        return Preview(title)

    @override
    async def work(self, path: Path, arguments: JsonObject, services: ToolServices) -> ToolResult:
        first, limit = int(arguments.get("offset", 1)), arguments.get("limit")
        target = await asyncio.to_thread(self.files.targets.take, path)
        async with self.files.lock(target):
            part = await asyncio.to_thread(_read, target, path, first, limit, self.files, services.workspace)
        if isinstance(part, bytes):
            return await asyncio.to_thread(show_image, part, path, services.call)
        return await asyncio.to_thread(_present, part, first)


def _read(
    target: Path, path: Path, first: int, limit: int | None, files: FileState, workspace: Workspace
) -> FilePart | bytes:
    """The lines that are asked for; of an image, its bytes."""
    from mcode.images.formats import label_of

    try:
        with open_directory(target.parent) as directory:
            opened = open_regular(directory, target.name)
            if opened is None:
                raise _missing(path, workspace)
            descriptor, status = opened
            try:
                raw = read_at_most(descriptor, SIZE_LIMIT + 1)
                if label_of(raw[:16]) and len(raw) <= SIZE_LIMIT:
                    files.remember(target, raw)
                    return raw
                _require_text(raw, path, status.st_size)
                if len(raw) > SIZE_LIMIT:
                    return _reached(read_large(descriptor, path, first, limit, DATA_LIMIT), path, first)
            finally:
                os.close(descriptor)
    except FileNotFoundError:
        raise _missing(path, workspace) from None
    except OSError as error:
        raise explain(error, "Reading", path, "") from None
    files.remember(target, raw)
    return _reached(cut_part(raw, first, limit), path, first)


def _reached(part: FilePart, path: Path, first: int) -> FilePart:
    """The part, if the file has so many lines. Raises RefusalError otherwise."""
    if part.total is not None and first > max(part.total, 1):
        raise RefusalError(
            f"{path} has {part.total:,} lines, so there is nothing from line {first:,} on. Nothing was read. "
            "Use a smaller offset."
        )
    return part


def _require_text(raw: bytes, path: Path, size: int) -> None:
    kind = binary_kind(raw)
    if kind is not None:
        raise RefusalError(
            f"{path} is {kind} of {size:,} bytes; its content is not shown. Use Bash to look into it."
        )


def _missing(path: Path, workspace: Workspace) -> RefusalError:
    names = similar_names(path, workspace)
    advice = f"Read one of those that are like it: {', '.join(names)}." if names else "Find it with Glob."
    return RefusalError(f"{path} does not exist. Nothing was read. {advice}")


def _present(part: FilePart, first: int) -> ToolResult:
    """The numbered lines for the model, and everything for a program."""
    window = show_lines(part.text, first)
    text = without_surrogates(part.text[:DATA_LIMIT])
    data: JsonObject = {
        "text": text,
        "lines": count_lines(text),
        "total_lines": part.total,
        "truncated": part.truncated or len(part.text) > DATA_LIMIT,
    }
    return ToolResult(
        text=without_surrogates(window.text) if window.shown else "(the file is empty)",
        data=data,
        summary=f"{window.shown:,} line{'' if window.shown == 1 else 's'}",
        notes=tuple(_notes(part, window, first)),
    )


def _notes(part: FilePart, window: Window, first: int) -> list[str]:
    notes: list[str] = []
    if window.shown < count_lines(part.text) or part.truncated:
        total = f"{part.total:,}" if part.total is not None else "an unknown number"
        last = first + window.shown - 1
        notes.append(
            f"Shown are lines {first:,}-{last:,} of {total} ({part.size:,} bytes). Read on with offset {last + 1}."
        )
    elif part.total is not None and first - 1 + window.shown < part.total:
        notes.append(f"The file has {part.total:,} lines.")
    if window.cut_lines:
        notes.append(f"{window.cut_lines} long lines are shown cut; what stands after the cut is not shown.")
    if window.escaped:
        notes.append(
            "Control and invisible characters are shown as \u2039U+....\u203a; Edit matches the characters themselves."
        )
    if part.note:
        notes.append(part.note)
    return notes
