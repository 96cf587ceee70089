"""What files held before mcode's tools changed them, kept so that the changes can be undone without git.

A session's store is a directory: `objects/` holds contents, each once, named by its SHA-256; `index.jsonl`
says which file held which content before which call. Content is on the disk before the index names it, and
the index before the change is made. Contents are kept byte for byte, so they are not masked; the store is
readable by the user alone and outside the repository.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcode.errors import StorageError
from mcode.files import flush, flush_directory, private_directory, replace_file, storage_error
from mcode.files.disk import write_all

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject

ABSENT = "absent"
"""Stands for the content of a file that does not exist."""

STORE_LIMIT = 1024 * 1024 * 1024
"""Bytes that the contents of all sessions may take together."""


@dataclass(frozen=True, slots=True)
class UndoEntry:
    """One file as it was before one call changed it."""

    sequence: int
    """From 1 in its session; entries are undone from the highest."""
    call_id: str
    path: str
    """Absolute; bytes that are no UTF-8 as surrogate escapes, as `os.fsdecode` makes them."""
    old: str
    """Hash of the content before the call, or ABSENT."""
    mode: int | None
    """Permission bits before the call; None where the file was absent or its mode unknown."""
    new: str | None
    """Hash of the content that the call left, or ABSENT; None where nobody told."""
    time: str
    """When it was kept: UTC, ISO 8601."""


class UndoStore:
    """The old contents of one session. Its methods may be called from several tasks at once."""

    def __init__(self, directory: Path, *, limit: int = STORE_LIMIT) -> None:
        """`directory` is made at the first `keep`. `limit`: bytes that the contents of this session may take."""
        self.directory = directory
        self._limit = limit
        self._guard = threading.Lock()
        self._sequence: int | None = None

    async def keep(self, path: Path, old: bytes | None, mode: int | None, call_id: str) -> str:
        """Keep what `path` holds (None: there is no such file) before the call `call_id` changes it.

        Returns the content's hash, or ABSENT, when content and index are on the disk. Raises StorageError where
        they cannot be; the change must then not be made.
        """
        return await asyncio.to_thread(self._keep, path, old, mode, call_id)

    async def note_left(self, path: Path, new: bytes | None, call_id: str) -> str:
        """Tell what the call left in the file, so that undoing can see whether somebody changed it since.

        Returns the content's hash, or ABSENT. Raises StorageError.
        """
        return await asyncio.to_thread(self._note_left, path, new, call_id)

    def entries(self) -> tuple[UndoEntry, ...]:
        """Everything that was kept, oldest first; lines that a crash damaged are passed over."""
        kept: dict[int, JsonObject] = {}
        left: dict[tuple[str, str], str] = {}
        for line in self._lines():
            if "left" in line:
                left[line["call"], line["path"]] = line["left"]
            else:
                kept[line["seq"]] = line
        return tuple(
            UndoEntry(
                sequence=sequence,
                call_id=line["call"],
                path=line["path"],
                old=line["old"],
                mode=line["mode"],
                new=left.get((line["call"], line["path"])),
                time=line["time"],
            )
            for sequence, line in sorted(kept.items())
        )

    def read(self, content: str) -> bytes:
        """The content of that hash. Raises StorageError where it is gone (the store is bounded) or damaged."""
        path = self._object(content)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise StorageError(
                f"The old content {content[:16]} is no longer kept: the store of old contents holds {self._limit} "
                "bytes, and the oldest go first. Nothing was changed; restore the file from your version control."
            ) from None
        except OSError as error:
            raise storage_error("The old content could not be read", path, error) from error
        if hashlib.sha256(data).hexdigest() != content:
            raise StorageError(
                f"The old content {content[:16]} in {path} is damaged: it is not what was kept. Nothing was changed; "
                "restore the file from your version control."
            )
        return data

    def size(self) -> int:
        """Bytes of all contents that are kept."""
        return sum(size for _, size, _ in self._objects())

    def _keep(self, path: Path, old: bytes | None, mode: int | None, call_id: str) -> str:
        with self._guard:
            content = ABSENT if old is None else self._keep_content(old)
            self._append(
                {
                    "seq": self._next_sequence(),
                    "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "call": call_id,
                    "path": os.fspath(path),
                    "old": content,
                    "mode": mode,
                }
            )
            return content

    def _note_left(self, path: Path, new: bytes | None, call_id: str) -> str:
        with self._guard:
            content = ABSENT if new is None else hashlib.sha256(new).hexdigest()
            self._append({"call": call_id, "path": os.fspath(path), "left": content})
            return content

    def _keep_content(self, old: bytes) -> str:
        if len(old) > self._limit:
            raise StorageError(
                f"The old content of the file ({len(old)} bytes) cannot be kept for undo: all contents together may "
                f"take {self._limit} bytes. Nothing was changed. Change the file with a shell command, or set "
                "`mcode.undoRequired` to false to work without undo."
            )
        content = hashlib.sha256(old).hexdigest()
        path = self._object(content)
        with contextlib.suppress(OSError):
            if path.stat().st_size == len(old):
                os.utime(path)  # used again: it is no longer among the oldest
                return content
        self._make_room(len(old))
        private_directory(path.parent)
        replace_file(path, old)
        flush_directory(path.parent.parent)
        return content

    def _make_room(self, wanted: int) -> None:
        """Drop the oldest contents until `wanted` more bytes fit."""
        objects = sorted(self._objects())
        excess = sum(size for _, size, _ in objects) + wanted - self._limit
        for _, size, path in objects:
            if excess <= 0:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                excess -= size

    def _append(self, line: JsonObject) -> None:
        path = private_directory(self.directory) / "index.jsonl"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            is_new = not path.exists()
            descriptor = os.open(path, flags, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                write_all(descriptor, (b"\n" if torn else b"") + json.dumps(line).encode() + b"\n")
                flush(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("The index of old contents could not be written", path, error) from error
        if is_new:
            flush_directory(self.directory)

    def _next_sequence(self) -> int:
        last = self._sequence
        if last is None:
            last = max((int(line["seq"]) for line in self._lines() if "seq" in line), default=0)
        self._sequence = last + 1
        return last + 1

    def _lines(self) -> list[JsonObject]:
        try:
            data = (self.directory / "index.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error(
                "The index of old contents could not be read", self.directory, error
            ) from error
        lines: list[JsonObject] = []
        for text in data.split(b"\n"):
            with contextlib.suppress(ValueError):
                value: Any = json.loads(text)
                if isinstance(value, dict) and _is_line(cast("JsonObject", value)):
                    lines.append(cast("JsonObject", value))
        return lines

    def _objects(self) -> list[tuple[int, int, Path]]:
        """Time of last use in nanoseconds, bytes, and path of each content."""
        return list_objects(self.directory)

    def _object(self, content: str) -> Path:
        return self.directory / "objects" / content[:2] / content


def list_objects(directory: Path) -> list[tuple[int, int, Path]]:
    """Time of last use in nanoseconds, bytes, and path of each content that a store holds."""
    found: list[tuple[int, int, Path]] = []
    for path in directory.glob("objects/??/*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    return found


def _is_line(value: JsonObject) -> bool:
    if not (isinstance(value.get("call"), str) and isinstance(value.get("path"), str)):
        return False
    if "left" in value:
        return isinstance(value["left"], str)
    return (
        isinstance(value.get("seq"), int)
        and isinstance(value.get("old"), str)
        and isinstance(value.get("time"), str)
        and isinstance(value.get("mode"), int | None)
    )
