"""What the user has typed in earlier sessions of a folder, for the Up key. Secrets are masked in the file."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError
from mcode.files import FileLock, private_directory, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.masking import Masker

_KEPT = 1000
"""Entries in the file, over all folders; the oldest go first."""

_LONGEST = 20_000
"""Characters of one entry; a longer draft is not worth keeping whole."""

_PATIENCE = 2.0
"""Seconds to wait for another session that writes."""


class HistoryFile:
    """One line of JSON an entry: text, directory, time. Shared by all sessions of the user."""

    def __init__(self, path: Path, directory: Path, masker: Masker, complain: Callable[[str], None]) -> None:
        """`complain` is told, once the prompt is up, why entries are not kept."""
        self._path = path
        self._directory = str(directory)
        self._masker = masker
        self._complain = complain
        self._unwritten: list[str] = []
        self._writer: asyncio.Task[None] | None = None
        self._failed = False
        self._unreadable = ""

    def load(self) -> list[str]:
        """What was typed in this folder, oldest first. A file that cannot be read counts as empty."""
        try:
            entries, _ = _parse(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            self._unreadable = (
                f"The history {self._path} cannot be read ({error.strerror}) and is left alone."
            )
            return []
        texts = [str(entry["text"]) for entry in entries if entry.get("directory") == self._directory]
        return _without_repeats(texts)

    def add(self, text: str) -> None:
        """Keep an entry; it is written in a thread."""
        self._unwritten.append(text)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())

    def add_at_end(self, text: str) -> None:
        """Keep an entry that `finish` writes."""
        self._unwritten.append(text)

    async def finish(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            await self._writer
        await self._write_all()

    async def _write_all(self) -> None:
        if self._unreadable and not self._failed:
            self._fail(self._unreadable)
        while self._unwritten and not self._failed:
            texts, self._unwritten = self._unwritten, []
            try:
                await asyncio.to_thread(self._write, texts)
            except (StorageError, OSError) as error:
                self._fail(f"The history could not be written: {error}. The session goes on without it.")

    def _fail(self, text: str) -> None:
        self._failed = True
        self._complain(text)

    def _write(self, texts: Sequence[str]) -> None:
        private_directory(self._path.parent)
        with FileLock(self._path.with_name(f"{self._path.name}.lock"), wait=_PATIENCE):
            try:
                old = self._path.read_bytes()
            except FileNotFoundError:
                old = b""
            entries, unreadable = _parse(old)
            if unreadable:
                replace_file(self._path.with_name(f"{self._path.name}.bad-{time.time_ns()}"), old)
            elif old:
                replace_file(self._path.with_name(f"{self._path.name}.bak"), old)
            entries += [self._entry(text) for text in texts]
            lines = "".join(jsontext.dump(entry) + "\n" for entry in entries[-_KEPT:])
            replace_file(self._path, lines.encode("utf-8", "replace"))

    def _entry(self, text: str) -> JsonObject:
        return {
            "text": self._masker.mask(text[:_LONGEST]),
            "directory": self._directory,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }


def _parse(data: bytes) -> tuple[list[JsonObject], bool]:
    """The entries, and whether anything in the file was none."""
    entries: list[JsonObject] = []
    unreadable = False
    for line in data.decode("utf-8", "replace").split("\n"):
        if not line.strip():
            continue
        try:
            entry = jsontext.parse_object(line)
        except jsontext.JsonError:
            unreadable = True
            continue
        if isinstance(entry.get("text"), str):
            entries.append(entry)
        else:
            unreadable = True
    return entries, unreadable


def _without_repeats(texts: Sequence[str]) -> list[str]:
    """Each text once, where it stands last."""
    return list(dict.fromkeys(reversed(texts)))[::-1]
