"""Suggests existing paths for one that does not exist."""

from __future__ import annotations

import difflib
import os
from itertools import islice
from typing import TYPE_CHECKING

from mcode.builtins.paths import printable, resolve

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.tool import Workspace

_LOOKED_AT = 2_000
"""Entries of the directory that are compared."""
_NAMED = 3


def similar_names(path: Path, workspace: Workspace) -> list[str]:
    """Names like the missing one in its directory; only inside the workspace, where names may be told."""
    directory = resolve(path.parent)
    if not any(directory.is_relative_to(root) for root in workspace.roots):
        return []
    try:
        with os.scandir(directory) as entries:
            names = {entry.name.lower(): entry.name for entry in islice(entries, _LOOKED_AT)}
    except OSError:
        return []
    close = difflib.get_close_matches(path.name.lower(), names, n=_NAMED)
    return [printable(names[name]) for name in close]
