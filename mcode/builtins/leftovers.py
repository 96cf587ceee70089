"""Finds and removes the temporary files that a killed mcode has left beside the user's files.

While a temporary file exists, a small record with its path stands in a private directory, and its writer holds
a lock on the record. A record without a lock belongs to a writer that died: its temporary file is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.builtins.handles import open_directory
from mcode.builtins.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Generator

MARK = ".mcode-tmp-"
"""Part of the name of every temporary file beside a user's file."""
_NAME_BYTES = 200
"""Bytes of the user's file name that the temporary name repeats; names may have 255."""
_RECORD_LIMIT = 64 * 1024


def temporary_name(name: str) -> str:
    """A fresh name for a temporary file that will replace `name`."""
    stem = os.fsdecode(os.fsencode(name)[:_NAME_BYTES])
    return f".{stem}{MARK}{secrets.token_hex(6)}"


@contextlib.contextmanager
def announced(records: Path | None, temporary: Path) -> Generator[None]:
    """Keep a record of a temporary file while the block runs; without a directory for records, do nothing."""
    if records is None:
        yield
        return
    record, descriptor = None, None
    # A record that cannot be written must not stop the change: it only serves tidiness after a kill.
    with contextlib.suppress(OSError):
        records.mkdir(mode=0o700, parents=True, exist_ok=True)
        record = records / secrets.token_hex(8)
        descriptor = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, os.fsencode(temporary))
    try:
        yield
    finally:
        if record is not None:
            record.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def remove_leftovers(records: Path) -> tuple[Path, ...]:
    """Remove the temporary files of writers that died. Returns what was removed; never raises for files."""
    removed: list[Path] = []
    with contextlib.suppress(OSError):
        for record in sorted(records.iterdir()):
            removed += _settle(record)
    return tuple(removed)


def _settle(record: Path) -> list[Path]:
    with contextlib.suppress(OSError, RefusalError):
        descriptor = os.open(record, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary = Path(os.fsdecode(os.read(descriptor, _RECORD_LIMIT)))
            found = _remove(temporary)
            record.unlink(missing_ok=True)
            return [temporary] if found else []
        finally:
            os.close(descriptor)
    return []


def _remove(temporary: Path) -> bool:
    """Remove a temporary file, if it is there and really one."""
    if not temporary.is_absolute() or MARK not in temporary.name:
        return False
    try:
        with open_directory(temporary.parent) as directory:
            status = directory.status(temporary.name)
            if status is None or not stat.S_ISREG(status.st_mode):
                return False
            os.unlink(temporary.name, dir_fd=directory.descriptor)
    except FileNotFoundError:
        return False
    return True
