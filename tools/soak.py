"""Five thousand tool calls in one session: memory, descriptors and children must stay level.

    python -m tools.soak [--calls N]

Read, Glob, Grep, Edit, Bash and run_code in turn, five a message, fifty a turn, with a window that is compacted
again and again. Memory is the process's resident size after a collection. One line of result; the code is 0 where the
growth after call 500 is at most 30 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import gc
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.events import ToolFinished
from mcode.model.client import ModelInfo
from mcode.wiring.options import Options
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcode.events import Event
    from mcode.jsontext import JsonObject

GROWTH_LIMIT = 30.0
"""Megabytes after the first tenth of the calls."""

PER_MESSAGE, PER_TURN = 5, 50


class Worker:
    """A model that makes calls until the turn has had enough of them; asked for a summary, it gives one."""

    name = "soak"

    def __init__(self) -> None:
        self.made = 0

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        last = body["messages"][-1]["content"]
        asked = last if isinstance(last, str) else str(last[-1].get("text", ""))
        summary = not body.get("tools")
        goes_on = not summary and (self.made % PER_TURN != 0 or "work" in asked)
        blocks = [self._use() for _ in range(PER_MESSAGE)] if goes_on else [{"type": "text", "text": "done"}]
        usage = {"input_tokens": 10, "output_tokens": 10}
        yield {
            "type": "message_start",
            "message": {"id": "m", "role": "assistant", "content": [], "usage": usage},
        }
        for index, block in enumerate(blocks):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            yield {"type": "content_block_stop", "index": index}
        reason = "tool_use" if goes_on else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}}
        yield {"type": "message_stop"}

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("soak-1", window=200_000, max_tokens=8_000, display_name="Soak"),)

    async def close(self) -> None:
        pass

    def _use(self) -> JsonObject:
        self.made += 1
        at = self.made
        own = f"new-{at // 7 % 20}.txt"
        choices: list[tuple[str, JsonObject]] = [
            ("Read", {"file_path": f"file-{at % 7}.txt"}),
            ("Glob", {"pattern": "*.txt"}),
            ("Grep", {"pattern": "line 1", "output_mode": "content"}),
            ("Write", {"file_path": own, "content": f"begins\n{at}\n" * 20}),
            (
                "Edit",
                {
                    "file_path": own,
                    "old_string": f"{at - 1}\n",
                    "new_string": "x\n",
                    "replace_all": True,
                },
            ),
            ("Read", {"file_path": own}),
            ("Nowhere", {"at": at}),
        ]
        name, arguments = choices[at % len(choices)]
        # Processes are slow, so that few calls start one.
        if at % 25 == 0:
            name, arguments = "Bash", {"command": f"echo {at}; seq {20_000 if at % 100 == 0 else 200}"}
        elif at % 50 == 1:
            code = "const r = await tools.Glob({pattern: '*'}); return JSON.stringify(r).length"
            name, arguments = "run_code", {"code": code}
        return {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments}


@dataclass
class Soaked:
    """What was measured."""

    calls: int = 0
    sizes: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    """Calls so far, and megabytes."""
    descriptors: tuple[int, int] = (0, 0)
    children: int = 0
    """Processes that were started meanwhile and are still there."""

    @property
    def growth(self) -> float:
        """Megabytes between the first tenth and the end."""
        early = next((size for calls, size in self.sizes if calls >= self.calls / 10), 0.0)
        return self.sizes[-1][1] - early if self.sizes else 0.0


async def run(directory: Path, calls: int) -> Soaked:
    """Make so many calls in a session in `directory`."""
    project = directory / "project"
    project.mkdir()
    for at in range(7):
        (project / f"file-{at}.txt").write_text("".join(f"line {line} of file {at}\n" for line in range(60)))
    (project / "edited.txt").write_text("a\n")
    worker = Worker()
    settings = {
        "permissions": {"allow": ["Read", "Edit", "Write"]},
        "mcode": {"maxCallsPerTurn": 0, "window": 40_000},
    }
    bench = local_workbench(directory, worker, options=Options(skip_permissions=True), settings=settings)
    soaked, others = Soaked(), _children()

    def count(event: Event) -> None:
        if isinstance(event, ToolFinished) and event.outcome.call.parent is None:
            soaked.calls += 1

    agent = await bench.open_agent("startup")
    agent.events.subscribe(count)
    try:
        await agent.start("startup")
        await agent.submit("work")
        before = _descriptors()
        while soaked.calls < calls:
            ended = await agent.submit("work")
            if ended.reason != "end":
                raise RuntimeError(f"a turn ended with {ended.reason}: {ended.text}")
            soaked.sizes.append((soaked.calls, resident()))
        soaked.descriptors = (before, _descriptors())
    finally:
        await agent.close("other")
        await bench.close()
    soaked.children = len(_children() - others)
    return soaked


def resident() -> float:
    """Megabytes that the process holds, garbage collected and free heap given back."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- only their number


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Make many calls in one session and look at memory.")
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--trace", action="store_true", help="show the size after each turn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcode-soak-") as name:
        soaked = asyncio.run(run(Path(name).resolve(), given.calls))
    if given.trace:
        for calls, size in soaked.sizes:
            sys.stdout.write(f"  {calls:6} {size:8.1f} MB\n")
    before, after = soaked.descriptors
    sys.stdout.write(
        f"soak: {soaked.calls} calls, {soaked.growth:+.1f} MB after the first tenth (limit {GROWTH_LIMIT:.0f}), "
        f"descriptors {before} -> {after}, {soaked.children} children left\n"
    )
    return 0 if soaked.growth <= GROWTH_LIMIT and after <= before + 2 and not soaked.children else 1


if __name__ == "__main__":
    raise SystemExit(main())
