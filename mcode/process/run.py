"""One child process, from its start to its end.

Each runs in a session of its own, without a terminal, with nothing of mcode's but what its spec names. When the
process has ended the run is over, whoever still holds its pipes; when its time is over or the awaiting task is
cancelled, everything that came from it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.process.end import EndWatch
from mcode.process.leash import Leash
from mcode.process.masking import mask_file
from mcode.process.output import Captured, OutputRecorder, Shown
from mcode.process.pipes import Pipes
from mcode.process.start import start_program
from mcode.process.tree import MARK, Family, adopt_orphans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

AT_ONCE = 0.005
"""Seconds in which the end of the output is seen where nobody but the program itself held it."""

LEAVING = 0.1
"""Seconds that a process which has just let the output go may take to end, before it counts as left behind."""

AFTER_END = 0.25
"""Seconds that output is waited for after the process has ended."""

_EXTRA_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What to run, and within which bounds."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    """The whole environment, such as `child_environment` builds."""
    stdin: bytes = b""
    """What the process reads; then, or at once where empty, end of file."""
    timeout: float | None = None
    """Seconds until the process and all that came from it are ended; None for no limit."""
    output_limit: int = 512 * 1024
    """Bytes of each stream that are kept whole for the caller."""
    shown_limit: int = 0
    """Characters of merged text that the caller will show; 0 for none."""
    spill: Path | None = None
    """Where the whole output is kept when it passes `shown_limit`; its directory also takes nameless files.
    Without it all that is kept stays in memory, 1 MB a stream at most."""
    spill_always: bool = False
    """Make the file at `spill` at the start, so that others can read along."""
    secrets: tuple[tuple[bytes, bytes], ...] = ()
    """Exact values that must not stand in the file at `spill`, each with the mark that replaces it."""
    mask: Callable[[str], str] | None = None
    """Takes all that looks like a secret out of the file at `spill` when the run is over; larger files than
    its limit keep what has no exact value in `secrets`. Not with `spill_always`: others read along."""
    guarded: bool = False
    """End the process and all that came from it even where mcode itself is killed (`guard.py`)."""
    grace: float = 2.0
    """Seconds between SIGTERM and SIGKILL."""
    extra_variable: str = ""
    """Variable that tells the process the number of one more descriptor to write to; empty for none."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended and what it wrote."""

    exit_code: int | None
    """None where a signal ended it."""
    signal: str | None
    """Name of that signal, such as `SIGKILL`."""
    stdout: Captured
    stderr: Captured
    timed_out: bool
    interrupted: bool
    """True in what a cancelled run carries (see `run_process`), never in what it returns."""
    duration: float
    """Seconds by the monotonic clock."""
    left_running: int
    """Processes of this run that live on; `end_all_children` ends them."""
    extra: bytes = b""
    """What was written to the extra descriptor, up to 64 KB."""
    shown: Shown = field(default_factory=Shown)
    """Both streams merged, where `shown_limit` asked for it."""


async def run_process(
    spec: ProcessSpec, on_output: Callable[[bytes], None] | None = None, leash: Leash | None = None
) -> ProcessResult:
    """Run a program to its end; `on_output` gets each chunk of either stream as it arrives.

    Cancelling the awaiting task ends the process tree first; the CancelledError that is raised then has the
    ProcessResult so far as its only argument. Raises OSError where the program cannot be started, and ValueError
    where the system cannot express an argument or a variable (a NUL in it).
    """
    run = _Run(spec, on_output)
    leash = leash or Leash()
    leash.hold(run.release)
    try:
        run.start()
        try:
            timed_out = await run.wait()
            await run.read_rest()
        except asyncio.CancelledError as cancelled:
            await run.end()
            so_far = run.result(interrupted=True)
            cancelled.args = (so_far,)
            await _mask_file(spec, so_far, leash)
            raise
        result = run.result(timed_out=timed_out)
        await _mask_file(spec, result, leash)
        return result
    finally:
        run.close()


async def _mask_file(spec: ProcessSpec, result: ProcessResult, leash: Leash) -> None:
    """Search the kept output for secrets, in a thread, unless others read along."""
    file = result.shown.file
    if spec.mask is not None and file is not None and not (spec.spill_always or leash.let_go):
        await asyncio.to_thread(mask_file, file, spec.mask)


