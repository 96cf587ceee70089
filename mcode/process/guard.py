"""A guard beside mcode: it ends watched families of processes when mcode itself is killed.

The kernel ends the program that mcode started, but not what that program started. So while families are watched,
a small process of its own waits at a pipe that only mcode holds open; `guard_child.py` says what it does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

_PROGRAM = Path(__file__).with_name("guard_child.py")
_FAMILY = "MCODE_FAMILY"
"""Where mcode runs below another mcode, the guard belongs to the family that mcode belongs to."""


class Guard:
    """Runs the guard's process while there is something to watch. Used from one thread."""

    def __init__(self) -> None:
        self._watched: dict[str, int] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, mark: str, leader: int) -> None:
        """End the family with this mark and leader should mcode die; 0 for a leader that has ended.

        Where the guard cannot be started, the family still ends with mcode in every way but SIGKILL.
        """
        self._watched[mark] = leader
        if self._tell(f"+ {mark} {leader}\n"):
            return
        self._leave()
        with contextlib.suppress(OSError):
            self._process = _start()
            for known, pid in self._watched.items():
                self._tell(f"+ {known} {pid}\n")

    def forget(self, mark: str) -> None:
        """The family is gone. The guard ends with the last one."""
        if self._watched.pop(mark, None) is None:
            return
        self._tell(f"- {mark}\n")
        if not self._watched:
            self._leave()

    def _tell(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(line.encode())
        except OSError:
            return False
        return True

    def _leave(self) -> None:
        """Close the guard's input, whereupon it ends; it is reaped beside the loop."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        threading.Thread(target=process.wait, daemon=True).start()


GUARD = Guard()
"""The one guard of this process."""


def _start() -> subprocess.Popen[bytes]:
    inherited = {_FAMILY: os.environ[_FAMILY]} if _FAMILY in os.environ else {}
    return subprocess.Popen(
        (sys.executable, "-I", "-S", str(_PROGRAM)),
        bufsize=0,
        cwd="/",
        env=inherited,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
