"""One session's file: records are appended, never changed, and survive whatever ends the process.

A record is one `write()` of one line, so `kill -9` loses nothing that `append` has returned. `sync` waits for
the disk as well, for a loss of power. Opening repairs what a crash can leave behind and says what it did.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.files import FileLock, Holder, flush, flush_directory, replace_file, storage_error
from mcode.session.bodies import body_text, masked_body, told_body
from mcode.session.listing import CLOCK_SLACK
from mcode.session.records import Reading, Record, describe, encode, read
from mcode.session.side_values import SideValues

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from mcode.jsontext import JsonObject
    from mcode.masking import Masker

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of a line; a larger record's body goes to a side file."""

REMEMBERED = 4 * 1024 * 1024
"""Bytes of a session file up to which its records stay in memory too."""

_LOCK_PATIENCE = 0.2
"""Seconds to wait for a lock that another only looks at."""


class SessionLockedError(StorageError):
    """The session is open in another process; it can be forked or read meanwhile."""

    def __init__(self, session: str, holder: Holder) -> None:
        self.session = session
        self.holder = holder
        super().__init__(
            f"Session {session} is open in another mcode ({holder.describe()}), and only one may write to it. Nothing "
            f"was changed. Go on with a copy (mcode --resume {session} --fork-session), or end it there first."
        )


