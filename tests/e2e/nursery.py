"""Runs of mcode without the seconds that loading the SDK takes: one process has everything loaded and forks for each.

Only for runs that are not about the start. What is left out is the interpreter's own start and the imports; the
rest, from the command line to the exit code, is the program itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]
LONGEST = 1_000_000
"""Bytes of an order: arguments and environment."""


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
        self._answers = self._here.makefile("r")

    def run(
        self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: bytes, limit: float
    ) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of `mcode ARGUMENTS`; TimeoutError after `limit` seconds."""
        order = {"arguments": list(arguments), "cwd": str(cwd), "environment": dict(environment)}
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin)
            given.seek(0)
            files = [given.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._here, [json.dumps(order).encode()], files)
            child = int(self._answers.readline())
            late = threading.Timer(limit, os.kill, (child, signal.SIGKILL))
            late.start()
            code = int(self._answers.readline())
            late.cancel()
            if code == -signal.SIGKILL:
                raise TimeoutError(f"mcode {arguments}: not ended after {limit} s")
            out.seek(0)
            err.seek(0)
            return code, out.read().decode(), err.read().decode()


@cache
def nursery() -> Nursery:
    """The one of this process, started when it is needed first."""
    return Nursery()


def serve(orders: socket.socket) -> None:
    """Fork for each order; answer with the child's number, then with how it ended."""
    load()
    while True:
        message, files, _, _ = socket.recv_fds(orders, LONGEST, 3)
        if not message:
            return
        child = os.fork()
        if child == 0:
            orders.close()
            become_mcode(json.loads(message), files)
        for each in files:
            os.close(each)
        orders.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        orders.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def load() -> None:
    """Import what a run with a model imports, and see that nothing runs beside: a fork copies one thread only."""
    for name in ("mcode.cli", "mcode.start", "mcode.wiring.assembly"):
        importlib.import_module(name)
    from mcode.model.anthropic import preload

    preload()
    gc.freeze()
    if threading.active_count() > 1:
        raise RuntimeError("a thread runs after the imports, so forking is not safe")


def become_mcode(order: dict[str, Any], files: Sequence[int]) -> NoReturn:
    from mcode.__main__ import main

    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["mcode", *order["arguments"]]
    sys.exit(main())


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt), socket.socket(fileno=int(sys.argv[1])) as inherited:
        serve(inherited)
