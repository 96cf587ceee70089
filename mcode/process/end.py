"""Waits for the end of a process without reaping it, so that its number is not reused before it is reaped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


class EndWatch:
    """Watches one process from the loop's thread; where the system has no pidfd, a thread waits (and reaps)."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        """Set when the process has ended, or the watch is closed; what the process started may live on."""
        self._loop = asyncio.get_running_loop()
        self._descriptor = -1

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """Watch the process, which has just been started."""
        try:
            self._descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # not Linux, or an old one
            threading.Thread(target=self._wait_in_thread, args=(process,), daemon=True).start()
        else:
            self._loop.add_reader(self._descriptor, self.close)

    def close(self) -> None:
        """Give the descriptor back and let go of whoever waits."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        self.ended.set()

    def _wait_in_thread(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self.ended.set)
