"""The audits of a session's programs on the disk: one private file of JSON lines for each, written as it happens."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LENGTH = 100


class AuditFiles:
    """Writes the records of running programs; a file is open from its program's start to its end."""

    def __init__(self, directory: Path) -> None:
        """`directory`: the session's own, for side files."""
        self._directory = directory
        self._open: dict[str, int] = {}

    def write(self, program: str, record: JsonObject) -> None:
        """Append one record, with the time. Raises StorageError where it cannot be written."""
        path = audit_path(self._directory, program)
        now = time.time_ns() // 1_000_000
        line = jsontext.dump({"time_ms": now, **record}) + "\n"
        try:
            descriptor = self._open.get(program)
            if descriptor is None:
                descriptor = self._open[program] = os.open(path, _FLAGS, 0o600)
            rest = memoryview(line.encode("utf-8", "backslashreplace"))
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError as error:
            raise StorageError(
                f"The audit of a program cannot be written to {path}: {error.strerror or error}. A program whose "
                "calls are not recorded does not go on; what it has done stays. Make room on that disk."
            ) from None
        if record.get("type") == "end":
            self._close(program)

    def close(self) -> None:
        """Close what a program without an end has left open."""
        for program in tuple(self._open):
            self._close(program)

    def _close(self, program: str) -> None:
        os.close(self._open.pop(program))


def audit_path(directory: Path, program: str) -> Path:
    """The file of a program in a session's directory."""
    return directory / f"program-{_FOREIGN.sub('_', program)[:_NAME_LENGTH]}.jsonl"
