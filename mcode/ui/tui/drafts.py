"""The unsent draft and the queue of a session on disk, so that neither is lost with the process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.errors import StorageError
from mcode.files import private_directory, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.masking import Masker

_PAUSE = 0.5
"""Seconds after a change until it is written; later changes go along."""


class DraftFile:
    """One small file beside the session's journal. Secrets are masked in it."""

    def __init__(self, path: Path, masker: Masker, complain: Callable[[str], None]) -> None:
        self._path = path
        self._masker = masker
        self._complain = complain
        self._draft = ""
        self._queued: tuple[str, ...] = ()
        self._written: tuple[str, tuple[str, ...]] = ("", ())
        self._timer: asyncio.TimerHandle | None = None
        self._writer: asyncio.Task[None] | None = None
        self._failed = False

    def load(self) -> tuple[str, tuple[str, ...]]:
        """The draft, and what was queued and not sent; a file that cannot be read counts as empty."""
        try:
            kept = jsontext.parse_object(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return "", ()
        queued: object = kept.get("queued")
        texts = [str(text) for text in cast("list[object]", queued)] if isinstance(queued, list) else []
        self._written = str(kept.get("draft", "")), tuple(texts)
        self._draft, self._queued = self._written
        return self._written

    def keep(self, draft: str, queued: Sequence[str]) -> None:
        """Note what is unsent now."""
        self._draft, self._queued = draft, tuple(queued)
        if self._timer is None and (self._draft, self._queued) != self._written:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._begin)

    async def finish(self) -> None:
        """Write what is left to write."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writer is not None:
            await self._writer
        await self._write()

    def _begin(self) -> None:
        self._timer = None
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        else:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._begin)

    async def _write(self) -> None:
        now = (self._draft, self._queued)
        if now == self._written or self._failed:
            return
        try:
            await asyncio.to_thread(self._replace, *now)
            self._written = now
        except (StorageError, OSError) as error:
            self._failed = True
            self._complain(f"The draft could not be kept on disk: {error}. It stays in the prompt.")

    def _replace(self, draft: str, queued: tuple[str, ...]) -> None:
        if not draft.strip() and not queued:
            self._path.unlink(missing_ok=True)
            return
        private_directory(self._path.parent)
        mask = self._masker.mask
        kept = {"draft": mask(draft), "queued": [mask(text) for text in queued]}
        replace_file(self._path, jsontext.dump(kept).encode("utf-8", "replace"))
