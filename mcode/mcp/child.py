"""The process of a stdio server: started in a session of its own, and ended with all of its descendants."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from mcode.process.end import EndWatch
from mcode.process.start import start_program
from mcode.process.tree import MARK, Family, adopt_orphans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    _Add = Callable[[int, Callable[[], None]], None]
    _Remove = Callable[[int], bool]

LEAVE_TIME = 1.0
"""Seconds that a server has to leave by itself when its input is closed."""

TERMINATE_TIME = 1.0
"""Seconds between SIGTERM and SIGKILL."""

CHUNK = 64 * 1024


class Pipe:
    """One end of a pipe of ours, read or written without ever blocking the loop."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()

    async def read(self) -> bytes:
        """The next chunk; empty at the end."""
        while self._descriptor >= 0:
            try:
                return os.read(self._descriptor, CHUNK)
            except BlockingIOError:
                await self._ready(self._loop.add_reader, self._loop.remove_reader)
            except OSError:
                break
        return b""

    async def write(self, data: bytes) -> None:
        """Write everything. Raises OSError where nobody reads any more."""
        view = memoryview(data)
        while view:
            if self._descriptor < 0:
                raise BrokenPipeError("the pipe is closed")
            try:
                view = view[os.write(self._descriptor, view[:CHUNK]) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer)

    async def _ready(self, add: _Add, remove: _Remove) -> None:
        ready: asyncio.Future[None] = self._loop.create_future()
        descriptor = self._descriptor
        add(descriptor, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            if self._descriptor == descriptor:
                remove(descriptor)

    def close(self) -> None:
        """Give the descriptor back; whoever waits for it must have been cancelled before."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


class ServerProcess:
    """One started server with its three pipes."""

    def __init__(self, argv: tuple[str, ...], cwd: Path, environment: Mapping[str, str]) -> None:
        """Start it, on the loop's thread. Raises OSError where that cannot be done, ValueError for a NUL."""
        adopt_orphans()
        self._family = Family(lasting=True)
        self._watch = EndWatch()
        self.exited = self._watch.ended
        """Set when the process has ended; what it started may live on until `end`."""
        ends: list[int] = []
        try:
            for _ in range(3):
                ends += os.pipe()
            stdin_end, stdin, stdout, stdout_end, stderr, stderr_end = ends
            self._process = start_program(
                argv, cwd, {**environment, MARK: self._family.mark}, (stdin_end, stdout_end, stderr_end), None
            )
        except (OSError, ValueError):
            for end in ends:
                os.close(end)
            raise
        for end in (stdin_end, stdout_end, stderr_end):
            os.close(end)
        self._family.begin(
            self._process.pid, frozenset(f"pipe:[{os.fstat(end).st_ino}]" for end in (stdin, stdout, stderr))
        )
        self.stdin, self.stdout, self.stderr = Pipe(stdin), Pipe(stdout), Pipe(stderr)
        self._watch.begin(self._process)

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """The code of the process that has ended, negative for a signal; it is not reaped by this."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.returncode
        with contextlib.suppress(ChildProcessError):
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        return None

    async def end(self) -> str:
        """Close its input, wait, then SIGTERM, then SIGKILL to all that came from it; says how it ended.

        Takes `LEAVE_TIME + TERMINATE_TIME` and a moment at most, and is not to be cancelled.
        """
        self.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_TIME):
                await self.exited.wait()
        await self._family.end(TERMINATE_TIME)
        self._family.leave()
        code = self._process.poll()
        self.stdout.close()
        self.stderr.close()
        self._watch.close()
        return describe_end(code)


def describe_end(code: int | None) -> str:
    """How a process ended, as a part of a sentence."""
    if code is None:
        return "it could not be ended"
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"{signal.Signals(-code).name} ended it"
    except ValueError:
        return f"signal {-code} ended it"
