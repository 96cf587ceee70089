"""Opens files relative to directory handles, one path component at a time, never through a symbolic link."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from mcode.builtins.kinds import require_regular
from mcode.builtins.refusal import RefusalError

if TYPE_CHECKING:
    from types import TracebackType

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20

SIZE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file that file tools take whole, and change."""


@dataclass(slots=True)
class Directory:
    """An open directory. What is done relative to it stays in it, whatever happens to its path."""

    path: Path
    """The resolved path that was walked to reach it."""
    descriptor: int
    made: list[tuple[Path, os.stat_result]] = field(default_factory=list[tuple[Path, os.stat_result]])
    """Directories that were created on the way, outermost first."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Status of an entry, links not followed; None where there is no such entry."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def still_there(self) -> bool:
        """True where the path still leads to this directory without passing a symbolic link."""
        try:
            with open_directory(self.path) as again:
                return os.path.samestat(os.fstat(again.descriptor), os.fstat(self.descriptor))
        except (OSError, RefusalError):
            return False

    def sync(self) -> None:
        """Make changes of entries durable, as far as the file system can."""
        # Some file systems have no such operation; the content itself is synced by its writer.
        with contextlib.suppress(OSError):
            readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.descriptor)
            try:
                os.fsync(readable)
            finally:
                os.close(readable)

    def remove_made(self) -> None:
        """Take back the directories created on the way, as far as they are still there and empty."""
        with contextlib.suppress(OSError, RefusalError):
            for path, status in reversed(self.made):
                with open_directory(path.parent) as parent:
                    now = parent.status(path.name)
                    if now is not None and os.path.samestat(now, status):
                        os.rmdir(path.name, dir_fd=parent.descriptor)


def open_directory(path: Path, *, create: bool = False) -> Directory:
    """Open an absolute, resolved directory path step by step.

    With `create`, missing directories are made. Raises RefusalError where a step is a symbolic link or no directory,
    and OSError where the system refuses.
    """
    with contextlib.ExitStack() as giving_up:
        directory = Directory(path, os.open("/", _STEP))
        giving_up.callback(directory.remove_made)
        giving_up.enter_context(directory)
        walked = Path("/")
        for part in path.parts[1:]:
            walked /= part
            following = _step(directory, part, walked, create=create)
            os.close(directory.descriptor)
            directory.descriptor = following
        giving_up.pop_all()
    return directory


def _step(directory: Directory, part: str, walked: Path, *, create: bool) -> int:
    """Open the next directory on the way, and make it first where that is asked for."""
    try:
        return os.open(part, _STEP, dir_fd=directory.descriptor)
    except FileNotFoundError:
        if not create:
            raise
    except OSError:
        status = directory.status(part)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            raise _not_a_directory(status, walked) from None
        raise
    try:
        os.mkdir(part, dir_fd=directory.descriptor)
    except FileExistsError:  # somebody else was faster
        return _step(directory, part, walked, create=False)
    descriptor = _step(directory, part, walked, create=False)
    directory.made.append((walked, os.fstat(descriptor)))
    return descriptor


def _not_a_directory(status: os.stat_result, walked: Path) -> RefusalError:
    if stat.S_ISLNK(status.st_mode):
        return RefusalError(
            f"{walked} has become a symbolic link while the path was being used. Nothing was changed. "
            "Repeat the call if the link is as it should be."
        )
    return RefusalError(
        f"{walked} is not a directory, so nothing can be in it. Nothing was changed. Check the path."
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A regular file as it was read."""

    raw: bytes
    """The whole content."""
    status: os.stat_result


def open_regular(directory: Directory, name: str) -> tuple[int, os.stat_result] | None:
    """Open an entry for reading; None where it is absent. Never blocks, whatever stands there.

    Raises RefusalError for anything but a regular file. The caller closes the descriptor.
    """
    path = directory.path / name
    status = directory.status(name)
    if status is None:
        return None
    require_regular(status, path)
    try:
        descriptor = os.open(name, _READ, dir_fd=directory.descriptor)
    except FileNotFoundError:
        return None
    with contextlib.ExitStack() as giving_up:
        giving_up.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        require_regular(status, path)
        giving_up.pop_all()
    return descriptor, status


def read_regular(directory: Directory, name: str) -> Snapshot | None:
    """Read a whole regular file; None where it is absent. Raises RefusalError above SIZE_LIMIT bytes."""
    opened = open_regular(directory, name)
    if opened is None:
        return None
    descriptor, status = opened
    try:
        raw = read_at_most(descriptor, SIZE_LIMIT + 1)
    finally:
        os.close(descriptor)
    if len(raw) > SIZE_LIMIT:
        raise RefusalError(
            f"{directory.path / name} has {status.st_size:,} bytes; file tools change files up to {SIZE_LIMIT:,}. "
            "Nothing was changed. Use Bash for larger files."
        )
    return Snapshot(raw, status)


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Read up to `limit` bytes from where the descriptor stands."""
    chunks: list[bytes] = []
    missing = limit
    while missing > 0 and (chunk := os.read(descriptor, min(_CHUNK, missing))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)
