"""The sessions of one folder: create, resume, copy, list, rename, delete."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.errors import StorageError, UsageError
from mcode.files import FileLock, Holder, private_directory, replace_file, storage_error
from mcode.session.journal import Journal
from mcode.session.listing import SessionInfo, is_session_id, list_sessions, newest_change, session_paths
from mcode.session.undo import STORE_LIMIT, UndoStore
from mcode.session.upkeep import bound_undo, prune_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.masking import Masker

__all__ = ["OpenSession", "SessionInfo", "SessionStore"]


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session that this process writes, or looks at."""

    id: str
    directory: Path
    """For side files of the session: 0700, beside the session file."""
    journal: Journal
    undo: UndoStore


class SessionStore:
    """The sessions of one folder. Nothing is made on the disk before the first session is."""

    def __init__(
        self, directory: Path, masker: Masker, *, durable: bool = True, undo_limit: int = STORE_LIMIT
    ) -> None:
        """`directory`: the folder's own below `projects`. `durable`: False where the user relaxed syncing."""
        self.directory = directory
        self._masker = masker
        self._durable = durable
        self._undo_limit = undo_limit

    def create(self, session_id: str | None = None) -> OpenSession:
        """Begin a session, under the given UUID if any. Raises UsageError where that cannot be its id."""
        if session_id is None:
            return self._open(str(uuid.uuid4()))
        identifier = session_id.strip().lower()
        if not is_session_id(identifier):
            raise UsageError(
                f"`{session_id}` cannot be a session id: it is no UUID. No session was started. Give one such as "
                f"{uuid.uuid4()}, or leave it out."
            )
        if self._path(identifier).exists():
            raise UsageError(
                f"The session {identifier} exists already. No session was started; resume it with "
                f"mcode --resume {identifier}, or choose another id."
            )
        return self._open(identifier)

    def open(self, reference: str) -> OpenSession:
        """Go on with a session, by id, by the beginning of an id, or by name.

        Raises UsageError where none or several fit, SessionLockedError where another process has it open.
        """
        return self._open(self.resolve(reference))

    def open_read_only(self, reference: str) -> OpenSession:
        """Look at a session, also at one that another process writes; nothing can be appended."""
        identifier = self.resolve(reference)
        directory = self.directory / identifier
        journal = Journal.open_read_only(self._path(identifier))
        return OpenSession(identifier, directory, journal, self._undo(directory))

    def fork(self, reference: str) -> OpenSession:
        """Go on with a copy of a session under a new id; the session itself may be open elsewhere.

        The copy ends with a `session` record that names its `parent`. It has the old contents for undo, too.
        """
        parent = self.resolve(reference)
        source = self._path(parent)
        try:
            data = source.read_bytes()
        except OSError as error:
            raise storage_error("The session file could not be read", source, error) from error
        identifier = str(uuid.uuid4())
        target = self._path(identifier)
        directory = private_directory(self.directory / identifier)
        _copy_side_files(source.with_suffix(""), directory)
        replace_file(target, data[: data.rfind(b"\n") + 1])
        session = self._open(identifier)
        known: JsonObject = {}
        for record in session.journal.records:
            if record.type == "session":
                known = {**known, **record.body}
        session.journal.append("session", {**known, "id": identifier, "parent": parent})
        return session

    def latest(self) -> SessionInfo | None:
        """The session that was written last; None where there is none."""
        return next(iter(self.list()), None)

    def list(self) -> tuple[SessionInfo, ...]:
        """The sessions that hold a message or have a name, the one written last first."""
        return list_sessions(self.directory)

    def rename(self, reference: str, name: str) -> None:
        """Name a session that is not open. Raises UsageError and SessionLockedError as `open` does."""
        session = self.open(reference)
        try:
            session.journal.append("title", {"name": name.strip()})
        finally:
            session.journal.close()

    def others(self, own: str = "") -> tuple[tuple[str, Holder], ...]:
        """Sessions of the folder that are open now, but for the session `own`: their ids and processes."""
        found: list[tuple[str, Holder]] = []
        for path in sorted(self.directory.glob("*.lock")):
            if path.stem != own and is_session_id(path.stem):
                lock = FileLock(path)
                if lock.is_taken():
                    found.append((path.stem, lock.holder()))
        return tuple(found)

    def prune(self, days: int) -> tuple[str, ...]:
        """Remove sessions not written for `days` days, never open ones, and old contents beyond the bound.

        Returns the ids of removed sessions. May take long where there is much: run it in a thread.
        """
        removed = prune_sessions(self.directory, days)
        bound_undo(self.directory.parent, self._undo_limit)
        return removed

    def resolve(self, reference: str) -> str:
        """The id that an id, the beginning of one, or a name stands for. Raises UsageError."""
        wanted = reference.strip()
        identifiers = {path.stem for path in session_paths(self.directory)}
        if wanted.lower() in identifiers:
            return wanted.lower()
        if not wanted:
            raise UsageError(
                "A session is needed: its id, the beginning of it, or its name. Nothing was opened."
            )
        named = [info for info in self.list() if info.name]
        fitting = (
            [info.id for info in named if info.name == wanted]
            or sorted(identifier for identifier in identifiers if identifier.startswith(wanted.lower()))
            or [info.id for info in named if info.name.casefold() == wanted.casefold()]
        )
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            shown = ", ".join(fitting[:5]) + (" ..." if len(fitting) > 5 else "")
            raise UsageError(
                f"`{reference}` fits {len(fitting)} sessions of this folder ({shown}). Nothing was opened; give more "
                "of the id."
            )
        raise UsageError(
            f"No session of this folder has the id or name `{reference}`. Nothing was opened; `mcode --resume` lists "
            "the sessions of the folder that it is started in."
        )

    def _open(self, identifier: str) -> OpenSession:
        private_directory(self.directory)
        journal = Journal.open(
            self._path(identifier),
            self._masker,
            durable=self._durable,
            floor=newest_change(self.directory),
        )
        try:
            directory = private_directory(self.directory / identifier)
        except StorageError:
            journal.close()
            raise
        return OpenSession(identifier, directory, journal, self._undo(directory))

    def _undo(self, directory: Path) -> UndoStore:
        return UndoStore(directory / "undo", limit=self._undo_limit)

    def _path(self, identifier: str) -> Path:
        return self.directory / f"{identifier}.jsonl"


def _copy_side_files(source: Path, target: Path) -> None:
    """Give a copied session what its records and its undo refer to; equal contents share their space."""
    for name in ("values", "undo"):
        if (source / name).is_dir():
            try:
                shutil.copytree(source / name, target / name, copy_function=_link_or_copy)
            except OSError as error:
                raise storage_error("The session's side files could not be copied", source, error) from error


def _link_or_copy(source: str, target: str) -> None:
    if not source.endswith("index.jsonl"):  # the index goes on growing, for each session by itself
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)
