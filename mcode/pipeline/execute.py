"""Step 5: the only place where a tool's body is called."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcode.call import FailureKind
from mcode.errors import McodeError
from mcode.events import ToolProgress
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.call import Call
    from mcode.events import EventBus
    from mcode.pipeline.admit import Admitted
    from mcode.pipeline.ask import Desk
    from mcode.tool import Question, Workspace


class SessionFiles(Protocol):
    """What the session keeps on disk for running tools."""

    def spill_path(self, suffix: str) -> Path:
        """A fresh private file path in the session's directory."""
        ...

    async def keep_bytes(self, call: Call, path: Path, old: bytes | None, mode: int | None) -> None:
        """Store what a file held before `call` changes it; raises StorageError."""
        ...

    async def note_left(self, call: Call, path: Path, new: bytes) -> None:
        """Store what `call` left in a file."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """What one running body may use; see `tool.ToolServices`."""

    call: Call
    workspace: Workspace
    _events: EventBus
    _files: SessionFiles
    _desk: Desk

    def progress(self, line: str) -> None:
        self._events.emit(ToolProgress(self.call.id, line))

    def spill_path(self, suffix: str) -> Path:
        return self._files.spill_path(suffix)

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        await self._files.keep_bytes(self.call, path, old, mode)

    async def note_left(self, path: Path, new: bytes) -> None:
        await self._files.note_left(self.call, path, new)

    async def ask(self, questions: Sequence[Question]) -> tuple[tuple[str, ...], ...] | None:
        return await self._desk.question(self.call, questions)


class Executor:
    """Runs bodies, with their time limit."""

    def __init__(self, workspace: Workspace, events: EventBus, files: SessionFiles, desk: Desk) -> None:
        self._workspace = workspace
        self._events = events
        self._files = files
        self._desk = desk

    async def note_left(self, call: Call, path: Path, new: bytes) -> None:
        """Keep for undo what a file holds behind a call and its hooks."""
        await self._files.note_left(call, path, new)

    async def execute(self, admitted: Admitted) -> tuple[ToolResult, float]:
        """Run the body; returns its result and the seconds it took. A bug in it raises, for `run` to report."""
        tool = admitted.tool
        services = Services(admitted.call, self._workspace, self._events, self._files, self._desk)
        began = time.monotonic()
        try:
            async with asyncio.timeout(tool.timeout):
                result = await tool.run(admitted.call.arguments, services)
        except TimeoutError:
            text = f"{tool.name} was ended after its limit of {tool.timeout:g} s; it may have had effects."
            result = ToolResult(text, failure=FailureKind.TIMEOUT, summary="timed out")
        except McodeError as error:
            result = ToolResult(str(error), failure=FailureKind.TOOL_ERROR, summary="failed")
        return result, time.monotonic() - began
