"""Worker processes: one warm spare, a fresh one for every program, none that outlives its program."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mcode import jsontext
from mcode.errors import McodeError
from mcode.process.start import start_program
from mcode.run_code.library import find_library, why_missing, why_unusable
from mcode.run_code.pipes import FrameReader, FrameTooLargeError, FrameWriter

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Awaitable, Callable

    from mcode.jsontext import JsonObject
    from mcode.run_code.library import Library
    from mcode.run_code.limits import Limits

Confine: TypeAlias = "Callable[[tuple[str, ...], Path], tuple[str, ...]]"
"""Gets the arguments that start a worker and its own directory; returns those that start it in a sandbox."""

START_LIMIT = 30.0
"""Wall seconds that a worker may take until it is ready."""

_SPARE_AFTER = 0.05
"""Seconds from a program's start to that of the next spare: many a program is over by then, sooner without it."""

_LARGE = 256 * 1024
"""Bytes of a frame from which on it is read in a thread."""


class EngineUnusableError(McodeError):
    """No program can run here; the text says what to do."""


class WorkerFaultError(Exception):
    """A worker sent what is no frame of ours, or nothing in time."""


class Worker:
    """One process with an engine that has run no program yet, or runs its only one."""

    def __init__(self, process: subprocess.Popen[bytes], reading: int, writing: int) -> None:
        self._process = process
        self._reader = FrameReader(reading)
        self._writer = FrameWriter(writing)
        self._ending: asyncio.Task[int] | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lives(self) -> bool:
        return self._ending is None and self._process.poll() is None

    async def send(self, *pieces: bytes) -> None:
        """Send one frame; what a worker that has died was sent is lost, and its end shows in `receive`."""
        if self._ending is not None:
            return
        try:
            if not self._writer.send_now(*pieces):
                await self._writer.send(*pieces)
        except BrokenPipeError:
            return

    async def receive(self) -> JsonObject | None:
        """The next frame; None when the worker is gone. Raises WorkerFaultError for one that is no object."""
        raw = await _whole(self._reader.receive())
        return None if raw is None else await _parsed(raw)

    async def follow(self, take: Callable[[JsonObject], bool]) -> bool:
        """Hand frame after frame to `take` until it returns True; False when the worker is gone before.

        Raises WorkerFaultError for a frame that is no object, and what `take` raises.
        """
        ended: list[WorkerFaultError | None] = []

        def take_small(raw: bytes) -> bool:
            try:
                if take(_read(raw)):
                    ended.append(None)
            except WorkerFaultError as error:
                ended.append(error)
            return bool(ended)

        while not ended:
            raw = await _whole(self._reader.follow(take_small))
            if ended:
                break
            if raw is None:
                return False
            if take(await _parsed(raw)):
                return True
        if ended[0] is not None:
            raise ended[0]
        return True

    def kill(self) -> None:
        """End the process at once; what it has sent can still be received."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def end(self) -> asyncio.Task[int]:
        """Kill the process, reap it and close the pipes; the task's result is its return code."""
        if self._ending is None:
            self.kill()
            self._reader.close()
            self._writer.close()
            self._ending = asyncio.create_task(asyncio.to_thread(self._process.wait))
        return self._ending

    async def death(self) -> int:
        """The return code of a worker that has closed its pipe: negative for a signal."""
        self.kill()  # one that ends already keeps its own code
        return await asyncio.to_thread(self._process.wait)


async def _whole(coming: Awaitable[bytes | None]) -> bytes | None:
    try:
        return await coming
    except FrameTooLargeError as error:
        raise WorkerFaultError(str(error)) from None


async def _parsed(raw: bytes) -> JsonObject:
    return await asyncio.to_thread(_read, raw) if len(raw) > _LARGE else _read(raw)


_DECODER = json.JSONDecoder()


def _read(raw: bytes) -> JsonObject:
    try:
        value = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError) as error:
        raise WorkerFaultError(str(error)) from None
    if not isinstance(value, dict):
        raise WorkerFaultError(f"a frame that is {jsontext.kind_of(value)}")
    return cast("JsonObject", value)


