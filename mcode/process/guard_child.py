"""The guard's own program: ends what mcode has left running when mcode dies without a chance to do it itself.

It is started with `python -I -S` and reads lines from standard input, which only mcode holds open: `+ MARK PID` to
watch a family of processes and its leader (0: it has ended), `- MARK` to forget it. When the input ends, every
family that is still watched ends with it. Nothing of mcode is imported here.
"""

from __future__ import annotations

import os
import signal
import sys
import time

MARK = b"MCODE_FAMILY="
_QUIET = 2
"""Looks in a row that must find nobody."""
_TIME = 3.0
"""Seconds until the guard gives up on processes that do not die."""


def main() -> None:
    """Watch until the input ends."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    families: dict[bytes, int] = {}
    for line in sys.stdin.buffer:
        match line.split():
            case [b"+", mark, leader]:
                families[mark] = int(leader)
            case [b"-", mark]:
                families.pop(mark, None)
            case _:
                pass
    if families:
        end(families)


def end(families: dict[bytes, int]) -> None:
    """Kill every member of the families until none is found any more."""
    deadline, quiet = time.monotonic() + _TIME, 0
    while quiet < _QUIET and time.monotonic() < deadline:
        found = members(families) if sys.platform == "linux" else groups(families)
        quiet = 0 if found else quiet + 1
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(0.005)


def groups(families: dict[bytes, int]) -> list[int]:
    """The leaders' groups that still live, as `os.kill` names them; where the system does not tell more."""
    found: list[int] = []
    for leader in set(families.values()) - {0}:
        try:
            os.killpg(leader, 0)
        except (ProcessLookupError, PermissionError):
            continue
        found.append(-leader)
    return found


def members(families: dict[bytes, int]) -> list[int]:
    """Processes of the families: by session, by the mark in their environment, or by descent from such a one."""
    marks = {MARK + mark for mark in families}
    leaders = set(families.values()) - {0}
    children: dict[int, list[int]] = {}
    waiting: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- names only, and nothing but the barest modules here
        if not name.isdigit() or int(name) == os.getpid():
            continue
        pid = int(name)
        found = _look(pid)
        if found is None:
            continue
        parent, session = found
        children.setdefault(parent, []).append(pid)
        if session in leaders or not marks.isdisjoint(_environment(pid)):
            waiting.append(pid)
    own: set[int] = set()
    while waiting:
        pid = waiting.pop()
        if pid not in own:
            own.add(pid)
            waiting += children.get(pid, ())
    return sorted(own)


def _look(pid: int) -> tuple[int, int] | None:
    """Parent and session of a process that lives."""
    line = _read(f"/proc/{pid}/stat")
    if not line:
        return None
    state, parent, _, session, *_ = line[line.rindex(b")") + 2 :].split()
    return None if state in {b"Z", b"X"} else (int(parent), int(session))


def _environment(pid: int) -> list[bytes]:
    return _read(f"/proc/{pid}/environ").split(b"\0")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- nothing but the barest modules here
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    main()
