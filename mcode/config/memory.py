"""Memory files: the instructions that the model reads at the start, and those of directories it gets to later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.memory_files import Ground, Memory, MemoryFile
from mcode.config.memory_gathering import Gathering
from mcode.config.plain_file import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.trust import Item

__all__ = ["Memory", "MemoryFile", "load_memory", "memory_for"]


def load_memory(
    places: Places,
    start: Path,
    excludes: Sequence[str] = (),
    *,
    approved: Callable[[Item], bool] | None = None,
) -> Memory:
    """Everything that applies at the start: managed files, the user's, then those from `/` down to `start`.

    `approved` says whether an import that leads out of a project is read; without it none is.

    `start` is absolute and resolved. A missing file is nothing; one that cannot be used becomes a notice. Reads
    files and may take a while: call it in a thread.
    """
    globs = tuple(str(places.home) + glob[1:] if glob.startswith("~/") else glob for glob in excludes)
    gathering = Gathering(Memory(start, places.home, globs, approved))
    managed, user = Ground("managed", start), Ground("user", start)
    for directory in reversed(places.managed):
        gathering.add(directory / "CLAUDE.md", managed)
    gathering.add(places.claude / "CLAUDE.md", user)
    gathering.add_first([places.state / "AGENTS.override.md", places.state / "AGENTS.md"], user)
    gathering.add_rules(places.claude / "rules", user)
    for directory in (*reversed(start.parents), start):
        gathering.add_directory(directory)
    return gathering.memory


def memory_for(memory: Memory, path: Path) -> Memory:
    """The memory after a file was read: with the files of its directories below the start, and matching rules.

    What is new stands at the end of `files` and `notices`; where nothing is new the same files stand there.
    """
    try:
        real = resolve(path)
    except OSError:
        return memory
    gathering = Gathering(memory)
    for directory in reversed(real.parents):
        if memory.start in directory.parents and directory not in memory.directories:
            gathering.add_directory(directory)
    gathering.wake_rules(real)
    return gathering.memory
