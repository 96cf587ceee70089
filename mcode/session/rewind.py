"""Putting files back to what they held before mcode's tools changed them, without touching anybody else's work.

A file is put back only where it still holds what mcode left in it. Whatever is put back is kept for undo first,
so a rewind can be undone like any other change, and one that was killed half-way can be repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcode.errors import McodeError
from mcode.files import private_directory, replace_file
from mcode.session.undo import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcode.session.undo import UndoEntry, UndoStore


@dataclass(frozen=True, slots=True)
class Present:
    """What a file holds now."""

    content: bytes
    mode: int
    """Permission bits."""


class FileAccess(Protocol):
    """How files of the user's are looked at and written; each method may block and raises McodeError."""

    def look_at(self, path: Path) -> Present | None:
        """The present content; None where there is no file."""
        ...

    def put(self, path: Path, content: bytes, mode: int | None) -> None:
        """Make it the file's content, at once and whole; refuses where the file is changed meanwhile."""
        ...

    def remove(self, path: Path, content: bytes) -> None:
        """Remove the file, which holds `content`; refuses where it holds anything else."""
        ...


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run of calls did to one file, from the first to the last of them."""

    path: str
    old: str
    """Hash before the first of them, or ABSENT."""
    mode: int | None
    """Permission bits before the first of them."""
    left: str
    """Hash that the last of them left, or ABSENT; where nobody told, what the file held before that one."""


class Fate(StrEnum):
    """What a rewind did with one file. The words are shown to the user."""

    RESTORED = "restored"
    REMOVED = "removed"
    SAME = "already as it was"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file of a rewind."""

    path: str
    fate: Fate
    reason: str = ""
    """Why it was kept."""
    copy: Path | None = None
    """Where its old version lies, where the file itself was kept."""


def first_entry_since(entries: Iterable[UndoEntry], turn: int, turns: Mapping[str, int]) -> int | None:
    """Sequence of the first entry of `turn` or a later one; None where no file was changed since.

    `turns` gives the turn of each call id.
    """
    return next((entry.sequence for entry in entries if turns.get(entry.call_id, 0) >= turn), None)


def changes_from(entries: Iterable[UndoEntry], sequence: int) -> tuple[FileChange, ...]:
    """What happened to each file from that entry on, in the order in which the files were first changed."""
    changes: dict[str, FileChange] = {}
    for entry in entries:
        if entry.sequence < sequence:
            continue
        left = entry.old if entry.new is None else entry.new
        first = changes.get(entry.path)
        old, mode = (entry.old, entry.mode) if first is None else (first.old, first.mode)
        changes[entry.path] = FileChange(entry.path, old, mode, left)
    return tuple(changes.values())


class Rewinder:
    """Puts files back from a session's store of old contents."""

    def __init__(self, undo: UndoStore, access: FileAccess, copies: Path) -> None:
        """`copies`: directory for the old versions of files that were kept."""
        self._undo = undo
        self._access = access
        self._copies = copies

    def entries(self) -> tuple[UndoEntry, ...]:
        """Everything that was kept in this session, oldest first."""
        return self._undo.entries()

    async def restore(self, changes: Sequence[FileChange], call_id: str) -> tuple[FileResult, ...]:
        """Put each file back, one after the other; what goes wrong with one is a result and stops no other.

        `call_id` names this rewind in the store, so that it can be undone.
        """
        return tuple([await self._restore(change, call_id) for change in changes])

    async def _restore(self, change: FileChange, call_id: str) -> FileResult:
        path = Path(change.path)
        try:
            present = await asyncio.to_thread(self._access.look_at, path)
            now = _hash(present)
            if now == change.old:
                return FileResult(change.path, Fate.SAME)
            if now != change.left:
                return await self._kept(change, "it was changed since by somebody else")
            old = None if change.old == ABSENT else await asyncio.to_thread(self._undo.read, change.old)
            await self._undo.keep(
                path, present.content if present else None, present.mode if present else None, call_id
            )
            if old is None:
                content = present.content if present else b""
                await asyncio.to_thread(self._access.remove, path, content)
            else:
                await asyncio.to_thread(self._access.put, path, old, change.mode)
            await self._undo.note_left(path, old, call_id)
        except McodeError as error:
            return FileResult(change.path, Fate.KEPT, str(error))
        return FileResult(change.path, Fate.REMOVED if old is None else Fate.RESTORED)

    async def _kept(self, change: FileChange, reason: str) -> FileResult:
        if change.old == ABSENT:
            return FileResult(change.path, Fate.KEPT, f"{reason}; before, it did not exist")
        copy = self._copies / f"{change.old[:12]}-{Path(change.path).name}"
        content = await asyncio.to_thread(self._undo.read, change.old)
        await asyncio.to_thread(_write_copy, copy, content)
        return FileResult(change.path, Fate.KEPT, reason, copy)


def _write_copy(path: Path, content: bytes) -> None:
    private_directory(path.parent)
    replace_file(path, content)


def _hash(present: Present | None) -> str:
    return ABSENT if present is None else hashlib.sha256(present.content).hexdigest()
