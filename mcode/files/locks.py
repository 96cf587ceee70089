"""Locks between processes: held by a live process only, and able to name it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from mcode.files.disk import storage_error, write_all

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_PAUSE = 0.01
"""Seconds between two tries, about."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock, by its own account."""

    process: int | None
    """Process id; None where it could not be read."""
    since: str = ""
    """When it took the lock: UTC, ISO 8601."""

    def describe(self) -> str:
        """The holder in words, for messages."""
        if self.process is None:
            return "another process"
        return f"process {self.process}" + (f", since {_on_the_clock(self.since)}" if self.since else "")


def _on_the_clock(since: str) -> str:
    """`2026-11-30 21:00` where the user is; what is no time stays as it is."""
    from datetime import datetime  # needed for a message only

    try:
        return datetime.fromisoformat(since).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return since


class FileLock:
    """An exclusive lock on a file of its own, which vanishes with the process that holds it.

    The lock file stays after release: removing it would let two processes hold two locks of the same name.
    """

    def __init__(self, path: Path, *, wait: float = 0.0) -> None:
        """`path`: the lock file, made when missing. `wait`: seconds that `with` waits for another holder."""
        self.path = path
        self._wait = wait
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """True while this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, wait: float = 0.0) -> bool:
        """Take the lock, trying for `wait` seconds; False where another holds it. Raises StorageError."""
        deadline = time.monotonic() + wait
        while True:
            try:
                descriptor = self._try()
            except OSError as error:
                raise storage_error("The file could not be locked", self.path, error) from error
            if descriptor is not None:
                self._descriptor = descriptor
                self._sign(descriptor)
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE * (0.5 + random.random()))  # noqa: S311 -- only to keep waiting processes out of step

    def release(self) -> None:
        """Give the lock back; nothing happens where it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def is_taken(self) -> bool:
        """True while another holds the lock; leaves the lock and its file as they are."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def holder(self) -> Holder:
        """Who wrote its name into the lock file last."""
        with contextlib.suppress(OSError, ValueError):
            note: object = json.loads(self.path.read_bytes())
            if isinstance(note, dict):
                known = cast("dict[str, object]", note)
                process, since = known.get("process"), known.get("since")
                return Holder(
                    process if isinstance(process, int) else None,
                    since[:40] if isinstance(since, str) else "",
                )
        return Holder(None)

    def _try(self) -> int | None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine, named = os.fstat(descriptor), self.path.stat(follow_symlinks=False)
            # Whoever removed the file between our open and our lock left us with a lock that nobody sees.
            if (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino):
                return descriptor
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                os.close(descriptor)
                raise
        os.close(descriptor)
        return None

    def _sign(self, descriptor: int) -> None:
        """Leave our name for those who find the lock taken; a full disk must not keep us from locking."""
        note = {"process": os.getpid(), "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            write_all(descriptor, json.dumps(note).encode())

    def __enter__(self) -> Self:
        if not self.acquire(self._wait):
            taken = OSError(
                errno.EAGAIN, f"locked by {self.holder().describe()} for more than {self._wait:g} s"
            )
            raise storage_error("The file could not be locked", self.path, taken)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
