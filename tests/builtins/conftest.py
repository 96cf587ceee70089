"""A session's file tools on real files in a temporary directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from mcode.builtins.edit import Edit
from mcode.builtins.file_state import FileState
from mcode.builtins.glob import Glob
from mcode.builtins.grep import Grep
from mcode.builtins.read import Read
from mcode.builtins.search import Searcher
from mcode.builtins.write import Write
from mcode.call import Call
from mcode.errors import StorageError
from mcode.tool import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.jsontext import JsonValue
    from mcode.tool import Question, Tool, ToolResult


@dataclass
class Services:
    """What a running body gets, with an undo store in memory."""

    call: Call
    workspace: Workspace
    kept: list[tuple[Path, bytes | None, int | None]] = field(default_factory=list)
    answers: tuple[tuple[str, ...], ...] | None = None
    store_fails: bool = False

    def progress(self, line: str) -> None:
        del line

    def spill_path(self, suffix: str) -> Path:
        return self.workspace.start / f"spill{suffix}"

    async def note_left(self, path: Path, new: bytes) -> None:
        """Nothing is undone here."""

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        if self.store_fails:
            raise StorageError("the undo store cannot be written: no space left")
        self.kept.append((path, old, mode))

    async def ask(self, questions: Sequence[Question]) -> tuple[tuple[str, ...], ...] | None:
        del questions
        return self.answers


class Session:
    """File tools that share one state, called the way the pipeline does: normalise, access, run."""

    def __init__(self, directory: Path, records: Path | None = None) -> None:
        self.directory = directory
        self.workspace = Workspace(directory)
        self.files = FileState(records)
        self.services = Services(Call("c1", "", {}), self.workspace)

    async def call(self, tool: Tool, **arguments: JsonValue) -> ToolResult:
        normal = tool.normalise(arguments, self.workspace)
        tool.access(normal, self.workspace)
        return await tool.run(normal, self.services)

    async def read(self, path: str, **more: JsonValue) -> ToolResult:
        return await self.call(Read(self.files), file_path=path, **more)

    async def edit(self, path: str, old: str, new: str, **more: JsonValue) -> ToolResult:
        return await self.call(Edit(self.files), file_path=path, old_string=old, new_string=new, **more)

    async def write(self, path: str, content: str) -> ToolResult:
        return await self.call(Write(self.files), file_path=path, content=content)

    async def glob(self, pattern: str, searcher: Searcher | None = None, **more: JsonValue) -> ToolResult:
        return await self.call(Glob(self.files, searcher or Searcher()), pattern=pattern, **more)

    async def grep(self, pattern: str, searcher: Searcher | None = None, **more: JsonValue) -> ToolResult:
        return await self.call(Grep(self.files, searcher or Searcher()), pattern=pattern, **more)

    def put(self, path: str, content: bytes | str) -> Path:
        """Make a file in the workspace, with its directories."""
        place = self.directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place


@pytest.fixture
def session(tmp_path: Path) -> Session:
    directory = (tmp_path / "w").resolve()
    directory.mkdir()
    return Session(directory, tmp_path / "records")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the workspace."""
    directory = (tmp_path / "outside").resolve()
    directory.mkdir()
    return directory


def names_in(directory: Path) -> list[str]:
    """Every name in a directory, sorted: to see that nothing is left over."""
    return sorted(entry.name for entry in directory.iterdir())
