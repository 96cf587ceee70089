"""Small programs run for what they print: whole, up to a limit of bytes, or up to a limit of time."""

from __future__ import annotations

import asyncio
from pathlib import Path

from mcode.process.helper import Printed, run_helper

SHELL = {"PATH": "/usr/bin:/bin"}


async def run(script: str, standard_input: bytes = b"", *, seconds: float = 60, limit: int = 4096) -> Printed:
    command = ("/bin/sh", "-c", script)
    return await run_helper(command, Path("/"), SHELL, standard_input, seconds=seconds, output_limit=limit)


async def test_a_helper_prints_what_it_has_to_say_and_sees_nothing_but_its_environment() -> None:
    printed = await run("cat; pwd; /usr/bin/env | grep -c ^HOME=; echo oh >&2; exit 3", b"given ")
    assert (bytes(printed.output), bytes(printed.errors)) == (b"given /\n0\n", b"oh\n")
    assert (printed.exit_code, printed.stopped) == (3, "")


async def test_a_flood_ends_at_the_limit_with_the_program() -> None:
    printed = await run("yes", limit=1024**2)
    assert len(printed.output) == 1024**2
    assert printed.stopped == "after 1 MB of results"


async def test_a_helper_that_does_not_end_is_ended() -> None:
    printed = await run("echo begun; sleep 100", seconds=0.5)
    assert printed.stopped == "after 0.5 s"


async def test_a_helper_whose_time_is_over_in_the_middle_of_a_flood_is_ended_too() -> None:
    async with asyncio.timeout(30):
        printed = await run("yes", seconds=0.2, limit=1024**4)
    assert printed.stopped == "after 0.2 s"
    assert printed.output.startswith(b"y\n")
