"""A session's private files as running calls need them: output too large for the model, and bytes for undo."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.images.store import DIRECTORY, ImageStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.call import Call
    from mcode.session.store import OpenSession


class SideFiles:
    """Files in the session's own directory, readable by the user alone."""

    def __init__(
        self,
        session: OpenSession,
        *,
        mask: Callable[[str], str],
        without_undo: Callable[[str], None] | None = None,
    ) -> None:
        """`mask` replaces mcode's own keys.

        `without_undo`: a change is made although its old bytes cannot be kept, and this gets a text that says so;
        with None such a change is refused.
        """
        self._session = session
        self._without_undo = without_undo
        self._mask = mask
        self.images = ImageStore(session.directory / DIRECTORY)
        """The session's images; a copy of the session takes them along, as it does its other values."""

    def spill_path(self, suffix: str) -> Path:
        """A fresh path; nobody else makes a file of this name."""
        return self._session.directory / f"output-{secrets.token_hex(4)}{suffix}"

    def keep_text(self, text: str) -> Path:
        """Write a text to a fresh file and return its path; raises StorageError."""
        path = self.spill_path(".txt")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(self._mask(text))
        except OSError as error:
            raise StorageError(
                f"The whole output could not be kept in {path}: {error.strerror}. The session is unchanged; "
                "make room on that disk and try again."
            ) from error
        return path

    async def keep_bytes(self, call: Call, path: Path, old: bytes | None, mode: int | None) -> None:
        """Store what a file held before `call` changes it; raises StorageError unless it may go on without."""
        try:
            await self._session.undo.keep(path, old, mode, call.id)
        except StorageError as error:
            if self._without_undo is None:
                raise
            why = str(error).partition(". ")[0]
            self._without_undo(
                f"{path}: a rewind will not bring back what it held (mcode.undoRequired is false). {why}."
            )

    async def note_left(self, call: Call, path: Path, new: bytes) -> None:
        """Store what `call` left in a file. Without it, undoing takes the file for changed by somebody else."""
        with contextlib.suppress(StorageError):
            await self._session.undo.note_left(path, new, call.id)
