"""What a session knows of the user's files: what was read and in which state, and what is being changed."""

from __future__ import annotations

import asyncio
import hashlib
import unicodedata
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcode.builtins.content import decode
from mcode.builtins.difference import compare
from mcode.builtins.handles import open_directory, read_regular
from mcode.builtins.leftovers import remove_leftovers
from mcode.builtins.paths import Targets, resolve
from mcode.builtins.refusal import RefusalError
from mcode.text import show_control

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

    from mcode.jsontext import JsonObject

FILES_LIMIT = 10_000
"""Files whose state is remembered; the longest unused are forgotten first."""
CACHE_LIMIT = 16 * 1024 * 1024
"""Bytes of contents kept to show what changed."""
CACHED_FILE_LIMIT = 1024 * 1024
DIFF_LINES = 40
"""Lines of a difference that are shown to the model."""


class FileState:
    """Remembers, for one session, the content hash of each file as the session last saw it.

    `records` is a private directory for the records of temporary files (`leftovers`); None keeps none. The state
    passes into a session's record by `remembered` and comes back by `restore`.
    """

    def __init__(self, records: Path | None = None) -> None:
        self.records = records
        self.targets = Targets()
        self._hashes: OrderedDict[str, str] = OrderedDict()
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._cached = 0
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def lock(self, target: Path) -> AsyncGenerator[None]:
        """Hold the lock of one resolved path: from the check of a file's hash to its replacement."""
        key = unicodedata.normalize("NFC", str(target)).casefold()
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)

    def remember(self, target: Path, raw: bytes) -> None:
        """Note that the session has seen this content of a file, or has written it."""
        key = str(target)
        self._hashes[key] = _hash(raw)
        self._hashes.move_to_end(key)
        if len(self._hashes) > FILES_LIMIT:
            self._hashes.popitem(last=False)
        self._cached -= len(self._contents.pop(key, b""))
        if len(raw) <= CACHED_FILE_LIMIT:
            self._contents[key] = raw
            self._cached += len(raw)
        while self._cached > CACHE_LIMIT:
            _, dropped = self._contents.popitem(last=False)
            self._cached -= len(dropped)

    def knows(self, target: Path) -> bool:
        """True where the session has read or written the file."""
        return str(target) in self._hashes

    def is_fresh(self, target: Path, raw: bytes) -> bool:
        """True where this is the content that the session last saw."""
        return self._hashes.get(str(target)) == _hash(raw)

    def drift(self, target: Path, raw: bytes) -> str | None:
        """How a file differs from what was last seen, as a short diff; None where that is not known any more."""
        seen = self._contents.get(str(target))
        if seen is None:
            return None
        lines = show_control(compare(decode(seen).text, decode(raw).text, target.name).text).splitlines()[2:]
        if not lines:
            return "(only bytes that the text does not show: line endings or the encoding)"
        rest = [f"({len(lines) - DIFF_LINES} more lines differ)"] if len(lines) > DIFF_LINES else []
        return "\n".join(lines[:DIFF_LINES] + rest)

    async def refresh(
        self, path: Path, left: Callable[[Path, bytes], Awaitable[None]], *, later: bool = False
    ) -> str | None:
        """Take note of what hooks made of a file that the session has just changed.

        Returns a sentence with a short diff for the model where the file is different now, else None. `left` is told
        what is in it then, so that it can be undone with the call. `later`: the model does not get the sentence any
        more, so its new state does not count as read.
        """
        try:
            target = resolve(path)
        except RefusalError:
            return None
        if not self.knows(target):
            return None
        async with self.lock(target):
            found = await asyncio.to_thread(self._difference, target)
            if found is None:
                return None
            text, raw = found
            await left(
                target, raw
            )  # first: where this is interrupted, the next look finds the file as before
            if not later:
                await asyncio.to_thread(self.remember, target, raw)
            return text

    def _difference(self, target: Path) -> tuple[str, bytes] | None:
        try:
            with open_directory(target.parent) as directory:
                now = read_regular(directory, target.name)
        except (OSError, RefusalError):
            return None
        if now is None or self.is_fresh(target, now.raw):
            return None
        difference = self.drift(target, now.raw)
        text = f"{target} was changed by a hook after this call; its new state counts as read."
        return text if difference is None else f"{text}\n{difference}", now.raw

    def remembered(self) -> JsonObject:
        """The state as a small JSON object: the hash of each file by its path."""
        return {"files": dict(self._hashes)}

    def forget(self) -> None:
        """The session has seen nothing, as where the model no longer knows what it has read."""
        self._hashes.clear()
        self._contents.clear()
        self._cached = 0

    def restore(self, state: JsonObject) -> None:
        """Take over what `remembered` gave in an earlier run of the session. Foreign shapes are passed over."""
        files = state.get("files")
        if isinstance(files, dict):
            for path, digest in files.items():  # pyright: ignore[reportUnknownVariableType] -- JSON from disk
                if isinstance(path, str) and isinstance(digest, str):
                    self._hashes[path] = digest

    async def remove_leftovers(self) -> tuple[Path, ...]:
        """Remove temporary files that killed runs left behind; for the start of a session."""
        return await asyncio.to_thread(remove_leftovers, self.records) if self.records else ()


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
