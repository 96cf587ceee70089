"""What a long transcript costs in memory: the real widget in a process of its own, as memory is never given back whole.

    python -m tools.transcript_memory KEPT [BLOCKS]

Blocks with long outputs come as they would in a session; the text of all but the newest KEPT may leave the memory.
Prints one line of JSON: bytes that were taken, CPU seconds of the longest step of putting away, and those of a page
from the beginning on, where nothing is in memory that was put away.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from textual.app import App, ComposeResult
from textual.theme import BUILTIN_THEMES
from typing_extensions import override

from mcode.events import AssistantMessage, TurnStarted
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import look_for
from mcode.ui.tui.transcript_view import TranscriptView
from tests.ui.tui.stories import finish, start
from tools.measure import resident_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.events import Event

BLOCKS, BATCH = 10_000, 30


class _Timed(Document):
    """Notes how long the longest step of putting away took."""

    longest = 0.0

    @override
    def tidy(self) -> None:
        before = time.process_time()
        super().tidy()
        self.longest = max(self.longest, time.process_time() - before)


class _Host(App[None]):
    def __init__(self, kept: int) -> None:
        super().__init__()
        self.blocks = _Timed(kept=kept)
        self.view = TranscriptView(self.blocks, look_for(BUILTIN_THEMES["ansi-dark"]))

    @override
    def compose(self) -> ComposeResult:
        yield self.view


def long_outputs(count: int) -> Iterator[Event]:
    """As many blocks: questions, commands that print 20 KB, and answers."""
    for number in range(0, count, 3):
        yield TurnStarted(number, f"question {number}: what does the build print?")
        call = start(f"call{number}", "Bash", f"make step{number}", command=f"make step{number}")
        yield call
        output = "".join(
            f"step {number}: compiled file number {line} without a warning\n" for line in range(400)
        )
        yield finish(call, "exit 0", output[:2_000], data={"stdout": output, "exit_code": 0})
        text = f"Step {number} is built.\n\n" + "It compiles the sources and links what came of them. " * 20
        yield AssistantMessage({"content": [{"type": "text", "text": text}]})


async def _measured(kept: int, count: int) -> dict[str, float]:
    host = _Host(kept)
    async with host.run_test(size=(100, 30)):
        for event in long_outputs(300):
            host.view.receive(event)
        host.view.flush()
        await asyncio.sleep(0.2)
        gc.collect()
        before = resident_memory(os.getpid())
        for number, event in enumerate(long_outputs(count)):
            host.view.receive(event)
            if number % BATCH == 0:
                await _settled(host)
        await _settled(host)
        gc.collect()
        taken = resident_memory(os.getpid()) - before
        host.view.action_scroll_home()
        pages: list[float] = []
        for _ in range(100):
            since = time.process_time()
            host.view.action_page_down()
            pages.append(time.process_time() - since)
            await asyncio.sleep(0)
    return {"taken": taken, "step": host.blocks.longest, "page": statistics.median(pages)}


async def _settled(host: _Host) -> None:
    """Show what has come, and put away what is old: a session is slower than the timer that does it there."""
    host.view.flush()
    while host.blocks.untidy:
        host.blocks.tidy()
        await asyncio.sleep(0)


def in_own_process(kept: int, count: int = BLOCKS) -> dict[str, float]:
    """The figures of a fresh process."""
    command = [sys.executable, "-m", "tools.transcript_memory", str(kept), str(count)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measured(*map(int, [*sys.argv[1:], BLOCKS][:2])))))
