"""Runs of mcode without the seconds that loading the SDK takes: one process has everything loaded and forks for each.

Only for runs that are not about the start. What is left out is the interpreter's own start and the imports; the
rest, from the command line to the exit code, is the program itself. Each run leads a session of processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import TextIOWrapper

ROOT = Path(__file__).parents[2]
LONGEST = 1_000_000
"""Bytes of an order: arguments and environment."""

LATE = (
    "mcode.cli",
    "mcode.command_line",
    "mcode.start",
    "mcode.wiring.assembly",
    "mcode.wiring.arriving",
    "mcode.ui.line.app",
    "mcode.ui.tui.app",
    "mcode.ui.tui.late_parts",
)
"""What runs with a model import, headless and in both front ends."""


@dataclass(frozen=True, slots=True)
class Order:
    """One run of mcode."""

    arguments: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    program: str = ""
    """Python text that runs in place of `-m mcode`."""
    closed: Sequence[int] = ()
    """Standard streams that are closed when it starts."""


class Forked:
    """A run of mcode that goes on by itself."""

    def __init__(self, answers: int) -> None:
        self._answers: TextIOWrapper = os.fdopen(answers, "r")
        self.pid = int(self._answers.readline())
        self._code: int | None = None

    def wait(self) -> int:
        """The exit code, once it has ended; below 0 it is the signal that ended it."""
        if self._code is None:
            with self._answers:
                self._code = int(self._answers.readline())
        return self._code

    def ended(self, patience: float = 0) -> bool:
        """Whether it ends within so many seconds."""
        return self._code is not None or bool(select.select([self._answers], [], [], patience)[0])

    def kill(self, number: int = signal.SIGKILL) -> None:
        if not self.ended():
            os.kill(self.pid, number)


class Piped:
    """A run that goes on by itself and writes into pipes, in the words of `subprocess.Popen`."""

    def __init__(self, forked: Forked, out: int, err: int) -> None:
        self._forked = forked
        self.stdout = os.fdopen(out, "rb")
        self._stderr = os.fdopen(err, "rb")

    @property
    def returncode(self) -> int:
        return self._forked.wait()

    def poll(self) -> int | None:
        return self._forked.wait() if self._forked.ended() else None

    def send_signal(self, number: int) -> None:
        self._forked.kill(number)

    def errors(self) -> bytes:
        """All that it still writes on standard error, to its end."""
        with self._stderr:
            return self._stderr.read()

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """What it still writes; TimeoutError, and it is killed, where it has not ended after so many seconds."""
        late = threading.Timer(timeout, self._forked.kill)
        late.start()
        errors: list[bytes] = []
        reading = threading.Thread(target=lambda: errors.append(self._stderr.read()))
        reading.start()
        with self.stdout, self._stderr:
            rest = self.stdout.read()
            reading.join()
        self._forked.wait()
        if late.finished.is_set():
            raise TimeoutError(f"not ended after {timeout} s: {errors[0].decode()}")
        late.cancel()
        return rest, errors[0]


class Nursery:
    """The process with everything loaded; it ends with the one that has started it."""

    def __init__(self) -> None:
        self._here, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.nursery", str(there.fileno())],
                cwd=ROOT,
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def run(self, order: Order, stdin: bytes, limit: float) -> tuple[int, str, str]:
        """Exit code, standard output and standard error; TimeoutError after `limit` seconds."""
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin)
            given.seek(0)
            child = self._start(order, [given.fileno(), out.fileno(), err.fileno()], terminal=False)
            if not child.ended(limit):
                child.kill()
                raise TimeoutError(f"mcode {order.arguments}: not ended after {limit} s")
            out.seek(0)
            err.seek(0)
            return child.wait(), out.read().decode(), err.read().decode()

    def begin(self, order: Order, stdin: int | None = None, stdout: int | None = None) -> Piped:
        """Start it with these to read and to write, which stay open here; else with nothing and with a pipe."""
        (out, writing_out), (err, writing_err) = os.pipe(), os.pipe()
        reading = os.open(os.devnull, os.O_RDONLY) if stdin is None else os.dup(stdin)
        if stdout is not None:
            os.dup2(stdout, writing_out)
        streams = [reading, writing_out, writing_err]
        try:
            return Piped(self._start(order, streams, terminal=False), out, err)
        finally:
            for each in streams:
                os.close(each)

    def converse(self, order: Order, stdin: int, stdout: int) -> Forked:
        """Start it with these to read and to write; its errors go where ours go."""
        return self._start(order, [stdin, stdout, 2], terminal=False)

    def start(self, order: Order, terminal: int) -> Forked:
        """Start it with a terminal as its three streams."""
        return self._start(order, [terminal] * 3, terminal=True)

    def _start(self, order: Order, streams: Sequence[int], *, terminal: bool) -> Forked:
        told = {
            "arguments": list(order.arguments),
            "cwd": str(order.cwd),
            "environment": dict(order.environment),
            "program": order.program,
            "closed": list(order.closed),
            "terminal": terminal,
        }
        answers, answering = os.pipe()
        try:
            socket.send_fds(self._here, [json.dumps(told).encode()], [*streams, answering])
        finally:
            os.close(answering)
        return Forked(answers)


@cache
def nursery() -> Nursery:
    """The one of this process, started when it is needed first."""
    return Nursery()


def serve(orders: socket.socket) -> None:
    """Fork for each order a process that forks mcode and answers with its number, then with how it ended."""
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how those that watch have ended
    while True:
        message, files, _, _ = socket.recv_fds(orders, LONGEST, 4)
        if not message:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            orders.close()
            watch(json.loads(message), files)
        for each in files:
            os.close(each)


def load() -> None:
    """Import what a run with a model imports, and see that nothing runs beside: a fork copies one thread only.

    Sessions search by words alone, as without the extra `semantic`, whose vectors cost each of them seconds.
    """
    for name in LATE:
        importlib.import_module(name)
    from mcode.catalog import meaning
    from mcode.mcp import library
    from mcode.model.anthropic import preload

    library.load()
    preload()
    meaning.missing = lambda: "numpy, for these tests"
    gc.freeze()
    if threading.active_count() > 1:
        raise RuntimeError("a thread runs after the imports, so forking is not safe")


def watch(order: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Fork mcode, and stay until it has ended."""
    *streams, answering = files
    child = os.fork()
    if child == 0:
        os.close(answering)
        become_mcode(order, streams)
    for each in streams:
        os.close(each)
    os.write(answering, f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(answering, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def become_mcode(order: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    from mcode.__main__ import main

    os.setsid()
    if order["terminal"]:
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, each in enumerate(streams):
        os.dup2(each, number)
    for each in (*streams, *order["closed"]):
        os.close(each)
    open_streams()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["mcode", *order["arguments"]]
    if order["program"]:
        exec(compile(order["program"], "<program>", "exec"), {"__name__": "__main__"})
    sys.exit(main())


def open_streams() -> None:
    """Python's own streams, as it makes them at its start: None for what is closed."""
    sys.stdin = sys.__stdin__ = opened(0)
    sys.stdout = sys.__stdout__ = opened(1)
    sys.stderr = sys.__stderr__ = errors = opened(2)
    if errors is not None:
        errors.reconfigure(line_buffering=True)


def opened(number: int) -> Any:
    try:
        return open(number, "w" if number else "r", encoding="utf-8", closefd=False)
    except OSError:
        return None


if __name__ == "__main__":
    orders = socket.socket(fileno=int(sys.argv[1]))
    with contextlib.suppress(KeyboardInterrupt), orders:
        serve(orders)
