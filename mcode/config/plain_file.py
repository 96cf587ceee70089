"""Reads a file of an untrusted folder: regular files only, bounded in size, never blocking."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_plain(path: Path, limit: int) -> bytes:
    """The first `limit` + 1 bytes of a file; more than `limit` bytes means that it is larger.

    Raises OSError, also for what is no plain file (a pipe would block for ever, a device never ends), and
    for a name that no file can have.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "not a possible file name") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a plain file")
        return file.read(limit + 1)


def resolve(path: Path) -> Path:
    """The path without links, as far as it exists. Raises OSError where links run in a circle."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError):
        raise OSError(errno.ELOOP, "links in a circle, or not a possible file name") from None


def is_inside(path: Path, directory: Path) -> bool:
    """True for the directory itself and everything beneath it; both without links."""
    return path == directory or directory in path.parents


def reason(error: OSError) -> str:
    """Why the system refused, in its own words."""
    return error.strerror or type(error).__name__
