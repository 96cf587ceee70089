"""The sandbox's own program: gives up rights, then becomes the command. Linux only, with Landlock.

It is started as `python -I -S sandbox_child.py BOUNDS PROGRAM ARGUMENT...`; BOUNDS is a JSON object with the
members of `Bounds`. Nothing of mcode is imported here. Whatever of the bounds cannot be put in place ends it with
code 125 and a sentence: the command is never run with less.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
from pathlib import Path
from typing import NoReturn, TypedDict

FAILED = 125

_LEAST = 3
"""Versions of Landlock before this one let every file be emptied."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1

_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE = 1 << 4 | 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))
_REFER = 1 << 13
WRITING = _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE
"""Every right of Landlock that changes files; reading and running stay free."""
_ON_FILES = _WRITE_FILE | _TRUNCATE

_TCP = 1 << 0 | 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
_KEPT_FLAGS = {os.ST_NOSUID: 2, os.ST_NODEV: 4, os.ST_NOEXEC: 8, os.ST_NOATIME: 1024, os.ST_RELATIME: 1 << 21}
"""Flags of a mount that a namespace may not take away, as statvfs and as mount know them."""

_SET_DEATH_SIGNAL, _GET_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 2, 38

DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")


class Bounds(TypedDict):
    """What the command may do."""

    writable: list[str]
    """Directories, each with everything beneath."""
    read_only: list[str]
    """Paths beneath those that stay as they are."""
    network: bool
    namespace: bool
    """Make namespaces of users and mounts, and without network one of that: else TCP alone is refused, and
    directories with something read-only in them take no new entries."""


def main(arguments: list[str]) -> NoReturn:
    """Take on the bounds and become the command."""
    bounds: Bounds = json.loads(arguments[0])
    try:
        confine(bounds)
        os.execv(arguments[1], arguments[1:])  # noqa: S606 -- this program becomes the command
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"The sandbox could not be set up, so nothing was run: {what}{error.strerror}\n")
        sys.exit(FAILED)


def confine(bounds: Bounds) -> None:
    """Give up every right beyond the bounds, for good. Raises OSError."""
    died = ctypes.c_int()
    _check(_libc.prctl(_GET_DEATH_SIGNAL, ctypes.byref(died), 0, 0, 0))
    if bounds["namespace"]:
        _enter_namespaces(bounds)
        # The kernel forgets it with the change of rights.
        _check(_libc.prctl(_SET_DEATH_SIGNAL, died.value, 0, 0, 0))
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _restrict(bounds)


def landlock_version() -> int:
    """The version of Landlock that the kernel speaks; 0 for none."""
    version = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    return max(0, version)


def _enter_namespaces(bounds: Bounds) -> None:
    user, group = os.geteuid(), os.getegid()
    wanted = _NEW_USER | _NEW_MOUNTS | (0 if bounds["network"] else _NEW_NETWORK)
    _check(_libc.unshare(wanted))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, "ascii")
    _check(_libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    for path in bounds["read_only"]:
        name = os.fsencode(path)
        _check(_libc.mount(name, name, None, _MS_BIND, None), path)
        given = os.statvfs(path).f_flag
        kept = sum(flag for known, flag in _KEPT_FLAGS.items() if given & known)
        _check(_libc.mount(None, name, None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | kept, None), path)


def _restrict(bounds: Bounds) -> None:
    version = landlock_version()
    if version < _LEAST:
        raise OSError(errno.ENOSYS, f"the kernel's Landlock is version {version}, and {_LEAST} is needed")
    scoped = (_SIGNALS | (0 if bounds["network"] else _ABSTRACT_SOCKETS)) if version >= 6 else 0
    tcp = 0 if bounds["network"] or version < 4 else _TCP
    attributes = (ctypes.c_uint64 * 3)(WRITING, tcp, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset: int = _check(_libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), size, 0))
    for path in (*_writable(bounds), *(f"/dev/{name}" for name in DEVICES)):
        _allow(ruleset, path)
    _check(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _writable(bounds: Bounds) -> list[str]:
    """The directories. Without a namespace the entries of those in which something must stay as it is: Landlock
    takes nothing back of what it gives for a whole directory. Links are left out: they may lead elsewhere."""
    if bounds["namespace"]:
        return bounds["writable"]
    found: list[str] = []
    for root in map(Path, bounds["writable"]):
        kept = {path for path in map(Path, bounds["read_only"]) if path.parent == root}
        entries = root.iterdir() if kept else (root,)
        found += (str(entry) for entry in entries if entry not in kept and not entry.is_symlink())
    return found


def _allow(ruleset: int, path: str) -> None:
    """Let everything at and beneath a path be changed; what is not there needs no rule."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.EACCES):
            return
        raise
    rights = WRITING if Path(path).is_dir() else _ON_FILES
    rule = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder, signed=True)
    try:
        _check(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), path)
    finally:
        os.close(descriptor)


def _check(result: int, path: str | None = None) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result


_libc = ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main(sys.argv[1:])
