"""Grep: search the content of files by a regular expression."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.glob_pattern import GlobPattern, names_hidden
from mcode.builtins.refusal import RefusalError
from mcode.builtins.regex import spans_lines
from mcode.builtins.ripgrep import Query
from mcode.builtins.search_tool import (
    SHOWN_LIMIT,
    Naming,
    Request,
    SearchTool,
    as_line,
    counted,
    limited,
    require_usable,
)
from mcode.text import show_control
from mcode.tool import Preview, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.builtins.search import FileHits, Found
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.tool import Workspace

WIDTH_LIMIT = 500
"""Characters of a found line that the model is shown."""


class Grep(SearchTool):
    """Finds files, lines or numbers of lines that match."""

    name = "Grep"
    input_schema = object_schema(
        {
            "pattern": {"type": "string"},
            "path": {"type": "string"},
            "glob": {"type": "string"},
            "output_mode": {"enum": ["files_with_matches", "content", "count"]},
            "-i": {"type": "boolean"},
            "-n": {"type": "boolean"},
            "-A": {"type": "integer", "minimum": 0},
            "-B": {"type": "integer", "minimum": 0},
            "-C": {"type": "integer", "minimum": 0},
            "multiline": {"type": "boolean"},
            "head_limit": {"type": "integer", "minimum": 1},
        },
        required=["pattern"],
    )
    input_examples: tuple[JsonObject, ...] = ({"pattern": "TODO", "glob": "*.py", "output_mode": "content"},)

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        glob = f" ({arguments['glob']})" if arguments.get("glob") else ""
        options = [
            f"{key}={value}" for key, value in arguments.items() if key not in {"pattern", "path", "glob"}
        ]
        title = f"{arguments['pattern']}{self.where(arguments, workspace)}{glob}"
        return Preview(
            title, f"Search for {arguments['pattern']}\nin {arguments['path']}{glob}\n{' '.join(options)}"
        )

    @override
    def request(self, arguments: JsonObject) -> Request:
        pattern, multiline = arguments["pattern"], bool(arguments.get("multiline"))
        require_usable(pattern, "pattern")
        if spans_lines(pattern) and not multiline:
            raise RefusalError(
                "The pattern has a line end, but lines are searched one by one. Nothing was searched. "
                "Set multiline to true."
            )
        around = int(arguments.get("-C", 0))
        excluding, glob = _glob(arguments.get("glob", ""))
        query = Query(
            mode="names" if _mode(arguments) == "files_with_matches" else "lines",
            glob=glob,
            excluding=excluding,
            hidden=glob is not None and names_hidden(glob),
            pattern=pattern,
            ignore_case=bool(arguments.get("-i")),
            multiline=multiline,
            before=int(arguments.get("-B", around)) if _mode(arguments) == "content" else 0,
            after=int(arguments.get("-A", around)) if _mode(arguments) == "content" else 0,
        )
        return Request(Path(arguments["path"]), query)

    @override
    def present(self, arguments: JsonObject, found: Found, naming: Naming) -> ToolResult:
        most = arguments.get("head_limit")
        shown_limit = SHOWN_LIMIT if most is None else int(most)
        sheet = _SHEETS[_mode(arguments)](found, naming)
        shown, used = sheet.text(shown_limit)
        return ToolResult(
            text=shown or "Nothing matches.",
            data=sheet.data[:most],
            summary=sheet.summary,
            notes=(*limited(len(sheet.data), used), *found.notices),
        )


def _mode(arguments: JsonObject) -> str:
    return arguments.get("output_mode", "files_with_matches")


def _glob(text: str) -> tuple[bool, str | None]:
    """Whether the glob says what to leave out, and its pattern for whole paths; without a slash, at any depth."""
    if not text:
        return False, None
    require_usable(text, "glob")
    excluding = text.startswith("!")
    pattern = text.removeprefix("!").removeprefix("./")
    pattern = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    try:
        GlobPattern(pattern)
    except ValueError as error:
        raise RefusalError(
            f"The glob {text!r} cannot be used: {error}. Nothing was searched. Correct it."
        ) from None
    return excluding, pattern


@dataclass(frozen=True, slots=True)
class _Names:
    """Files with a match."""

    found: Found
    naming: Naming

    @property
    def data(self) -> list[JsonValue]:
        return [self.naming.name(file.path) for file in self.found.files]

    @property
    def summary(self) -> str:
        return counted(len(self.found.files), "file")

    def text(self, limit: int) -> tuple[str, int]:
        names = self.data[:limit]
        return "\n".join(as_line(name) for name in names), len(names)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Numbers of matching lines."""

    found: Found
    naming: Naming

    @property
    def data(self) -> list[JsonValue]:
        return [
            {"path": self.naming.name(file.path), "count": sum(line.matches for line in file.lines)}
            for file in self.found.files
        ]

    @property
    def summary(self) -> str:
        return f"{counted(sum(entry['count'] for entry in self.data), 'match')} in {counted(len(self.data), 'file')}"

    def text(self, limit: int) -> tuple[str, int]:
        entries = self.data[:limit]
        return "\n".join(f"{as_line(entry['path'])}:{entry['count']}" for entry in entries), len(entries)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Matching lines, for the model under the name of their file and with their context."""

    found: Found
    naming: Naming

    @property
    def data(self) -> list[JsonValue]:
        return [
            {"path": self.naming.name(file.path), "line": line.number, "text": line.text}
            for file in self.found.files
            for line in file.lines
            if line.matches
        ]

    @property
    def summary(self) -> str:
        return f"{counted(len(self.data), 'match')} in {counted(len(self.found.files), 'file')}"

    def text(self, limit: int) -> tuple[str, int]:
        blocks: list[str] = []
        used = 0
        for file in self.found.files:
            if used >= limit:
                break
            lines, taken = _file_lines(file, limit - used)
            used += taken
            blocks.append("\n".join((as_line(self.naming.name(file.path)), *lines)))
        return "\n\n".join(blocks), used


_SHEETS = {"files_with_matches": _Names, "count": _Counts, "content": _Lines}


def _file_lines(file: FileHits, limit: int) -> tuple[list[str], int]:
    """Lines of a file with their numbers up to `limit` matches, and how many matches these are."""
    shown: list[str] = []
    taken = previous = 0
    for line in file.lines:
        if line.matches and taken == limit:
            break
        if previous and line.number > previous + 1 and _has_context(file):
            shown.append("--")
        previous = line.number
        taken += line.matches
        text = line.text
        if len(text) > WIDTH_LIMIT:
            text = f"{text[:WIDTH_LIMIT]}\u2039cut: {len(line.text):,} characters\u203a"
        shown.append(f"{line.number}{':' if line.matches else '-'}{show_control(text)}")
    return shown, taken


def _has_context(file: FileHits) -> bool:
    return any(not line.matches for line in islice(file.lines, 1_000))
