"""The audits of a session's programs on the disk: one private file of JSON lines for each, written as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from typing import TYPE_CHECKING

from mcode.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LENGTH = 100
_TOGETHER = 0.05
"""Seconds that the line of a call may wait for the next one."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class AuditFiles:
    """Writes the records of running programs; a file is open from its program's start to its end."""

    def __init__(self, directory: Path) -> None:
        """`directory`: the session's own, for side files."""
        self._directory = directory
        self._open: dict[str, _File] = {}

    def write(self, program: str, kind: str, record: JsonObject) -> None:
        """Append a record, with its type and the time. Raises StorageError where it, or one before, cannot be written.

        Calls that follow one another within a moment go to the disk together; what a kill takes with it then
        is in the journal.
        """
        now = time.time_ns() // 1_000_000
        file = self._open.get(program)
        try:
            if file is None:
                path = audit_path(self._directory, program)
                file = self._open[program] = _File(path, os.open(path, _FLAGS, 0o600))
            file.put(_line({"time_ms": now, "type": kind, "program": program, **record}))
            if kind == "call":
                file.write_soon()
            else:
                file.write()
        except OSError as error:
            path = audit_path(self._directory, program)
            raise StorageError(
                f"The audit of a program cannot be written to {path}: {error.strerror or error}. A program whose "
                "calls are not recorded does not go on; what it has done stays. Make room on that disk."
            ) from None
        if kind == "end":
            self._open.pop(program).close()

    def close(self) -> None:
        """Close what a program without an end has left open."""
        while self._open:
            self._open.popitem()[1].close()


class _File:
    """An open file with the lines that are not in it yet."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._lines: list[bytes] = []
        self._later: asyncio.TimerHandle | None = None
        self._problem: OSError | None = None

    def put(self, line: bytes) -> None:
        """Take a line; raises what went wrong with earlier ones."""
        if self._problem is not None:
            raise self._problem
        self._lines.append(line)

    def write_soon(self) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_TOGETHER, self._write_now)

    def write(self) -> None:
        """Write all lines; raises OSError."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        rest = memoryview(b"".join(self._lines))
        self._lines.clear()
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.write()
        os.close(self._descriptor)

    def _write_now(self) -> None:
        self._later = None
        try:
            self.write()
        except OSError as error:
            self._problem = error


def _line(record: JsonObject) -> bytes:
    return (_ENCODER.encode(record) + "\n").encode("utf-8", "backslashreplace")


def audit_path(directory: Path, program: str) -> Path:
    """The file of a program in a session's directory."""
    return directory / f"program-{_FOREIGN.sub('_', program)[:_NAME_LENGTH]}.jsonl"
