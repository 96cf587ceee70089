"""Glob: list files by a pattern for their path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.glob_pattern import GlobPattern, literal_directory, names_hidden
from mcode.builtins.paths import without_parents
from mcode.builtins.refusal import RefusalError
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
from mcode.tool import Preview, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.builtins.search import Found
    from mcode.jsontext import JsonObject
    from mcode.tool import Workspace


class Glob(SearchTool):
    """Lists files, the newest first."""

    name = "Glob"
    input_schema = object_schema(
        {"pattern": {"type": "string"}, "path": {"type": "string"}}, required=["pattern"]
    )

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        return Preview(f"{arguments['pattern']}{self.where(arguments, workspace)}")

    @override
    def request(self, arguments: JsonObject) -> Request:
        pattern = arguments["pattern"]
        require_usable(pattern, "pattern")
        directory, names = literal_directory(pattern)
        try:
            GlobPattern(names)
        except ValueError as error:
            raise RefusalError(
                f"The pattern {pattern!r} cannot be used: {error}. Nothing was searched. Correct the pattern."
            ) from None
        if not names:
            raise RefusalError(
                f"The pattern {pattern!r} ends in a slash, so it names no file. Nothing was searched. "
                "Write it like `src/**/*.py`."
            )
        place = without_parents(Path(arguments["path"]) / directory)
        return Request(place, Query("list", glob=names, hidden=names_hidden(names)))

    @override
    def present(self, arguments: JsonObject, found: Found, naming: Naming) -> ToolResult:
        del arguments
        paths = [naming.name(file.path) for file in found.files]
        shown = paths[:SHOWN_LIMIT]
        return ToolResult(
            text="\n".join(map(as_line, shown)) or "No file matches.",
            data=paths,
            summary=counted(len(paths), "file"),
            notes=(*limited(len(paths), len(shown)), *found.notices),
        )
