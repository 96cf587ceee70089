"""Bodies too large for a line of the session file: each in a file of its own, named by its hash."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, cast

from mcode.files import private_directory, replace_file
from mcode.session.records import SIDE_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject


class SideValues:
    """The side files of one session."""

    def __init__(self, directory: Path) -> None:
        """`directory` is made when the first value is kept."""
        self.directory = directory

    def keep(self, text: str) -> str:
        """Write a body's JSON text durably and return its hash. Raises StorageError."""
        data = text.encode()
        name = hashlib.sha256(data).hexdigest()
        private_directory(self.directory)
        replace_file(self._path(name), data)
        return name

    def load(self, name: str) -> JsonObject | None:
        """The body of that hash; None where the file is missing or its content is another."""
        if SIDE_NAME.fullmatch(name) is None:
            return None
        try:
            data = self._path(name).read_bytes()
            if hashlib.sha256(data).hexdigest() != name:
                return None
            value: Any = json.loads(data)
        except (OSError, ValueError):
            return None
        return cast("JsonObject", value) if isinstance(value, dict) else None

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.json"