class Engine:
    """Hands out workers. `warm` keeps a spare from then on; `close` ends all that is left."""

    def __init__(self, limits: Limits, confine: Confine | None = None) -> None:
        self._limits = limits
        self._confine = confine
        self._library: Library | None = None
        self._spare: asyncio.Task[Worker] | None = None
        self._endings: set[asyncio.Task[int]] = set()
        self._later: asyncio.TimerHandle | None = None
        self._closed = False

    def warm(self) -> None:
        """Start a spare in the background, unless there is one."""
        if self._spare is None and not self._closed:
            self._spare = asyncio.create_task(self._start())
            self._spare.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def take(self) -> Worker:
        """A worker for one program, the spare where it lives; the next spare is started. Raises EngineUnusableError."""
        spare, self._spare = self._spare, None
        worker = await self._spare_worker(spare) if spare is not None else None
        if worker is None:
            worker = await self._start()
        self._later = asyncio.get_running_loop().call_later(_SPARE_AFTER, self.warm)
        return worker

    def release(self, worker: Worker) -> asyncio.Task[int]:
        """End a worker whose program is over; the work goes on in the background."""
        ending = worker.end()
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        return ending

    async def close(self) -> None:
        """End the spare and wait until every worker is gone."""
        self._closed = True
        if self._later is not None:
            self._later.cancel()
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.cancel()
            worker = await self._spare_worker(spare)
            if worker is not None:
                self.release(worker)
        while self._endings:
            await asyncio.wait(self._endings)

    async def _spare_worker(self, spare: asyncio.Task[Worker]) -> Worker | None:
        """The worker of a started spare; None where it has died or could not be started."""
        try:
            await asyncio.wait({spare})
        except asyncio.CancelledError:
            spare.cancel()
            spare.add_done_callback(self._release_result)
            raise
        if spare.cancelled() or spare.exception() is not None:
            return None
        worker = spare.result()
        if worker.lives:
            return worker
        self.release(worker)
        return None

    def _release_result(self, spare: asyncio.Task[Worker]) -> None:
        if not spare.cancelled() and spare.exception() is None:
            self.release(spare.result())

    async def _start(self) -> Worker:
        """A worker that is ready, in a directory of its own that is removed by then."""
        import tempfile

        library = self._found_library()
        try:
            directory = Path(tempfile.mkdtemp(prefix="mcode-program-"))
        except OSError as error:
            raise EngineUnusableError(_cannot_start(error)) from None
        try:
            return await self._start_in(directory, library)
        except OSError as error:
            raise EngineUnusableError(_cannot_start(error)) from None
        finally:
            directory.rmdir()

    async def _start_in(self, directory: Path, library: Library) -> Worker:
        """Raises OSError, EngineUnusableError."""
        worker = _launch(library, self._limits, directory, self._confine)
        try:
            async with asyncio.timeout(START_LIMIT):
                frame = await worker.receive()
        except (TimeoutError, WorkerFaultError):
            self.release(worker)
            raise EngineUnusableError(
                why_unusable(library, f"it was not ready within {START_LIMIT:g} s")
            ) from None
        except asyncio.CancelledError:
            self.release(worker)
            raise
        if frame is None or "ready" not in frame:
            code = await self.release(worker)
            raise EngineUnusableError(why_unusable(library, _problem(frame, code)))
        return worker

    def _found_library(self) -> Library:
        if self._library is None:
            self._library = find_library()
        if self._library is None:
            raise EngineUnusableError(why_missing())
        return self._library


def _cannot_start(error: OSError) -> str:
    return f"The JavaScript engine's process cannot be started: {error}."


def _problem(frame: JsonObject | None, code: int) -> str:
    if frame is None:
        return f"its process ended with {describe_code(code)}"
    ended: Any = frame.get("end")
    detail = cast("list[Any]", ended)[1] if isinstance(ended, list) else ""
    return str(detail) or "it did not start"


def describe_code(code: int) -> str:
    """A return code in words: the signal's name, or the exit code. A sandbox may tell of a signal as shells do."""
    number = -code if code < 0 else max(0, code - 128)
    if number == 0:
        return f"exit code {code}"
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _launch(library: Library, limits: Limits, directory: Path, confine: Confine | None) -> Worker:
    """Start the process: isolated, without environment, in an empty directory. Raises OSError."""
    argv = (
        sys.executable,
        *("-I", "-S", "-B"),
        str(Path(__file__).with_name("worker.py")),
        *(str(library.directory), str(limits.memory), repr(limits.cpu), repr(limits.cpu_grace)),
    )
    if confine is not None:
        argv = confine(argv, directory)
    theirs_reading, writing = os.pipe()
    reading, theirs_writing = os.pipe()
    try:
        process = start_program(argv, directory, {}, (theirs_reading, theirs_writing, -1), None)
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(theirs_reading)
        os.close(theirs_writing)
    return Worker(process, reading, writing)
