"""What a process prints, taken in chunks with bounded memory: whole for programs, head and tail for the model."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from mcode.process.lines import HeadAndTail, LineShaper, without_broken_end, without_broken_start
from mcode.process.secrets import SecretFilter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SPILL_LIMIT = 64 * 1024 * 1024
"""Bytes that a file with whole output holds at most."""

_IN_MEMORY = 64 * 1024
"""Bytes of one stream that are kept in memory before a file takes them."""

_OF_A_CUT_STREAM = 1024 * 1024
"""Bytes that are given of a stream that passed its limit, and the most that is kept without a file."""


@dataclass(frozen=True, slots=True)
class Captured:
    """One stream of a process that has ended."""

    data: bytes
    """Everything where `is_whole`; otherwise the beginning, 1 MB at most."""
    total: int
    """Bytes that the process wrote."""

    @property
    def is_whole(self) -> bool:
        return len(self.data) == self.total

    @property
    def text(self) -> str:
        """The data as text; bytes that are not UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Shown:
    """Both streams as a person would have read them: lines in the order of arrival, overwritten states gone."""

    head: str = ""
    """Everything, where nothing is left out."""
    tail: str = ""
    left_out: int = 0
    """Bytes between head and tail."""
    not_text: int = 0
    """Bytes that are not UTF-8, shown as U+FFFD."""
    file: Path | None = None
    """The private file that holds everything as it was written; None where head tells all."""
    file_problem: str = ""
    """Why the file is missing or incomplete; empty where it is neither."""


class StreamKeeper:
    """Keeps one stream up to a limit: a little in memory, more in a file that has no name."""

    def __init__(self, limit: int, directory: Path | None) -> None:
        self._limit = limit if directory is not None else min(limit, _OF_A_CUT_STREAM)
        self._directory = directory
        self._memory = bytearray()
        self._file: BinaryIO | None = None
        self._kept = 0
        self._total = 0

    def feed(self, chunk: bytes) -> None:
        self._total += len(chunk)
        if self._kept >= self._limit:
            return
        chunk = chunk[: self._limit - self._kept]
        if self._file is None and (self._directory is None or self._kept + len(chunk) <= _IN_MEMORY):
            self._memory += chunk
            self._kept += len(chunk)
        else:
            self._write(chunk)

    def finish(self) -> Captured:
        """What was kept; the keeper is empty afterwards."""
        whole = self._kept == self._total
        data = bytes(self._memory if whole else self._memory[:_OF_A_CUT_STREAM])
        if self._file is not None:
            self._file.seek(0)
            data += self._file.read(self._kept if whole else _OF_A_CUT_STREAM - len(data))
        self.close()
        return Captured(data, self._total)

    def close(self) -> None:
        self._memory.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, chunk: bytes) -> None:
        written = 0
        with contextlib.suppress(OSError):  # a full disk: what is kept ends here, and `is_whole` says so
            if self._file is None and self._directory is not None:
                self._file = open_nameless(self._directory)
            written = self._file.write(chunk) if self._file is not None else 0
        self._kept += written
        if written < len(chunk):
            self._limit = self._kept


class SpillFile:
    """The private file with the whole output; it comes into being only when it is needed."""

    def __init__(self, path: Path, after: int) -> None:
        self._path = path
        self._after = after
        """Bytes up to which memory does."""
        self._memory = bytearray()
        self._descriptor: int | None = None
        self._size = 0
        self.problem = ""

    def begin(self) -> None:
        """Make the file now, for those who want to read along."""
        if self._descriptor is None and not self.problem:
            self._open()

    def feed(self, chunk: bytes) -> None:
        if self.problem or not chunk:
            return
        if self._descriptor is None:
            self._memory += chunk
            if len(self._memory) > self._after:
                self._open()
            return
        room = SPILL_LIMIT - self._size
        self._write(chunk[:room])
        if len(chunk) > room:
            self.problem = f"it holds the first {SPILL_LIMIT // 1024**2} MB only"

    def finish(self, *, needed: bool) -> Path | None:
        """Close the file; make one first where `needed`. Returns its path, or None where there is none."""
        if needed and self._descriptor is None and not self.problem:
            self._open()
        exists = self._descriptor is not None
        self.close()
        return self._path if exists else None

    def close(self) -> None:
        self._memory.clear()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            self.problem = f"it could not be made: {error.strerror}"
        else:
            self._write(bytes(self._memory))
        self._memory.clear()

    def _write(self, data: bytes) -> None:
        try:
            while data and self._descriptor is not None:
                written = os.write(self._descriptor, data)
                self._size += written
                data = data[written:]
        except OSError as error:
            self.problem = f"it holds the first {self._size} bytes only: {error.strerror}"


