"""Deletes old sessions, and old undo contents beyond the limit; never those of an open session."""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TYPE_CHECKING

from mcode.files import FileLock, remove_leftovers
from mcode.session.listing import is_session_id, session_paths
from mcode.session.undo import STORE_LIMIT, list_objects

if TYPE_CHECKING:
    from pathlib import Path

_DAY = 86400.0


def prune_sessions(directory: Path, days: int) -> tuple[str, ...]:
    """Remove the sessions of a folder that were not written for `days` days; return their ids.

    Sessions without any record go after a day. An open session is never removed, nor anything where `days` is
    below 1. What cannot be removed stays until the next time.
    """
    if days < 1:
        return ()
    now = time.time()
    removed: list[str] = []
    for path in session_paths(directory):
        with contextlib.suppress(OSError):
            status = path.stat()
            age = now - status.st_mtime
            if age > days * _DAY or (status.st_size == 0 and age > _DAY):
                removed += _remove_session(path)
    _remove_orphans(directory, now - _DAY)
    remove_leftovers(directory)
    return tuple(removed)


def _remove_orphans(directory: Path, newest: float) -> None:
    """Remove side files without a session, which a killed copy leaves behind."""
    for path in directory.glob("*-*-*-*-*"):
        with contextlib.suppress(OSError):
            orphan = is_session_id(path.name) and path.is_dir() and not path.with_suffix(".jsonl").exists()
            if orphan and path.stat().st_mtime < newest:
                shutil.rmtree(path, ignore_errors=True)


def _remove_session(path: Path) -> list[str]:
    lock = FileLock(path.with_suffix(".lock"))
    if not lock.acquire():
        return []
    try:
        path.unlink()
        for torn in path.parent.glob(f"{path.name}.torn-*"):
            torn.unlink(missing_ok=True)
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
        # Under the lock: whoever opens the same name now sees that this lock file is gone and makes a new one.
        lock.path.unlink(missing_ok=True)
    finally:
        lock.release()
    return [path.stem]


def bound_undo(projects: Path, limit: int = STORE_LIMIT) -> int:
    """Drop old contents of finished sessions, the oldest sessions first, until all take at most `limit` bytes.

    `projects` is the directory of all folders' directories. Returns how many bytes were freed. Open sessions
    keep theirs.
    """
    stores: list[tuple[float, int, Path]] = []
    for store in projects.glob("*/*/undo"):
        session = store.parent.with_suffix(".jsonl")
        size = sum(size for _, size, _ in list_objects(store))
        with contextlib.suppress(OSError):
            stores.append(((session if session.exists() else store).stat().st_mtime, size, store))
    excess = sum(size for _, size, _ in stores) - limit
    freed = 0
    for _, size, store in sorted(stores):
        if freed >= excess:
            break
        if size and not FileLock(store.parent.with_suffix(".lock")).is_taken():
            shutil.rmtree(store / "objects", ignore_errors=True)
            freed += size
    return freed
