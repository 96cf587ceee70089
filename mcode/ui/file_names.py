"""Names of files in the workspace, for completion after `@`. Bounded, read in a thread, ignores honoured."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

from mcode.builtins.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_ENTRIES = 20_000
_SECONDS = 1.0
_FRESH = 5.0
"""Seconds for which the names that were read are good enough."""
_OFFERED = 50


class FileNames:
    """The files below the directories of the workspace. No link is followed, so nothing outside is ever named."""

    def __init__(self, roots: Callable[[], Sequence[Path]]) -> None:
        self._roots = roots
        self._names: tuple[str, ...] = ()
        self._read_at = float("-inf")
        self._reading: asyncio.Task[tuple[str, ...]] | None = None

    async def matching(self, typed: str) -> list[str]:
        """Names that fit what stands after the `@`, the best first; relative to the start directory where below it."""
        names = await self._fresh_names()
        wanted = typed.lower()
        ranked = [
            (rank, len(name), name) for name in names if (rank := _rank(name.lower(), wanted)) is not None
        ]
        return [name for _, _, name in sorted(ranked)[:_OFFERED]]

    async def _fresh_names(self) -> tuple[str, ...]:
        if time.monotonic() - self._read_at > _FRESH:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(asyncio.to_thread(_read_names, tuple(self._roots())))
            # Completion is cancelled by the next key; the walk goes on for the one after it.
            self._names = await asyncio.shield(self._reading)
            self._read_at = time.monotonic()
        return self._names


def _rank(name: str, wanted: str) -> int | None:
    base = name.rpartition("/")[2]
    if base.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    return 2 if wanted in name else None


def _read_names(roots: Sequence[Path]) -> tuple[str, ...]:
    names: list[str] = []
    for at, root in enumerate(roots):
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            walk = Walk(root, entries=_ENTRIES, seconds=_SECONDS)
            before = "" if at == 0 else f"{root}/"
            names += [before + file.path for file in walk.files(descriptor) if file.path.isprintable()]
        finally:
            os.close(descriptor)
    return tuple(names)
