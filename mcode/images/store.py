"""Where a session keeps its images: one file each, named by its content, beside the session's other values."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from mcode.files import private_directory, replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.images.picture import Picture
    from mcode.jsontext import JsonObject

DIRECTORY = "values"
"""Of a session's images, in its directory."""

_ID = re.compile(r"[0-9a-f]{64}\Z")


def pasted_name(number: int, media_type: str) -> str:
    """The name of the file of an image that was pasted."""
    from mcode.images.formats import SUFFIXES

    return f"pasted-{number}{SUFFIXES[media_type]}"


def is_pasted(path: Path) -> bool:
    """True for the path of an image that was pasted into a session."""
    return path.parent.name == DIRECTORY and path.stem.removeprefix("pasted-").isdecimal()


class ImageStore:
    """The images of one session. A copy of the session takes them along."""

    def __init__(self, directory: Path) -> None:
        """`directory` is made when the first image is kept."""
        self.directory = directory

    def keep(self, picture: Picture) -> JsonObject:
        """Write an image down, durably; what stands for it in the conversation. Raises StorageError."""
        block = picture.block
        path = self._path(block)
        if path is not None and not path.exists():
            private_directory(self.directory)
            replace_file(path, picture.data)
        return block

    def load(self, block: JsonObject) -> bytes | None:
        """The bytes of an image; None where its file is missing or holds something else."""
        path = self._path(block)
        try:
            data = path.read_bytes() if path is not None else b""
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == block.get("id") else None

    def _path(self, block: JsonObject) -> Path | None:
        from mcode.images.formats import SUFFIXES

        identifier, suffix = str(block.get("id", "")), SUFFIXES.get(str(block.get("media_type", "")))
        return self.directory / f"{identifier}{suffix}" if suffix and _ID.match(identifier) else None
