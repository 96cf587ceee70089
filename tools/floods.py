"""Commands that flood: mcode's memory, its answer to a key and the size of the result stay within bounds (B-07).

    python -m tools.floods [--size MB]

Each runs as a call of Bash in a whole session. One line of result; the code is 0 where every limit holds.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.events import ToolFinished
from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from mcode.wiring.options import Options
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from mcode.agent.agent import Agent
    from mcode.events import Event

GROWTH_LIMIT = 50.0
"""Megabytes."""
STALL_LIMIT = 0.1
"""Seconds until the loop, and with it the screen, takes up a key."""
TEXT_LIMIT = 30_000
"""Characters of the result."""


def floods(megabytes: float) -> dict[str, str]:
    """The commands by name; the whole size is that of the longest."""
    size = round(megabytes * 1_000_000)
    return {
        "short lines": f"yes | head -c {size}",
        "one endless line": f"head -c {size} /dev/zero | tr '\\0' x",
        "overwritten": f"for ((i = 0; i < {min(100_000, size // 100)}; i++)); do printf '\\r%d' $i; done",
        "noise": f"head -c {min(1_000_000, size)} /dev/urandom",
        "escapes": f"yes $'\\e[31mred\\e]0;title\\a' | head -c {size // 10}",
        "both streams": f"yes out | head -c {size // 4} & yes err | head -c {size // 4} >&2; wait",
    }


@dataclass(frozen=True)
class Flood:
    """What one of them did."""

    name: str
    growth: float
    """Megabytes of resident memory above what there was before, at the highest."""
    stall: float
    """Seconds that the event loop stood still at the longest."""
    worked: float
    """Of these, or of another such time, the seconds that the loop itself worked: no busy machine adds to them."""
    characters: int
    seconds: float

    @property
    def holds(self) -> bool:
        return self.growth <= GROWTH_LIMIT and self.characters <= TEXT_LIMIT and self.stall <= STALL_LIMIT


async def run(directory: Path, megabytes: float) -> list[Flood]:
    """Run every flood in one session in `directory`."""
    commands = floods(megabytes)
    blocks = [
        {
            "type": "tool_use",
            "id": f"toolu_{at}",
            "name": "Bash",
            "input": {"command": command, "timeout": 300_000},
        }
        for at, command in enumerate(("true", *commands.values()))
    ]
    turns = [
        {"reply": reply}
        for block in blocks
        for reply in ({"blocks": [block], "stop_reason": "tool_use"}, "seen")
    ]
    client = ScriptedClient(parse_script({"turns": turns}, "floods"), record=False)
    bench = local_workbench(directory, client, options=Options(skip_permissions=True))
    agent = await bench.open_agent("startup")
    try:
        await agent.start("startup")
        await _one(agent, "warm up")
        return [await _one(agent, name) for name in commands]
    finally:
        await agent.close("other")
        await bench.close()


async def idle_stall() -> float:
    """Seconds by which this machine is late when nothing is to be done."""
    longest = 0.0
    for _ in range(200):
        before = time.monotonic()
        await asyncio.sleep(0.005)
        longest = max(longest, time.monotonic() - before - 0.005)
    return longest


async def _one(agent: Agent, name: str) -> Flood:
    texts: list[str] = []

    def receive(event: Event) -> None:
        if isinstance(event, ToolFinished):
            texts.append(event.outcome.text)

    forget = agent.events.subscribe(receive)
    longest = worked = 0.0

    async def watch() -> None:
        nonlocal longest, worked
        while True:
            before, worked_before = time.monotonic(), time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - before - 0.005)
            worked = max(worked, time.thread_time() - worked_before)

    _forget_highest()
    before, began = _resident("VmRSS"), time.monotonic()
    watcher = asyncio.create_task(watch())
    try:
        await agent.submit(name)
    finally:
        watcher.cancel()
        forget()
    growth = _resident("VmHWM") - before
    return Flood(name, growth, longest, worked, max(map(len, texts), default=0), time.monotonic() - began)


def _forget_highest() -> None:
    """Let the kernel count the highest resident size from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def _resident(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) / 1000 if found else 0.0


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Flood mcode with output.")
    parser.add_argument("--size", type=float, default=100.0, help="megabytes of the largest floods")
    size: float = parser.parse_args().size
    with tempfile.TemporaryDirectory(prefix="mcode-floods-") as name:
        idle = asyncio.run(idle_stall()) * 1000
        done = asyncio.run(run(Path(name).resolve(), size))
    for flood in done:
        sys.stdout.write(
            f"  {flood.name:18} {flood.growth:+7.1f} MB   stall {flood.stall * 1000:5.0f} ms   "
            f"{flood.characters:6} characters   {flood.seconds:5.1f} s\n"
        )
    stall = max(each.stall for each in done) * 1000
    sys.stdout.write(
        f"floods of {size:g} MB: {len(done)} kinds, at most {max(each.growth for each in done):+.1f} MB (limit "
        f"{GROWTH_LIMIT:.0f}), {stall:.0f} ms stall (idle here {idle:.0f}, limit "
        f"{STALL_LIMIT * 1000:.0f}), "
        f"{max(each.characters for each in done)} characters (limit {TEXT_LIMIT})\n"
    )
    return 0 if all(each.holds for each in done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
