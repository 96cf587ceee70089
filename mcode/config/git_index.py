"""Which files git tracks, read from the index file; git is not asked. What is not understood counts as tracked."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from mcode.config.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE_LIMIT = 256_000_000
"""Bytes of an index that is read; a larger one is not understood."""

FIXED = 40
"""Bytes of an entry before its hash."""

SPARSE_DIRECTORY = 0o040000


class IndexNotUnderstood(Exception):  # noqa: N818 -- no error: it has an answer
    """The index has a form that is not read here."""


def is_tracked(git: Path, name: str) -> bool:
    """True where the index in the git directory lists `name` (ASCII, with slashes, from the root).

    Upper and lower case are not told apart, because some file systems do not either.
    """
    try:
        data = read_plain(git / "index", SIZE_LIMIT)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return _lists(data, name.lower().encode())
    except (IndexNotUnderstood, struct.error, IndexError, ValueError):
        return True


def tracked_files(git: Path, most: int) -> tuple[tuple[str, str], ...] | None:
    """Each file that the index in the git directory lists, from the root, with the id of its content.

    None where there are more than `most`. Raises OSError, and IndexNotUnderstood for what is not read here.
    """
    try:
        data = read_plain(git / "index", SIZE_LIMIT)
    except FileNotFoundError:
        return ()
    try:
        signature, version, count = struct.unpack_from(">4sLL", data)
        if signature != b"DIRC" or version not in (2, 3, 4):
            raise IndexNotUnderstood
        if count > most:
            return None
        hash_size = _hash_size(data) or 20
        found: list[tuple[str, str]] = []
        position = 12
        for name, _, following in _entries(data, version, count, hash_size):
            found.append((os.fsdecode(name), data[position + FIXED : position + FIXED + hash_size].hex()))
            position = following
        _check_extensions(data, position, len(data) - hash_size)
    except (struct.error, IndexError, ValueError):
        raise IndexNotUnderstood from None
    return tuple(found)


def _lists(data: bytes, name: bytes) -> bool:
    hash_size = _hash_size(data)
    signature, version, count = struct.unpack_from(">4sLL", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise IndexNotUnderstood
    lowered = data.lower()
    whole_names = version < 4 and hash_size > 0
    if whole_names and not any(mark in lowered for mark in (name, b"link", b"sdir")):
        return False
    end = len(data) - (hash_size or 20)
    position = 12
    for entry, mode, following in _entries(data, version, count, hash_size or 20):
        position = following
        if entry.lower() == name:
            return True
        if mode == SPARSE_DIRECTORY and name.startswith(entry.lower()):
            raise IndexNotUnderstood
    _check_extensions(data, position, end)
    return False


def _hash_size(data: bytes) -> int:
    """Bytes of a hash, told by which sum over the content is right; 0 where git was told to write no sum."""
    import hashlib  # loads OpenSSL; only where a project has local settings of ours

    if len(data) < 32:
        raise IndexNotUnderstood
    if hashlib.sha1(data[:-20], usedforsecurity=False).digest() == data[-20:]:
        return 20
    if len(data) >= 44 and hashlib.sha256(data[:-32]).digest() == data[-32:]:
        return 32
    if data[-20:] == bytes(20):
        return 0
    raise IndexNotUnderstood


def _entries(data: bytes, version: int, count: int, hash_size: int) -> Iterator[tuple[bytes, int, int]]:
    """Each entry's name, its mode, and where the next one begins."""
    position, previous = 12, b""
    for _ in range(count):
        start = position
        (mode,) = struct.unpack_from(">L", data, start + 24)
        (flags,) = struct.unpack_from(">H", data, start + FIXED + hash_size)
        position = start + FIXED + hash_size + 2
        if flags & 0x4000:
            if version == 2:
                raise IndexNotUnderstood
            position += 2
        if version == 4:
            strip, position = _variable_number(data, position)
            if strip > len(previous):
                raise IndexNotUnderstood
            previous = previous[: len(previous) - strip]
        end = data.index(b"\0", position)
        name = previous + data[position:end] if version == 4 else data[position:end]
        length = flags & 0x0FFF
        if not name or length != min(len(name), 0x0FFF):
            raise IndexNotUnderstood
        position = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        previous = name
        yield name, mode, position


def _variable_number(data: bytes, position: int) -> tuple[int, int]:
    """Git's offset encoding: seven bits a byte, each continuation adding one."""
    byte = data[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = data[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1


def _check_extensions(data: bytes, position: int, end: int) -> None:
    """Refuse extensions that change what the entries mean: those whose name begins with a small letter."""
    while position < end:
        signature, size = struct.unpack_from(">4sL", data, position)
        if not b"A" <= signature[:1] <= b"Z":
            raise IndexNotUnderstood
        position += 8 + size
    if position != end:
        raise IndexNotUnderstood
