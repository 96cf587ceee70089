"""Starting one program: in a session of its own, with clean signals, dying with mcode where the system can."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

_DIES_WITH_PARENT = (Path("/usr/bin/setpriv"), Path("/bin/setpriv"))
"""Linux' own wrapper that makes the kernel end a program with the thread that started it."""


def start_program(
    argv: tuple[str, ...],
    cwd: Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    extra: int | None,
) -> subprocess.Popen[bytes]:
    """Start a program that has the three `streams` (a negative number: /dev/null), `extra`, and nothing else.

    Raises OSError where that cannot be done; FileNotFoundError and PermissionError name the program or `cwd`.
    """
    stdin, stdout, stderr = (subprocess.DEVNULL if stream < 0 else stream for stream in streams)
    argv = _with_parent_death(_located(argv, cwd, environment.get("PATH", os.defpath)))
    with _no_signal_blocked():
        return subprocess.Popen(
            argv,
            cwd=str(cwd),
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=() if extra is None else (extra,),
            start_new_session=True,
        )


def _located(argv: tuple[str, ...], cwd: Path, path: str) -> tuple[str, ...]:
    """The arguments with the program as a path, since the wrapper would hide that it is missing."""
    program = argv[0]
    found = str(cwd / program) if os.sep in program else shutil.which(program, path=path)
    if found is None or not Path(found).exists():
        if not cwd.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(cwd))
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    if not os.access(found, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)
    return (found, *argv[1:])


def _with_parent_death(argv: tuple[str, ...]) -> tuple[str, ...]:
    # The kernel means the starting thread, so only one that lives as long as mcode may ask for it.
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return argv
    wrapper = _parent_death_wrapper()
    return (*wrapper, "--", *argv) if wrapper else argv


@lru_cache(maxsize=1)
def _parent_death_wrapper() -> tuple[str, ...]:
    """The wrapper's first arguments; empty where it is missing or too old.

    Its file tells whether it knows the option: trying it out would hold up the event loop for as long as a busy
    machine takes to run a program.
    """
    for program in _DIES_WITH_PARENT:
        with contextlib.suppress(OSError):
            if os.access(program, os.X_OK) and b"pdeathsig" in program.read_bytes():
                return (str(program), "--pdeathsig", "KILL")
    return ()


@contextlib.contextmanager
def _no_signal_blocked() -> Generator[None]:
    """Let the child start with no signal blocked, whatever this thread has blocked."""
    blocked = signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