class Journal:
    """An open session file. `append` and `close` belong to one thread, the event loop's."""

    def __init__(self, path: Path, reading: Reading, notices: list[str]) -> None:
        """For `open` and `open_read_only`, which are the ways to make one."""
        self.path = path
        self._records: list[Record] | None = reading.records
        """None where they are more than is worth the memory; the file has them."""
        self._last = reading.records[-1].sequence if reading.records else 0
        self._notices = notices
        self._sequence = reading.last_sequence
        self._clock = reading.last_clock
        self._side = SideValues(_side_directory(path))
        self._masker: Masker | None = None
        self._lock: FileLock | None = None
        self._descriptor: int | None = None
        self._size = 0
        self._durable = True
        self._broken = False
        """The file may end in part of a record that could not be written."""
        self._written = 0
        self._synced = 0
        self._flushing: asyncio.Future[None] | None = None
        self._flush_guard = threading.Lock()

    @classmethod
    def open(cls, path: Path, masker: Masker, *, durable: bool = True, floor: int = 0) -> Self:
        """Open a session file to go on with it; a missing or empty one is a new session.

        `masker` masks the bodies of new records. `durable`: False makes `sync` return at once. `floor`: the
        clock of new records is above it (microseconds), so that this session counts as the newest of its
        folder even where the system's clock was set back. Holds the lock `<id>.lock` until `close`.

        Raises SessionLockedError where another process has the session open, and StorageError.
        """
        lock = FileLock(path.with_suffix(".lock"))
        if not lock.acquire(_LOCK_PATIENCE):
            raise SessionLockedError(path.stem, lock.holder())
        with contextlib.ExitStack() as undo:
            undo.callback(lock.release)
            try:
                descriptor = _open_file(path)
                undo.callback(os.close, descriptor)
                journal = cls(path, *_recover(path, descriptor))
                journal._size = os.fstat(descriptor).st_size
            except OSError as error:
                raise storage_error("The session file could not be opened", path, error) from error
            undo.pop_all()
        journal._clock = max(journal._clock, floor)
        journal._masker, journal._lock, journal._descriptor = masker, lock, descriptor
        journal._durable = durable
        return journal

    @classmethod
    def open_read_only(cls, path: Path) -> Self:
        """Open a session file to look at it, also while another process writes it. `append` then fails."""
        reading = read_records(path)
        return cls(path, reading, describe(reading, path.name))

    @property
    def records(self) -> Sequence[Record]:
        """Everything that could be read, in order, and all that was appended since.

        A long session is read from its file again: not for what happens at every call. Raises StorageError.
        """
        return read_records(self.path).records if self._records is None else self._records

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found and repaired when the file was opened."""
        return tuple(self._notices)

    def append(self, type: str, body: JsonObject) -> Record:  # noqa: A002 -- the word of the format
        """Write one record; when this returns, the death of the process cannot lose it.

        The record's body is the masked copy that was written, the very value that a later `open` will read;
        `told` gives what the model may see of the body meanwhile. Raises StorageError where it could not be
        written; then the file is as before, and a later call may succeed.
        """
        if self._descriptor is None or self._masker is None:
            raise StorageError(
                f"Nothing can be written to {self.path}: the session is closed or was opened to read only. "
                "Nothing was changed. Resume or fork the session to go on with it."
            )
        try:
            masked, text = body_text(masked_body(body, self._masker))
        except (ValueError, RecursionError) as error:
            raise StorageError(
                f"A record of type {type} could not be written to {self.path}: its value is {error}. Nothing was "
                "changed; the step that made it cannot go on."
            ) from error
        now = time.time_ns() // 1000
        clock = max(now, self._clock + 1)
        record = Record(self._sequence + 1, type, masked, _timestamp(now), self._previous(), clock)
        line = encode(record, text)
        if len(line) > LINE_LIMIT:
            line = encode(record, "", side=self._side.keep(text))
        self._write(self._descriptor, line)
        if now < clock < now + CLOCK_SLACK:
            # The system's clock stands behind: keep the folder's newest file the newest.
            with contextlib.suppress(OSError):
                os.utime(self._descriptor, ns=(clock * 1000, clock * 1000))
        self._sequence, self._clock = record.sequence, clock
        self._written += 1
        self._last = record.sequence
        if self._records is not None:
            self._records.append(record)
            if self._size > REMEMBERED:
                self._records = None
        return record

    def rehearse(self, body: JsonObject) -> None:
        """Do what takes long in `append(body)`, for a thread: the masks of long texts are kept, side files written.

        What is wrong with the body is for `append` to say.
        """
        if self._masker is None:
            return
        with contextlib.suppress(ValueError, RecursionError, StorageError):
            _, text = body_text(masked_body(body, self._masker))
            if len(text) > LINE_LIMIT:
                self._side.keep(text)

    def told(self, record: Record, body: JsonObject) -> JsonObject:
        """What the living conversation goes on with after `append(body)` gave `record`.

        That is the record's own body where nothing had to be masked, so that a resumed session sends the same
        bytes; where secrets were masked on the disk it is the body itself without mcode's own keys.
        """
        if self._masker is None or record.body == body:
            return record.body
        return told_body(body, self._masker)

    async def sync(self) -> None:
        """Return when everything appended so far is on the disk; calls that come together share one flush.

        Raises StorageError where the disk refuses.
        """
        wanted = self._written
        while self._durable and self._synced < wanted:
            loop = asyncio.get_running_loop()
            if self._flushing is None or self._flushing.get_loop() is not loop:
                self._flushing = loop.run_in_executor(None, self._flush, self._written)
                self._flushing.add_done_callback(self._end_flush)
            # One caller's cancellation must not take the flush from the others.
            await asyncio.shield(self._flushing)

    def close(self) -> None:
        """Flush, let the lock go and close the file. A second call does nothing.

        Raises StorageError where the last records may not have reached the disk; the file is closed all the same.
        """
        if self._descriptor is None:
            return
        try:
            if self._durable and self._synced < self._written:
                self._flush(self._written)
        finally:
            with self._flush_guard:
                os.close(self._descriptor)
                self._descriptor = None
            if self._lock is not None:
                self._lock.release()

    def _previous(self) -> int:
        return self._last

    def _write(self, descriptor: int, line: bytes) -> None:
        try:
            if self._broken:
                os.ftruncate(descriptor, self._size)
                self._broken = False
            rest = memoryview(line)
            while rest:  # the system takes a line at once, unless the disk is nearly full
                self._broken = True
                rest = rest[os.write(descriptor, rest) :]
            self._broken = False
            self._size += len(line)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, self._size)
                self._broken = False
            raise storage_error(
                "The session could not be written",
                self.path,
                error,
                unchanged="The session is as it was, and the step that needed the record was not taken.",
            ) from error

    def _flush(self, count: int) -> None:
        with self._flush_guard:
            if self._descriptor is None:
                return
            try:
                flush(self._descriptor)
            except OSError as error:
                raise storage_error(
                    "The session could not be brought to the disk",
                    self.path,
                    error,
                    unchanged="Its last records are written but may be lost if the power fails.",
                ) from error
            self._synced = max(self._synced, count)

    def _end_flush(self, done: asyncio.Future[None]) -> None:
        if self._flushing is done:
            self._flushing = None
        if not done.cancelled():
            done.exception()  # whoever waits gets it; where nobody does, it must not be reported as forgotten


def read_records(path: Path) -> Reading:
    """Read a session file without locking or repairing it. Raises StorageError where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise storage_error("The session file could not be read", path, error) from error
    return read(data, SideValues(_side_directory(path)).load)


def _side_directory(path: Path) -> Path:
    return path.with_suffix("") / "values"


def _timestamp(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1000:03}Z"


def _open_file(path: Path) -> int:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    if is_new:
        flush_directory(path.parent)
    return descriptor


def _recover(path: Path, descriptor: int) -> tuple[Reading, list[str]]:
    """Read the file, and take off the end a record that was never finished. Raises OSError, StorageError."""
    reading = read_records(path)
    notices = describe(reading, path.name)
    if reading.torn:
        kept = _torn_path(path)
        replace_file(kept, reading.torn)
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(reading.torn))
        flush(descriptor)
        notices.insert(
            0,
            f"{path.name} ended in the middle of a record, as after a crash. Its {len(reading.torn)} bytes are kept "
            f"in {kept.name}; everything before them is intact.",
        )
    return reading, notices


def _torn_path(path: Path) -> Path:
    number = 1
    while (kept := path.with_name(f"{path.name}.torn-{number}")).exists():
        number += 1
    return kept
