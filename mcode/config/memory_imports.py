"""Imports of instruction files that lead out of their project: what the user is asked about, once for each path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.plain_file import is_inside
from mcode.config.trust import MEMORY_IMPORT, Item

if TYPE_CHECKING:
    from pathlib import Path


def import_item(path: Path, real: Path, importer: Path, folder: Path) -> Item:
    """The import of `path`, which is the file `real`, by a file of `folder` or one that it has brought in.

    Approval is for the place, not for what stands there: a link that leads elsewhere later is asked about again.
    """
    import hashlib  # loads OpenSSL; only where something leads out

    file = importer.relative_to(folder) if is_inside(importer, folder) else importer
    digest = hashlib.sha256(str(real).encode(errors="surrogateescape")).hexdigest()
    return Item(MEMORY_IMPORT, f"{file}: {path}", digest, folder, {"file": str(file), "brings in": str(real)})