class _Run:
    """One process from its start to its result. Everything happens on the loop's thread."""

    def __init__(self, spec: ProcessSpec, on_output: Callable[[bytes], None] | None) -> None:
        self._spec = spec
        self._on_output = on_output
        self._family = Family()
        self._process: subprocess.Popen[bytes] | None = None
        self._recorder = OutputRecorder(
            spec.output_limit,
            spec.shown_limit,
            spec.spill,
            secrets=spec.secrets,
            spill_always=spec.spill_always,
        )
        self._extra = bytearray()
        self._pipes = Pipes(lambda: spec.spill_always and self._recorder.is_full)
        self._watch = EndWatch()
        self._limit: asyncio.Timeout | None = None
        self._began = time.monotonic()

    def start(self) -> None:
        """Start the program and begin to read its output."""
        spec = self._spec
        adopt_orphans()
        stdout, stdout_end = self._pipes.make()
        stderr, stderr_end = self._pipes.make()
        stdin_end, stdin = self._pipes.make() if spec.stdin else (-1, -1)
        extra, extra_end = self._pipes.make() if spec.extra_variable else (None, None)
        environment = {**spec.env, MARK: self._family.mark}
        if extra_end is not None:
            environment[spec.extra_variable] = str(extra_end)
        if spec.guarded:
            self._family.guard_from_the_start()
        try:
            self._process = start_program(
                spec.argv, spec.cwd, environment, (stdin_end, stdout_end, stderr_end), extra_end
            )
        except (OSError, ValueError):
            self._family.not_started()
            raise
        self._family.begin(
            self._process.pid,
            frozenset(_pipe_name(end) for end in (stdout, stderr, extra) if end is not None),
        )
        if spec.guarded:
            self._family.guard()
        for end in (stdout_end, stderr_end, stdin_end, extra_end):
            self._pipes.close(end)
        self._pipes.read(stdout, lambda chunk: self._take(0, chunk))
        self._pipes.read(stderr, lambda chunk: self._take(1, chunk))
        if extra is not None:  # it need not come to its end: what matters came before the program's
            self._pipes.read(extra, self._take_extra, awaited=False)
        if spec.stdin:
            self._pipes.write(stdin, spec.stdin)
        self._watch.begin(self._process)

    async def wait(self) -> bool:
        """Wait for the process to end; True where its time was over first and it was ended."""
        try:
            async with asyncio.timeout(self._spec.timeout) as self._limit:
                await self._watch.ended.wait()
        except TimeoutError:
            if cancelled := await self.end():
                raise cancelled from None
            return True
        return False

    def release(self) -> None:
        """See `Leash`."""
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(None)
        self._recorder.begin_file()
        self._family.guard()

    async def read_rest(self) -> None:
        """Read until nobody can write any more, but not longer than a moment after the process's end."""
        ended = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AFTER_END):
                await self._pipes.all_read.wait()
        if self._pipes.all_read.is_set() and time.monotonic() - ended > AT_ONCE:
            await self._family.see_off(LEAVING)  # whoever held the output is about to end

    async def end(self) -> asyncio.CancelledError | None:
        """End the process and all that came from it; a cancellation meanwhile hurries it, and is returned."""
        hurry = asyncio.Event()
        ending = asyncio.ensure_future(self._family.end(self._spec.grace, hurry))
        cancelled: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError as error:
                cancelled = error
                hurry.set()
        return cancelled

    def result(self, *, timed_out: bool = False, interrupted: bool = False) -> ProcessResult:
        """Take what still lies in the pipes, and sum up."""
        self._pipes.take_rest()
        left_running, code = self._reap()
        stdout, stderr, shown = self._recorder.finish()
        return ProcessResult(
            exit_code=code if code is not None and code >= 0 else None,
            signal=_signal_name(-code) if code is not None and code < 0 else None,
            stdout=stdout,
            stderr=stderr,
            timed_out=timed_out,
            interrupted=interrupted,
            duration=time.monotonic() - self._began,
            left_running=left_running,
            extra=bytes(self._extra),
            shown=shown,
        )

    def close(self) -> None:
        """Give back every descriptor and leave no process unwatched, whatever happened."""
        if self._process is not None and self._process.returncode is None:
            self._family.kill()
            self._reap()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
        self._watch.close()
        self._pipes.close_all()
        self._recorder.close()

    def _reap(self) -> tuple[int, int | None]:
        """How many processes are left, and the program's status as subprocess gives it."""
        left_running = self._family.leave()
        return left_running, self._process.poll() if self._process is not None else None

    def _take(self, stream: int, chunk: bytes) -> None:
        self._recorder.feed(stream, chunk)
        if self._on_output is not None:
            self._on_output(chunk)

    def _take_extra(self, chunk: bytes) -> None:
        self._extra += chunk[: _EXTRA_LIMIT - len(self._extra)]


def _pipe_name(descriptor: int) -> str:
    """How the system calls a pipe in a list of open files (Linux)."""
    return f"pipe:[{os.fstat(descriptor).st_ino}]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
