"""The base of Glob and Grep: the directory in `path` is checked, judged and searched."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.content import without_surrogates
from mcode.builtins.description import read_description
from mcode.builtins.paths import make_absolute, printable, shown
from mcode.builtins.refusal import RefusalError, explain, failed
from mcode.errors import McodeError
from mcode.text import show_control
from mcode.tool import Access, Effect, Tool

if TYPE_CHECKING:
    from mcode.builtins.file_state import FileState
    from mcode.builtins.ripgrep import Query
    from mcode.builtins.search import Found, Searcher
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace

PATTERN_LIMIT = 2_000
"""Characters of a pattern."""
SHOWN_LIMIT = 250
"""Results that the model is shown, unless the call says otherwise."""


_LINE_END = "\u2039U+000A\u203a"


@dataclass(frozen=True, slots=True)
class Request:
    """What a call asks for."""

    place: Path
    """Absolute, unresolved."""
    query: Query


class SearchTool(Tool):
    """A tool that looks through the files below `path`, or through the shell's directory."""

    effects = frozenset({Effect.READS_FILES})

    def __init__(self, files: FileState, searcher: Searcher) -> None:
        self.files = files
        self.searcher = searcher
        self.description = read_description(self.name.lower())

    @override
    def normalise(self, arguments: JsonObject, workspace: Workspace) -> JsonObject:
        path = arguments.get("path")
        place = make_absolute(path, workspace, "path") if path else workspace.current
        return {**arguments, "path": str(place)}

    @override
    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        del workspace
        try:
            place = self.request(arguments).place
        except RefusalError:  # the call will say so itself
            place = Path(arguments["path"])
        return Access(reads=self.files.targets.judge(place))

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        workspace = services.workspace
        try:
            request = self.request(arguments)
        except McodeError as error:
            return failed(error)
        try:
            target = await asyncio.to_thread(self.files.targets.take, request.place)
            found = await self.searcher.search(request.query, target, workspace.roots)
        except McodeError as error:
            return failed(error)
        except OSError as error:
            return failed(explain(error, "Searching", request.place, "Nothing was searched."))
        base = request.place.parent if target.is_file() else request.place
        return await asyncio.to_thread(self.present, arguments, found, Naming(base, workspace.current))

    @abstractmethod
    def request(self, arguments: JsonObject) -> Request:
        """Read the arguments; raises RefusalError for a pattern that cannot be used."""

    @abstractmethod
    def present(self, arguments: JsonObject, found: Found, naming: Naming) -> ToolResult:
        """The result of what was found."""

    def where(self, arguments: JsonObject, workspace: Workspace) -> str:
        """The place as a card names it; empty for the shell's directory."""
        place = shown(Path(arguments["path"]), workspace.start)
        return "" if place == "." else f" in {place}"


@dataclass(frozen=True, slots=True)
class Naming:
    """How found files are called: relative to the shell's directory if the searched place is inside it."""

    base: Path
    """The searched directory, as the call named it."""
    current: Path

    def name(self, path: str) -> str:
        """The name of a file, given by its path from the searched directory."""
        return printable(shown(self.base / path, self.current))


def require_usable(pattern: str, what: str) -> None:
    """Raise RefusalError for text that cannot be a pattern of a search program."""
    reason = ""
    if not pattern:
        reason = "is empty"
    elif len(pattern) > PATTERN_LIMIT:
        reason = f"has {len(pattern):,} characters, at most {PATTERN_LIMIT:,}"
    elif "\0" in pattern or without_surrogates(pattern) != pattern:
        reason = "has a NUL or half a surrogate pair"
    if reason:
        raise RefusalError(f"The {what} {reason}. Nothing was searched. Correct it.")


def as_line(path: str) -> str:
    """A path as one line of text."""
    return show_control(path).replace("\n", _LINE_END)


def limited(total: int, shown_count: int) -> tuple[str, ...]:
    """The note on results that are not shown."""
    if shown_count >= total:
        return ()
    return (f"The first {shown_count:,} of {total:,} are shown. Narrow the search to see others.",)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"
