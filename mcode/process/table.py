"""The processes below mcode, as the system lists them at one moment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One process as the system listed it."""

    pid: int
    parent: int
    group: int
    session: int
    """0 where the system does not tell (macOS)."""
    started: int
    """Clock ticks since the system's start: with the pid it names a process for good. 0 where unknown."""
    ended: bool
    """Dead, but not yet reaped by its parent."""


def snapshot() -> list[ProcessEntry]:
    """List every process below mcode's own; where the system cannot tell, every process there is.

    Nothing is frozen meanwhile: who must be sure asks again until two answers agree.
    """
    if sys.platform == "linux" and _lists_children():
        return _walk()
    return _from_ps()


def environment_holds(pid: int, entry: bytes) -> bool:
    """Whether a live process was started with the variable `entry`, such as b"NAME=value". Linux only."""
    try:
        return entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def open_files(pid: int) -> set[str]:
    """What the descriptors of a process refer to, such as `pipe:[1234]`. Linux only; empty if unreadable."""
    found: set[str] = set()
    directory = f"/proc/{pid}/fd"
    try:
        names = os.listdir(directory)  # noqa: PTH208 -- names only, and called for many processes
    except OSError:
        return found
    for name in names:
        try:
            found.add(os.readlink(f"{directory}/{name}"))  # noqa: PTH115 -- as above
        except OSError:
            continue
    return found


def _lists_children() -> bool:
    """Kernels can be built without the file that names a task's children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _walk() -> list[ProcessEntry]:
    found: list[ProcessEntry] = []
    waiting = _children(os.getpid())
    while waiting:
        entry = _read(waiting.pop())
        if entry is not None:
            found.append(entry)
            if not entry.ended:
                waiting.extend(_children(entry.pid))
    return found


def _children(pid: int) -> list[int]:
    directory = f"/proc/{pid}/task"
    children: list[int] = []
    try:
        threads = os.listdir(directory)  # noqa: PTH208 -- names only, and called for many processes
    except OSError:
        return children
    for thread in threads:
        try:
            children += map(int, Path(f"{directory}/{thread}/children").read_bytes().split())
        except OSError:
            continue
    return children


def _read(pid: int) -> ProcessEntry | None:
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The program's name stands in parentheses and may hold any byte: the fields begin behind the last one.
    state, parent, group, session, *rest = line[line.rindex(b")") + 2 :].split()
    return ProcessEntry(
        pid, int(parent), int(group), int(session), started=int(rest[15]), ended=state in {b"Z", b"X"}
    )


def _from_ps() -> list[ProcessEntry]:
    try:
        listed = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,stat="],
            capture_output=True,
            check=False,
            timeout=5,
            env={},
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    entries: list[ProcessEntry] = []
    for line in listed.splitlines():
        pid, parent, group, state = line.split(maxsplit=3)
        entries.append(ProcessEntry(int(pid), int(parent), int(group), 0, 0, ended=state.startswith(b"Z")))
    return entries
