"""The base of tools that work on one file: its path in `file_path` is checked, judged and shown here."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.change import never_read
from mcode.builtins.description import read_description
from mcode.builtins.paths import make_absolute, resolve, shown
from mcode.builtins.refusal import failed
from mcode.errors import McodeError
from mcode.tool import Access, Effect, Tool

if TYPE_CHECKING:
    from mcode.builtins.file_state import FileState
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace


class FileTool(Tool):
    """A tool on the file that one of its arguments names."""

    path_argument: str = "file_path"
    description_file: str = ""
    """Name of the file with the description, where it is not the tool's name in lower case."""

    def __init__(self, files: FileState) -> None:
        self.files = files
        self.description = read_description(self.description_file or self.name.lower())

    @override
    def normalise(self, arguments: JsonObject, workspace: Workspace) -> JsonObject:
        name = self.path_argument
        return {**arguments, name: str(make_absolute(arguments[name], workspace, name))}

    @override
    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        del workspace
        paths = self.files.targets.judge(Path(arguments[self.path_argument]))
        return Access(writes=paths) if Effect.WRITES_FILES in self.effects else Access(reads=paths)

    @override
    async def objection(self, arguments: JsonObject, workspace: Workspace) -> str | None:
        """A file that is there and was never read cannot be changed, whatever the user says."""
        del workspace
        if Effect.WRITES_FILES not in self.effects:
            return None
        try:
            target = resolve(Path(arguments[self.path_argument]))
            return never_read(target) if target.is_file() and not self.files.knows(target) else None
        except (McodeError, OSError):
            return None  # the call itself says it better

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        try:
            return await self.work(Path(arguments[self.path_argument]), arguments, services)
        except McodeError as error:
            return failed(error)

    @abstractmethod
    async def work(self, path: Path, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Do it; raises McodeError where it cannot be done."""

    def card_name(self, arguments: JsonObject, workspace: Workspace) -> str:
        """The file as a card names it."""
        return shown(Path(arguments[self.path_argument]), workspace.start)
