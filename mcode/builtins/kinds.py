"""What kind of file is at a path: file tools work on regular files only, and name any other kind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mcode.builtins.refusal import RefusalError

_KERNEL_FILE_SYSTEMS = frozenset(
    {
        *("proc", "sysfs", "debugfs", "tracefs", "configfs", "securityfs", "selinuxfs", "efivarfs", "pstore"),
        *("cgroup", "cgroup2", "bpf", "devpts", "mqueue", "fusectl", "binfmt_misc", "nsfs", "rpc_pipefs"),
    }
)
"""File systems whose files are made by the kernel while they are read: no fixed size, no fixed content."""

_NAMES = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO (named pipe)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)

_ADVICE = {
    "a directory": "Use Glob to list it, or name a file in it.",
    "a symbolic link": "The path changed while it was being used; repeat the call.",
}


def kind_of(status: os.stat_result) -> str:
    """Name what a status describes: `a regular file`, `a directory`, `a file made by the kernel`, ..."""
    for test, name in _NAMES:
        if test(status.st_mode):
            return name
    if not stat.S_ISREG(status.st_mode):
        return "neither a file nor a directory"
    if status.st_dev in _kernel_devices():
        return "a file made by the kernel"
    return "a regular file"


def require_regular(status: os.stat_result, path: Path) -> None:
    """Raise RefusalError, naming the kind, for anything but a regular file."""
    kind = kind_of(status)
    if kind != "a regular file":
        advice = _ADVICE.get(kind, "Use Bash if it has to be used.")
        raise RefusalError(
            f"{path} is {kind}; file tools work on regular files only. Nothing was done. {advice}"
        )


def _kernel_devices() -> frozenset[int]:
    """Device numbers of the mounted kernel file systems; empty where the system has no list of mounts."""
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    devices: set[int] = set()
    for line in table.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if separator and after.split(" ")[0] in _KERNEL_FILE_SYSTEMS and len(fields) > 2:
            major, _, minor = fields[2].partition(":")
            devices.add(os.makedev(int(major), int(minor)))
    return frozenset(devices)
