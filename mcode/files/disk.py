"""Durable writes: whole files replaced in one step and flushed, with errors that a person can act on."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import tempfile
import time
from pathlib import Path

from mcode.errors import StorageError

TEMPORARY_MARK = ".mcode-tmp-"
LEFTOVER_AGE = 3600.0
"""Seconds after which a temporary file is nobody's: no write takes that long."""

_FULL_FLUSH: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""macOS: a plain fsync does not reach the disk there."""


def flush(descriptor: int) -> None:
    """Wait until what was written to an open file is on the disk. Raises OSError."""
    if _FULL_FLUSH is not None:
        try:
            fcntl.fcntl(descriptor, _FULL_FLUSH)
        except OSError:
            os.fsync(descriptor)  # not every file system knows the full flush
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def flush_directory(directory: Path) -> None:
    """Make new, renamed and removed names in a directory last. Does nothing where a directory cannot be flushed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def private_directory(path: Path) -> Path:
    """Make a directory, and those above it that are missing, for the user alone (0700); return the path.

    A directory that others may enter is closed to them. Raises StorageError.
    """
    try:
        missing: list[Path] = []
        step = path
        while not step.exists():
            missing.append(step)
            step = step.parent
        for directory in reversed(missing):
            directory.mkdir(mode=0o700, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(mode & 0o700)
    except OSError as error:
        raise storage_error("The directory cannot be made or used", path, error) from error
    return path


def check_writable(directory: Path) -> None:
    """Raise StorageError where files of ours could not be made in a directory, or it could not be made itself.

    Leaves nothing behind, the directory included.
    """
    try:
        tempfile.TemporaryFile(dir=_nearest(directory)).close()
    except OSError as error:
        raise storage_error("Nothing can be kept in the directory", directory, error) from error


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Give a file new content in one step: a kill at any moment leaves the old or the new, whole.

    The directory must exist. A symbolic link is replaced, not followed. Raises StorageError; then the file is
    as it was.
    """
    temporary = path.with_name(f".{path.name}{TEMPORARY_MARK}{secrets.token_hex(6)}")
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            flush(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise storage_error(
            "The file could not be written", path, error, unchanged="It is as it was."
        ) from error
    flush_directory(path.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, in one system call where the system takes them at once. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def remove_leftovers(directory: Path, *, older_than: float = LEFTOVER_AGE) -> int:
    """Remove temporary files that killed processes left in a directory; return how many.

    Younger ones than `older_than` seconds stay: another process may be writing them.
    """
    removed = 0
    newest = time.time() - older_than
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if not (entry.name.startswith(".") and TEMPORARY_MARK in entry.name):
                continue
            with contextlib.suppress(OSError):
                if (
                    entry.is_file(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_mtime <= newest
                ):
                    Path(entry.path).unlink()
                    removed += 1
    return removed


def storage_error(
    what: str, path: Path, error: OSError, *, unchanged: str = "Nothing was changed."
) -> StorageError:
    """The error to raise for a failed operation on a file of ours: what, which, why, what now."""
    cause = (error.strerror or str(error)).lower()
    return StorageError(f"{what}: {path} ({cause}). {unchanged} {_advice(path, error.errno)}")


def _advice(path: Path, code: int | None) -> str:
    match code:
        case errno.ENOSPC | errno.EDQUOT:
            return f"Free some space on the disk at {_mount_of(path)}, then try again."
        case errno.EFBIG:
            return "The file may not grow further here: raise the limit of file sizes (ulimit -f), then try again."
        case errno.EROFS:
            return f"The disk at {_mount_of(path)} can only be read; mcode needs a writable one for its own files."
        case errno.ENOENT if not path.parent.exists():
            return f"Make the directory {path.parent} first, or name another one."
        case errno.EACCES | errno.EPERM:
            return f"Give yourself the right to write in {_nearest(path.parent)}, then try again."
        case errno.ENOTDIR | errno.EEXIST if not _nearest(path).is_dir():
            return f"{_nearest(path)} is no directory: move it away, or name another place, then try again."
        case errno.EMFILE | errno.ENFILE:
            return (
                "Too many files are open: end other programs or raise the limit (ulimit -n), then try again."
            )
        case _:
            return f"Check the disk at {_mount_of(path)}, then try again."


def _nearest(path: Path) -> Path:
    """The path, or the nearest of what it lies in that is there."""
    step = path.absolute()
    with contextlib.suppress(OSError):
        while not os.path.lexists(step) and step != step.parent:
            step = step.parent
    return step


def _mount_of(path: Path) -> Path:
    """The directory at which the disk that holds a path is attached; the root where it cannot be told."""
    step = _nearest(path)
    with contextlib.suppress(OSError):
        while not step.is_mount():
            step = step.parent
        return step
    return Path(step.anchor)
