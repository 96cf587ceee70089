"""Running a search program within bounds of time and output; whatever happens, it is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.process_environment import child_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of results that are taken."""
_ERROR_LIMIT = 64 * 1024
_CHUNK = 256 * 1024


@dataclass(slots=True)
class Printed:
    """What a program printed, whole or up to the limit."""

    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    exit_code: int | None = None
    stopped: str = ""
    """Why it was ended before its own end; empty where it was not."""


async def run_search(argv: Sequence[str], directory: Path, standard_input: bytes, seconds: float) -> Printed:
    """Run a program in a directory; ends it after `seconds` or OUTPUT_LIMIT bytes. Raises OSError at the start."""
    printed = Printed()
    reading = _filled_pipe(standard_input)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=reading,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=directory,
            env=child_environment({"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}),
            start_new_session=True,
        )
    finally:
        os.close(reading)
    try:
        async with asyncio.timeout(seconds):
            complete, _ = await asyncio.gather(
                _take(process, process.stdout, printed.output, OUTPUT_LIMIT),
                _take(process, process.stderr, printed.errors, _ERROR_LIMIT),
            )
            printed.exit_code = await process.wait()
            if not complete:
                printed.stopped = f"after {OUTPUT_LIMIT // 1024**2} MB of results"
    except TimeoutError:
        printed.stopped = f"after {seconds:g} s"
    finally:
        if process.returncode is None:
            await _end(process)
    return printed


async def _take(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None, into: bytearray, limit: int
) -> bool:
    """Read a stream to its end; at the limit the program is killed, and the answer is False."""
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        into += chunk[: limit - len(into)]
        if len(into) >= limit:
            await _end(process)
            return False
    return True


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the program's group and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _filled_pipe(content: bytes) -> int:
    """The reading end of a pipe that holds `content` and then ends; patterns are short enough for a pipe."""
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
    finally:
        os.close(writing)
    return reading
