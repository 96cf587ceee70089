"""Watching over the processes and descriptors that a test leaves behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.process.table import snapshot
from mcode.process.tree import forget_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def living() -> set[int]:
    """Pids of all processes below this one that live."""
    found, entries = {os.getpid()}, snapshot()
    while new := {entry.pid for entry in entries if entry.parent in found} - found:
        found |= new
    return {entry.pid for entry in entries if entry.pid in found and not entry.ended} - {os.getpid()}


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Look again and again until something is true; returns whether it became so."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@contextlib.contextmanager
def no_process_left() -> Generator[None]:
    """Fail when what ran inside has left a process behind; ends it all the same.

    The guard that watches over background families ends with the last of them, so it counts too: mcode looks for
    families that have ended at every command, and here. It is waited for as long as a busy machine may need.
    """
    before = living()

    def nothing_left() -> bool:
        forget_ended()
        return not living() - before

    yield
    if not wait_until(nothing_left):
        left = {pid: command_of(pid) for pid in living() - before}
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"left behind: {left}")


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "?"


def is_alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has reaped does not."""
    return any(entry.pid == pid and not entry.ended for entry in snapshot())


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))
