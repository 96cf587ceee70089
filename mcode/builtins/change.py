"""Changes one of the user's files in a single step under the file's lock: read, check, replace."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from mcode.builtins.content import decode
from mcode.builtins.difference import Difference, compare
from mcode.builtins.handles import Snapshot, open_directory, read_regular
from mcode.builtins.paths import shown
from mcode.builtins.refusal import UNCHANGED, RefusalError, explain
from mcode.builtins.replacement import replace_content, require_writable
from mcode.errors import StorageError
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from mcode.builtins.file_state import FileState
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file is to hold."""

    new: bytes
    told: str
    """What was done, for the model; begins behind the path."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was made."""

    plan: Plan
    difference: Difference
    is_new: bool
    notes: tuple[str, ...]


async def change_file(
    path: Path, files: FileState, services: ToolServices, make_plan: Callable[[Path, Snapshot | None], Plan]
) -> Change:
    """Change the file that a call's path leads to, as `make_plan` says for its present state.

    Raises RefusalError or StorageError with the file unchanged. A cancellation that comes after the last check waits
    for the change to be complete and is raised then.
    """
    target = await asyncio.to_thread(files.targets.take, path)
    async with files.lock(target):
        before = await asyncio.to_thread(look_at, target)
        plan = await asyncio.to_thread(make_plan, target, before)
        mode = stat.S_IMODE(before.status.st_mode) if before is not None else None
        try:
            await services.keep_bytes(target, before.raw if before is not None else None, mode)
        except StorageError as error:
            raise StorageError(
                f"{target} was not changed, because its present content could not be kept for undo: {error}"
            ) from error
        return await _finish(
            _commit(files, services, target, before, plan, shown(path, services.workspace.start))
        )


async def _commit(
    files: FileState, services: ToolServices, target: Path, before: Snapshot | None, plan: Plan, name: str
) -> Change:
    notes = await asyncio.to_thread(replace_content, target, before, plan.new, files.records)
    await services.note_left(target, plan.new)
    await asyncio.to_thread(files.remember, target, plan.new)
    difference = await asyncio.to_thread(compare_bytes, before, plan.new, name)
    return Change(plan, difference, before is None, (*plan.notes, *notes))


async def _finish(work: Coroutine[None, None, Result]) -> Result:
    """Run work to its end, even where this task is cancelled meanwhile; the cancellation is raised then."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        outcome = "could not be made" if task.exception() is not None else "had been made by then"
        raise asyncio.CancelledError(f"cancelled while a file was being changed; the change {outcome}")
    return task.result()


def look_at(target: Path) -> Snapshot | None:
    """The present state of a file that is to be changed; None where there is none. Raises RefusalError."""
    try:
        with open_directory(target.parent) as directory:
            before = read_regular(directory, target.name)
            require_writable(directory, target.name, before.status if before is not None else None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explain(error, "Opening", target) from None
    return before


def require_fresh(files: FileState, target: Path, before: Snapshot, around: Callable[[str], str]) -> None:
    """Raise RefusalError unless the session has seen the file in its present state.

    `around` gives, of the present text, the part that matters to the call; it is shown where the earlier content
    is not known any more.
    """
    if not files.knows(target):
        raise RefusalError(never_read(target))
    if not files.is_fresh(target, before.raw):
        difference = files.drift(target, before.raw)
        detail = f"What changed:\n{difference}" if difference is not None else around(decode(before.raw).text)
        raise RefusalError(
            f"{target}: file changed on disk since it was read. {UNCHANGED} Read it again, then repeat the call "
            f"if it is still right. {detail}"
        )


def never_read(target: Path) -> str:
    """Why a file that the session has not seen is not changed."""
    return (
        f"{target} has not been read in this session. {UNCHANGED} Read it first (any part of it), then repeat "
        "the call."
    )


def compare_bytes(before: Snapshot | None, new: bytes, name: str) -> Difference:
    """The difference between a file's text before and after."""
    return compare(decode(before.raw).text if before is not None else None, decode(new).text, name)


def change_result(change: Change, path: Path, workspace: Workspace) -> ToolResult:
    """The result of a call that changed a file."""
    added, removed = change.difference.added, change.difference.removed
    data: JsonObject = {"path": str(path), "added": added, "removed": removed}
    return ToolResult(
        text=f"{shown(path, workspace.current)} {change.plan.told} (+{added} -{removed} lines).",
        data=data,
        summary=f"+{added} -{removed}",
        diff=change.difference.text or None,
        notes=change.notes,
    )