class OutputRecorder:
    """Takes both streams of one process as they arrive."""

    def __init__(
        self,
        limit: int,
        shown_limit: int,
        spill: Path | None,
        *,
        secrets: Sequence[tuple[bytes, bytes]],
        spill_always: bool,
    ) -> None:
        """`limit`: bytes kept of each stream. `shown_limit`: characters of merged text, 0 for none.

        `spill`: where everything is kept if the merged text cannot hold it, or from the start where
        `spill_always`; `secrets` are replaced there, each by its mark.
        """
        directory = spill.parent if spill is not None else None
        self._keepers = (StreamKeeper(limit, directory), StreamKeeper(limit, directory))
        self._shapers = (LineShaper(), LineShaper())
        # A character takes four bytes at most, so head and tail can fill their halves whatever the script.
        self._lines = HeadAndTail(shown_limit * 2) if shown_limit else None
        self._spill = SpillFile(spill, shown_limit) if spill is not None and shown_limit else None
        self._filters = (SecretFilter(secrets), SecretFilter(secrets))
        if self._spill is not None and spill_always:
            self._spill.begin()

    def begin_file(self) -> None:
        """Have everything in the file from now on, for those who want to read along."""
        if self._spill is not None:
            self._spill.begin()

    @property
    def is_full(self) -> bool:
        """True once the file takes no more."""
        return self._spill is not None and bool(self._spill.problem)

    def feed(self, stream: int, chunk: bytes) -> None:
        """Take a chunk of standard output (0) or standard error (1)."""
        self._keepers[stream].feed(chunk)
        if self._lines is not None:
            self._lines.feed(self._shapers[stream].feed(chunk))
        if self._spill is not None:
            self._spill.feed(self._filters[stream].feed(chunk))

    def finish(self) -> tuple[Captured, Captured, Shown]:
        """Both streams, and what is shown of them."""
        if self._spill is not None:
            for held in self._filters:
                self._spill.feed(held.finish())
        shown = Shown()
        if self._lines is not None:
            unfinished = [shaper.finish() for shaper in self._shapers]
            self._lines.feed(b"\n".join(line for line in unfinished if line))
            shown = self._show(self._lines)
        return self._keepers[0].finish(), self._keepers[1].finish(), shown

    def close(self) -> None:
        """Give up files; needed where `finish` was not reached."""
        for keeper in self._keepers:
            keeper.close()
        if self._spill is not None:
            self._spill.close()

    def _show(self, lines: HeadAndTail) -> Shown:
        head, tail, left_out = lines.finish()
        if left_out:
            head, tail = without_broken_end(head), without_broken_start(tail)
        else:
            head, tail = head + tail, b""
        cut = bool(left_out) or any(shaper.lines_cut for shaper in self._shapers)
        file, problem = None, ""
        if self._spill is not None:
            file, problem = self._spill.finish(needed=cut), self._spill.problem
        return Shown(
            head.decode("utf-8", "replace"),
            tail.decode("utf-8", "replace"),
            left_out,
            sum(shaper.not_text for shaper in self._shapers),
            file,
            problem,
        )


def open_nameless(directory: Path) -> BinaryIO:
    """Open a private file for reading and writing that vanishes with its descriptor."""
    try:
        descriptor = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # not every system and file system has nameless files
        path = directory / f".mcode-tmp-{os.urandom(8).hex()}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        path.unlink()
    return os.fdopen(descriptor, "w+b", buffering=0)
