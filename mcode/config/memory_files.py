"""What is loaded of the memory files, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.config.trust import Item


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file of instructions, as the model reads it."""

    path: Path
    text: str
    """Without block comments and front matter, cut to size."""
    scope: str
    """`managed`, `user`, `project` or `local`."""
    imported_by: Path | None = None
    """The file that names this one with `@`."""
    note: str = ""
    """What the user should see beside it in a list."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Whose a file is, and how far its links and imports may lead."""

    scope: str
    base: Path
    """What the globs of rules are relative to."""
    fence: Path | None = None
    """Nothing outside this directory is read on the file's word; None for the user's and managed files."""


@dataclass(frozen=True, slots=True)
class ScopedRule:
    """A file of rules that waits until a file is read which one of its globs matches."""

    path: Path
    globs: tuple[str, ...]
    ground: Ground


@dataclass(frozen=True, slots=True)
class Memory:
    """What has been loaded so far. Files and notices are only ever added at the end."""

    start: Path
    home: Path
    excludes: tuple[str, ...] = ()
    """Globs of absolute paths that are never loaded."""
    approved: Callable[[Item], bool] | None = None
    """Whether the user approved an import that leads out of a project; None: no such import is read."""
    files: tuple[MemoryFile, ...] = ()
    """In the order in which the model reads them: the nearest last."""
    waiting: tuple[ScopedRule, ...] = ()
    notices: tuple[str, ...] = ()
    """What was not loaded, or not whole, and why."""
    imports: tuple[Item, ...] = ()
    """Imports of project files that lead out of the project, whether approved or not."""
    directories: frozenset[Path] = frozenset()
    """Directories whose files were looked for."""
    seen_paths: frozenset[Path] = frozenset()
    """Resolved paths that were loaded, or that another file replaces."""
    seen_texts: frozenset[str] = frozenset()
    """Texts that were loaded; the same content is never loaded twice."""
