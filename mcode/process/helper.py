"""Runs a small program for its output, within limits; it never outlives the call.

For programs that the user or mcode chose: searches, the clipboard. What the model or a hook runs goes through
`run_process`, which reads a flood to its end and keeps little of it in memory; here the limit ends the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_ERROR_LIMIT = 64 * 1024
_CHUNK = 256 * 1024
_REST = 1.0
"""Seconds that are waited for the end of a program that was killed; only what it left behind can hold its pipes."""


@dataclass(slots=True)
class Printed:
    """What a program printed, whole or up to the limit."""

    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    exit_code: int | None = None
    stopped: str = ""
    """Why it was ended before its own end; empty where it was not."""


async def run_helper(
    argv: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    standard_input: bytes = b"",
    *,
    seconds: float,
    output_limit: int,
) -> Printed:
    """Run a program in a directory; ends it after `seconds` or `output_limit` bytes. Raises OSError at the start.

    `environment` is the whole of it. `standard_input` must fit into a pipe (64 KB on Linux, 16 KB on macOS).
    """
    printed = Printed()
    reading = _filled_pipe(standard_input)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=reading,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(reading)
    try:
        async with asyncio.timeout(seconds):
            complete, _ = await asyncio.gather(
                _take(process, process.stdout, printed.output, output_limit),
                _take(process, process.stderr, printed.errors, _ERROR_LIMIT),
            )
            printed.exit_code = await process.wait()
            if not complete:
                printed.stopped = f"after {output_limit // 1024**2} MB of results"
    except TimeoutError:
        printed.stopped = f"after {seconds:g} s"
    finally:
        if process.returncode is None:
            await _end(process)
    return printed


async def _take(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None, into: bytearray, limit: int
) -> bool:
    """Read a stream to its end; past the limit the program is killed, and the answer is False."""
    whole = True
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        room = limit - len(into)
        into += chunk[:room]
        if whole and len(chunk) > room:
            whole = False
            _kill(process)  # what is still under way is read and dropped, or the end would not be seen
    return whole


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the program's group and wait for its end, which shows only when its pipes are empty."""
    _kill(process)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REST):
            await process.communicate()


def _filled_pipe(content: bytes) -> int:
    """The reading end of a pipe that holds `content` and then ends."""
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
    finally:
        os.close(writing)
    return reading
