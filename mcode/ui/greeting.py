"""The first line of every front end: which mcode, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import __version__
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from pathlib import Path

NAME = f"mcode {__version__}"


def head_line(start: Path, home: Path) -> str:
    """Name, version and directory; clean."""
    return f"{NAME}   {clean(_short(str(start), str(home)), Kind.LINE)}"


def _short(directory: str, home: str) -> str:
    if directory == home:
        return "~"
    return f"~{directory.removeprefix(home)}" if directory.startswith(f"{home}/") else directory
