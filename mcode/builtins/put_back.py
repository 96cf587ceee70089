"""Reads and writes files for a rewind, by the same means as the file tools."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.builtins.handles import open_directory, read_regular
from mcode.builtins.refusal import UNCHANGED, RefusalError, explain
from mcode.builtins.replacement import replace_content
from mcode.session.rewind import Present

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.builtins.handles import Snapshot


@dataclass(frozen=True, slots=True)
class UserFiles:
    """Fulfils `session.rewind.FileAccess`."""

    records: Path
    """Where temporaries are announced, so that a killed run's are removed."""

    def look_at(self, path: Path) -> Present | None:
        """The present content; None where there is no file. Raises RefusalError."""
        snapshot = self._snapshot(path)
        return None if snapshot is None else Present(snapshot.raw, stat.S_IMODE(snapshot.status.st_mode))

    def put(self, path: Path, content: bytes, mode: int | None) -> None:
        """Make it the file's content, at once and whole, with these permission bits. Raises RefusalError."""
        replace_content(path, self._snapshot(path), content, self.records)
        if mode is None:
            return
        try:
            with open_directory(path.parent) as directory:
                status = directory.status(path.name)
                if status is not None and stat.S_IMODE(status.st_mode) != mode:
                    os.chmod(path.name, mode, dir_fd=directory.descriptor)
        except OSError as error:
            after = "Its content is the old one; its permission bits are not."
            raise explain(error, "Restoring the permission bits of", path, after) from None

    def remove(self, path: Path, content: bytes) -> None:
        """Remove the file where it holds `content`. Raises RefusalError."""
        try:
            with open_directory(path.parent) as directory:
                snapshot = read_regular(directory, path.name)
                if snapshot is None or snapshot.raw != content:
                    raise RefusalError(f"{path} was changed a moment ago. {UNCHANGED}")
                os.unlink(path.name, dir_fd=directory.descriptor)
                directory.sync()
        except OSError as error:
            raise explain(error, "Removing", path) from None

    def _snapshot(self, path: Path) -> Snapshot | None:
        try:
            with open_directory(path.parent) as directory:
                return read_regular(directory, path.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise explain(error, "Opening", path) from None
