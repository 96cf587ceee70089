"""What a server writes to its standard error: kept in a file of limited size, never on a screen."""

from __future__ import annotations

import contextlib
import datetime
import re
import time
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

SIZE_LIMIT = 1024 * 1024
"""Bytes of a server's log: half in the file, half in the one before it."""

RATE = 256 * 1024
"""Bytes that are kept of what a server writes in one second."""

TAIL = 8000
"""Bytes that are remembered to say what a server's last words were: more than most traces of a stack have."""

_STEP = re.compile(r"\s|Traceback \(most recent call last\)|During handling of|The above exception|[^\w]*$")
"""Lines of a stack's trace that are none of its message: they are set in, or say that there is one."""


class ServerLog:
    """The log of one server; what cannot be written is done without."""

    def __init__(self, path: Path, mask: Callable[[str], str]) -> None:
        self.path = path
        self._mask = mask
        self._file: BinaryIO | None = None
        self._size = 0
        self._line = b""
        self._tail = b""
        self._second = 0
        self._taken = 0

    def open(self) -> None:
        """Go on with the file. The lines before stay."""
        with contextlib.suppress(OSError, StorageError):
            private_directory(self.path.parent)
            self.path.touch(mode=0o600)
            self._file = self.path.open("ab", buffering=0)
            self._size = self.path.stat().st_size

    def feed(self, chunk: bytes) -> None:
        """Take what the server wrote. Whole lines are masked and kept; a flood loses its middle."""
        self._tail = (self._tail + chunk)[-TAIL:]
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._taken = second, 0
        if self._taken >= RATE:
            return
        self._taken += len(chunk)
        if self._taken >= RATE:
            chunk += b"\n[more in this second is left out]\n"
        *lines, self._line = (self._line + chunk).split(b"\n")
        if len(self._line) > RATE:
            lines, self._line = [*lines, self._line], b""
        if lines:
            self._write(b"\n".join(lines) + b"\n")

    def note(self, text: str) -> None:
        """Write a line of mcode's own."""
        now = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        self._write(f"-- {now} mcode: {text}\n".encode(errors="replace"))

    def last_words(self) -> str:
        """The last lines that were written, masked; of a stack's trace only what it is about. Empty for none."""
        lines = self._tail.decode(errors="replace").rstrip().splitlines()
        words = [line for line in lines if not _STEP.match(line)] or lines
        return self._mask(" / ".join(line.strip() for line in words[-3:]))

    def close(self) -> None:
        """Write the unfinished line and close the file."""
        if self._line:
            self._write(self._line + b"\n")
            self._line = b""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        data = self._mask(data.decode(errors="replace")).encode(errors="replace")
        with contextlib.suppress(OSError):
            if self._size + len(data) > SIZE_LIMIT // 2:
                self._file.close()
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
                self.path.touch(mode=0o600)
                self._file = self.path.open("ab", buffering=0)
                self._size = 0
            self._file.write(data)
            self._size += len(data)
