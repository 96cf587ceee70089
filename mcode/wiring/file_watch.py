"""Files that hooks are told of when they change: the settings files, and those that FileChanged hooks name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.config.load import settings_files

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.pipeline.hooks import HookRunner
    from mcode.tool import Workspace

    Look = tuple[int, int, int] | None
    """Time, size and inode of a file; None where there is none."""

PAUSE = 1.0
"""Seconds between two looks."""

_SOURCES = {
    "managed": "policy_settings",
    "user": "user_settings",
    "project": "project_settings",
    "local": "local_settings",
}


class FileWatch:
    """Looks at a few files once a second while a session runs; where no hook wants to know, it does nothing."""

    def __init__(self, hooks: HookRunner, places: Places, workspace: Workspace) -> None:
        self._hooks = hooks
        self._workspace = workspace
        self._names = hooks.names("FileChanged")
        self._settings: dict[Path, str] = {}
        if hooks.knows("ConfigChange"):
            files = settings_files(places, workspace.start)
            self._settings = {path: _SOURCES[scope] for scope, path in files}
        self._seen: dict[Path, Look] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take note of how the files are now, and look again and again from then on."""
        if self._settings or self._names:
            self._seen = await asyncio.to_thread(self._look)
            self._task = asyncio.create_task(self._watch())

    def close(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            seen = await asyncio.to_thread(self._look)
            for path, now in seen.items():
                before = self._seen.get(path, now)  # seen for the first time: the directory is a new one
                if now != before:
                    self._tell(path, before, now)
            self._seen = seen

    def _look(self) -> dict[Path, Look]:
        named = (self._workspace.current / name for name in sorted(self._names))
        return {path: _signature(path) for path in (*self._settings, *named)}

    def _tell(self, path: Path, before: Look, now: Look) -> None:
        if path in self._settings:
            source = self._settings[path]
            self._hooks.observe("ConfigChange", {"source": source, "file_path": str(path)}, source)
        if path.name in self._names:
            what = "add" if before is None else "unlink" if now is None else "change"
            self._hooks.observe("FileChanged", {"file_path": str(path), "event": what}, path.name)


def _signature(path: Path) -> Look:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
