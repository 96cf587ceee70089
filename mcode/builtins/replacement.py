"""Replaces the bytes of one of the user's files: atomically, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING

from mcode.builtins.handles import Directory, Snapshot, open_directory, read_regular
from mcode.builtins.leftovers import announced, temporary_name
from mcode.builtins.refusal import UNCHANGED, RefusalError, explain

if TYPE_CHECKING:
    from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE = 0o222


def require_writable(directory: Directory, name: str, status: os.stat_result | None) -> None:
    """Raise RefusalError where the file or its directory is read-only, although a rename might still succeed."""
    if status is not None and not (
        status.st_mode & _WRITABLE and os.access(name, os.W_OK, dir_fd=directory.descriptor)
    ):
        mode = stat.S_IMODE(status.st_mode)
        raise RefusalError(
            f"{directory.path / name} is read-only (mode {mode:04o}). {UNCHANGED} "
            "Ask the user, or make it writable with Bash first."
        )
    mode = os.fstat(directory.descriptor).st_mode
    if not (mode & _WRITABLE and os.access(".", os.W_OK | os.X_OK, dir_fd=directory.descriptor)):
        raise RefusalError(
            f"The directory {directory.path} is read-only (mode {stat.S_IMODE(mode):04o}). {UNCHANGED} "
            "Ask the user, or make it writable with Bash first."
        )


def replace_content(
    target: Path, before: Snapshot | None, new: bytes, records: Path | None
) -> tuple[str, ...]:
    """Make `new` the content of a file whose state was `before` (None: absent).

    Returns notes for the model. Raises RefusalError, with the file as it was, where it is not in that state any more
    or the system refuses.
    """
    directory: Directory | None = None
    try:
        directory = open_directory(target.parent, create=before is None)
        with directory:
            if before is not None and before.status.st_nlink > 1:
                return _write_in_place(directory, target, before, new)
            return _replace(directory, target, before, new, records)
    except (OSError, RefusalError) as error:
        if directory is not None:
            directory.remove_made()
        raise explain(error, "Writing", target) if isinstance(error, OSError) else error from None


def _replace(
    directory: Directory, target: Path, before: Snapshot | None, new: bytes, records: Path | None
) -> tuple[str, ...]:
    temporary = temporary_name(target.name)
    notes: tuple[str, ...] = ()
    with announced(records, directory.path / temporary), contextlib.ExitStack() as giving_up:
        mode = 0o666 if before is None else 0o600
        descriptor = os.open(temporary, _CREATE, mode, dir_fd=directory.descriptor)
        giving_up.callback(os.unlink, temporary, dir_fd=directory.descriptor)
        try:
            _write_all(descriptor, new)
            if before is not None:
                notes = _keep_attributes(directory, target.name, descriptor, before.status)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _require_same(directory, target, before)
        _put_in_place(directory, temporary, target, is_new=before is None)
        giving_up.pop_all()
    directory.sync()
    return notes


def _put_in_place(directory: Directory, temporary: str, target: Path, *, is_new: bool) -> None:
    """Give the temporary file its name. A new name is linked, which fails where another has taken it."""
    handle = directory.descriptor
    if is_new:
        try:
            os.link(temporary, target.name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=False)
        except FileExistsError:
            raise _appeared(target) from None
        except OSError:  # a file system without hard links; the name was free a moment ago
            pass
        else:
            with contextlib.suppress(OSError):  # the file is there and whole; this was its other name
                os.unlink(temporary, dir_fd=handle)
            return
    os.rename(temporary, target.name, src_dir_fd=handle, dst_dir_fd=handle)


def _require_same(directory: Directory, target: Path, before: Snapshot | None) -> None:
    """Raise RefusalError where the file, or the way to it, is not what it was when the change was worked out."""
    if not directory.still_there():
        raise RefusalError(
            f"{directory.path} leads elsewhere since this call began: a directory was moved or a symbolic link "
            f"took its place. {UNCHANGED} Repeat the call if the path is right."
        )
    if before is None:
        if directory.status(target.name) is not None:
            raise _appeared(target)
        return
    now = read_regular(directory, target.name)
    if now is None or now.raw != before.raw or not os.path.samestat(now.status, before.status):
        raise _changed(target)


def _changed(target: Path) -> RefusalError:
    return RefusalError(
        f"{target}: file changed on disk while it was being changed. {UNCHANGED} Read it again."
    )


def _appeared(target: Path) -> RefusalError:
    return RefusalError(
        f"{target} has appeared since this call was decided on, so it was not overwritten. {UNCHANGED} "
        "Read it, then repeat the call if it is still right."
    )


def _keep_attributes(
    directory: Directory, name: str, descriptor: int, status: os.stat_result
) -> tuple[str, ...]:
    """Give the new file owner, mode and extended attributes of the old one, as far as that is permitted."""
    notes: list[str] = []
    mode = stat.S_IMODE(status.st_mode)
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except OSError:
            mode &= 0o777
            notes.append("The file's owner or group could not be kept.")
    os.fchmod(descriptor, mode)
    with contextlib.suppress(OSError):
        old = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory.descriptor
        )
        try:
            _copy_extended_attributes(old, descriptor)
        finally:
            os.close(old)
    return tuple(notes)


def _copy_extended_attributes(old: int, new: int) -> None:
    if sys.platform == "darwin":
        _copy_on_macos(old, new)
        return
    for attribute in os.listxattr(old):
        # Some (security labels, capabilities) may be read but not set by everyone.
        with contextlib.suppress(OSError):
            os.setxattr(new, attribute, os.getxattr(old, attribute))


def _copy_on_macos(old: int, new: int) -> None:
    """Extended attributes and access lists by the system's own function; Python has none for them there."""
    import ctypes

    access_lists_and_attributes = 1 << 0 | 1 << 2
    ctypes.CDLL(None).fcopyfile(old, new, None, access_lists_and_attributes)


def _write_in_place(directory: Directory, target: Path, before: Snapshot, new: bytes) -> tuple[str, ...]:
    """Overwrite a file that has several names, so that they stay one file. Its old bytes are in the undo store."""
    _require_same(directory, target, before)
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(target.name, flags, dir_fd=directory.descriptor)
    try:
        if not os.path.samestat(os.fstat(descriptor), before.status):
            raise _changed(target)
        try:
            _write_all(descriptor, new)
        except OSError:
            _put_back(descriptor, target, before.raw)
            raise
        os.ftruncate(descriptor, len(new))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return (f"The file has {before.status.st_nlink} names (hard links); all show the change.",)


def _put_back(descriptor: int, target: Path, old: bytes) -> None:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        _write_all(descriptor, old)
        os.ftruncate(descriptor, len(old))
    except OSError as error:
        kept = "It may hold parts of both contents; the old one is in the undo store."
        raise explain(error, "Writing and then restoring", target, kept) from None


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
