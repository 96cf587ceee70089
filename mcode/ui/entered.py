"""What was entered in this folder, from the first key on: the history's file is there only once a session is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.ui.history import HistoryFile


class Entered:
    """The entries, oldest first, and the file that keeps them."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._file: HistoryFile | None = None

    def open(self, file: HistoryFile) -> None:
        """Read the file; what was entered before stands behind what it holds, and is written to it."""
        early, self.texts, self._file = self.texts, file.load(), file
        for text in early:
            self.add(text)

    def add(self, text: str) -> None:
        """Keep an entry."""
        self.texts.append(text)
        if self._file is not None:
            self._file.add(text)

    def add_at_end(self, text: str) -> None:
        """Keep an entry that `finish` writes."""
        if self._file is not None:
            self._file.add_at_end(text)

    async def finish(self) -> None:
        """Write what is left."""
        if self._file is not None:
            await self._file.finish()
