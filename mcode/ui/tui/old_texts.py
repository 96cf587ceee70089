"""The file that texts from far above in the transcript lie in, so that a long session does not fill the memory.

The session file could not give them back: it is masked, and what was shown is not. This file never has a name
(or has none any more by the time anything is in it), so it ends with the process, however that ends, and what it
holds is sealed, so nobody else can read it meanwhile and nobody at all afterwards.
"""

from __future__ import annotations

import logging
import os
import tempfile
import weakref
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.files.disk import write_all
from mcode.process.output import open_nameless
from mcode.ui.tui.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from mcode.ui.tui.text_holder import TextHolder

_log = logging.getLogger("mcode.ui")


class OldTexts:
    """Takes texts and gives them back. The file is made for the first of them."""

    def __init__(self, directory: Callable[[], Path | None] = lambda: None) -> None:
        """`directory`: the session's own, where there is one by then; else the system's for temporary files."""
        self._directory = directory
        self._file: BinaryIO | None = None
        self._end = 0
        self._seal, self._tries = Seal(), 0
        self.borrowed: deque[TextHolder] = deque()
        """Who has read a text back and still has it, the longest ago first."""

    @property
    def written(self) -> int:
        """Bytes that lie in the file."""
        return self._end

    def keep(self, data: bytes) -> Place | None:
        """Write a text; None where it cannot be written, and then a later try may go better."""
        self._tries += 1  # no number is used twice, though a failed try may have left something
        sealed = self._seal.close(data, self._tries)
        try:
            if self._file is None:
                self._file = self._opened()
                weakref.finalize(self, self._file.close)
            os.lseek(self._file.fileno(), self._end, os.SEEK_SET)
            write_all(self._file.fileno(), sealed)
        except OSError as error:
            _log.warning("old texts stay in memory: %s", error)
            return None
        place = Place(self, self._tries, self._end, len(sealed))
        self._end += len(sealed)
        return place

    def read(self, number: int, start: int, size: int) -> bytes | None:
        """The text of that number; None where it cannot be read any more."""
        if self._file is None:
            return None
        parts: list[bytes] = []
        try:
            while size > 0 and (part := os.pread(self._file.fileno(), size, start)):
                parts.append(part)
                start, size = start + len(part), size - len(part)
        except OSError as error:
            _log.error("an old text cannot be read back: %s", error)
        return self._seal.open(b"".join(parts), number)

    def _opened(self) -> BinaryIO:
        directory = self._directory()
        if directory is not None:
            try:
                return open_nameless(directory)
            except OSError as error:
                _log.info("no file for old texts in %s: %s", directory, error)
        return open_nameless(Path(tempfile.gettempdir()))


class Place:
    """Where a text was written."""

    __slots__ = ("_number", "_size", "_start", "texts")

    def __init__(self, texts: OldTexts, number: int, start: int, size: int) -> None:
        self.texts = texts
        self._number, self._start, self._size = number, start, size

    def read(self) -> bytes | None:
        """The text; None where it cannot be read any more."""
        return self.texts.read(self._number, self._start, self._size)
