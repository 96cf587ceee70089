"""Programs behind every wall that this system offers: they run, end at their limits, and leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.process.sandbox import BUBBLEWRAP, Sandbox
from mcode.wiring.sandbox import SessionSandbox
from tests.children import is_alive, living, wait_until
from tests.process.test_sandbox import KINDS, every_kind
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.process.sandbox import Availability
    from tests.run_code.workplace import Workplace

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the checker reads /proc"),
    pytest.mark.skipif(not KINDS, reason="this system offers no sandbox"),
]


def confine(place: Workplace, found: Availability, directory: Path) -> None:
    place.confine = SessionSandbox(Sandbox(found, (directory,), network=True), directory).confine_worker


def engines(besides: set[int]) -> list[int]:
    """Processes of engines, the sandbox's own left out."""
    found: list[int] = []
    for pid in living() - besides:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if len(words) > 4 and words[4].endswith(b"worker.py"):
                found.append(pid)
    return found


@every_kind
async def test_r_01_programs_run_and_end_in_every_sandbox_as_without(
    place: Workplace, found: Availability, tmp_path: Path
) -> None:
    confine(place, found, tmp_path)
    place.tool("Read", lambda _: "text")
    assert (await place.run("return (await tools.Read({})).value.length")).value == "4"
    assert (await place.run("while (true) {}")).status == "cpu_limit"
    assert (await place.run("'x'.repeat(1e9)")).status in {"memory_limit", "exception"}
    assert (await place.run("1 + 1")).value == "2"


@every_kind
async def test_r_01_an_engine_in_a_sandbox_may_gain_no_rights_and_sees_no_network(
    place: Workplace, found: Availability, tmp_path: Path
) -> None:
    confine(place, found, tmp_path)
    before = living()
    task = place.start("await sleep(60000)")
    await until(lambda: engines(before))
    pid = engines(before)[0]
    status = Path(f"/proc/{pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    if found.method == BUBBLEWRAP or found.namespace:
        assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert wait_until(lambda: not is_alive(pid))
