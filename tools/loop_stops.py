"""Where the event loop stands still: a thread looks at what the loop is at whenever it has stood for too long (L-03).

    python -m tools.loop_stops [--calls N] [--window N]

The session is that of `tools.long_session`: thousands of calls with a small window. What counts is the loop's own
processor time between two looks at the clock, so that a busy machine is not taken for a fault of mcode's. The code is
0 where no stop was longer than the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.events import ToolFinished
from mcode.wiring.options import Options
from tools.local_session import local_workbench
from tools.long_model import message_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import FrameType

    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.model.client import ModelInfo

LIMIT = 0.05
"""Seconds of the processor that the loop may be at one thing."""

LOOK = 0.005
"""Seconds between two looks, of the loop at the clock and of the thread at the loop."""


@dataclass(slots=True)
class Stop:
    """One time that the loop stood."""

    seconds: float
    """Of the processor."""
    collecting: float
    """Seconds of these in which the collector of garbage ran."""
    places: list[str]
    """What it was at, look by look: function and line, the outermost of mcode's first."""


@dataclass(slots=True)
class Watched:
    """What came of watching."""

    stops: list[Stop] = field(default_factory=list[Stop])
    longest: float = 0.0
    """Seconds of the processor between two looks at the clock, at most."""
    collecting: float = 0.0
    """Seconds that the collector ran at one time, at most."""


class LoopWatch:
    """Watches the loop that runs in the thread that makes it."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.found = Watched()
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._last = self._now()
        self._seen: list[str] = []
        self._collected = self._collection = 0.0
        self._ended = threading.Event()
        self._timer = self._loop.call_later(LOOK, self._look)
        self._watcher = threading.Thread(target=self._watch, name="loop watch", daemon=True)
        gc.callbacks.append(self._note_collection)
        self._watcher.start()

    def close(self) -> None:
        """Watch no more."""
        self._timer.cancel()
        self._ended.set()
        self._watcher.join()
        gc.callbacks.remove(self._note_collection)

    def _now(self) -> float:
        return time.clock_gettime(self._clock)

    def _look(self) -> None:
        now = self._now()
        stood = now - self._last
        self.found.longest = max(self.found.longest, stood)
        if stood > self._limit:
            self.found.stops.append(Stop(stood, self._collected, list(dict.fromkeys(self._seen))))
        self._last, self._seen, self._collected = now, [], 0.0
        self._timer = self._loop.call_later(LOOK, self._look)

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            if self._now() - self._last > self._limit / 2:
                frame = sys._current_frames().get(self._thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- the only way to see another thread
                if frame is not None:
                    self._seen.append(_place(frame))

    def _note_collection(self, phase: str, info: dict[str, Any]) -> None:
        del info
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collection = self._now()
        else:
            spent = self._now() - self._collection
            self._collected += spent
            self.found.collecting = max(self.found.collecting, spent)


@contextlib.contextmanager
def loop_watch(limit: float = LIMIT) -> Generator[Watched]:
    """Watch the running loop while the block runs."""
    watch = LoopWatch(limit)
    try:
        yield watch.found
    finally:
        watch.close()


def _place(frame: FrameType) -> str:
    """The functions that the loop is in, from mcode's outermost to the innermost of all."""
    lines = [
        f"{Path(each.filename).stem}.{each.name}:{each.lineno}"
        for each in traceback.extract_stack(frame)
        if "asyncio" not in each.filename
    ]
    return " > ".join(lines[-7:])


def large_calls() -> list[tuple[str, JsonObject]]:
    """Calls that have much to read, compare, cut, clean, mask and write down."""
    big = "".join(f"line {number} of a large file, with words in it\n" for number in range(20_000))
    program = "const all = []; for (let at = 0; at < 40_000; at++) all.push({at, text: 'words and words'}); return all;"
    return [
        ("Write", {"file_path": "big.txt", "content": big}),
        ("Edit", {"file_path": "big.txt", "old_string": "line 777 of", "new_string": "LINE 777 OF"}),
        ("Read", {"file_path": "big.txt"}),
        ("Grep", {"pattern": "line", "path": "big.txt", "output_mode": "content"}),
        ("Bash", {"command": "seq 300000"}),
        ("Bash", {"command": "cat big.txt; cat big.txt >&2"}),
        ("Bash", {"command": f"echo {'a' * 9_000} {'b ' * 400}"}),
        ("Bash", {"command": " && ".join(["cat big.txt"] * 49)}),
        ("Write", {"file_path": "big.txt", "content": big.replace("words", "WORDS")}),
        ("run_code", {"code": program}),
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": f"step {at}", "status": "pending", "activeForm": "at it"} for at in range(100)
                ]
            },
        ),
    ]


class Elsewhere:
    """A model with prepared answers: nothing of its work is the loop's. Implements `client.ModelClient`."""

    name = "elsewhere"

    def __init__(self, answers: list[list[JsonObject]]) -> None:
        self._answers = answers

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        del body
        for event in message_events(self._answers.pop(0), 1_000):
            await asyncio.sleep(0)
            yield event

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def close(self) -> None:
        """There is nothing to close."""


async def large_session(directory: Path, message: str, calls: list[tuple[str, JsonObject]]) -> list[str]:
    """One session of a message and calls with large arguments and results; returns what did not work."""
    uses = [
        {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(calls)
    ]
    answers = [*([use] for use in uses), [{"type": "text", "text": "done " * 20_000}]]
    bench = local_workbench(
        directory,
        Elsewhere(answers),
        options=Options(skip_permissions=True),
        settings={"mcode": {"window": 20_000_000}},
    )
    agent = await bench.open_agent("startup")
    failed: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, ToolFinished) and event.outcome.is_error:
            failed.append(f"{event.outcome.call.tool}: {event.outcome.text[:200]}")

    agent.events.subscribe(note)
    try:
        await agent.start("startup")
        ended = await agent.submit(message)
        failed += [] if ended.reason == "end" else [f"the turn ended with {ended.reason}: {ended.text[:200]}"]
    finally:
        await agent.close("other")
        await bench.close()
    return failed


async def _session(calls: int, window: int) -> tuple[Watched, list[str]]:
    from tools.long_session import one_piece

    with tempfile.TemporaryDirectory(prefix="mcode-stops-") as name, loop_watch() as found:
        problems = await large_session(Path(name).resolve() / "large", "words " * 100_000, large_calls())
        session = await one_piece(Path(name).resolve() / "long", calls, window, size=lambda: 0.0)
    return found, [*problems, *session.problems]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_500)
    parser.add_argument("--window", type=int, default=60_000)
    given = parser.parse_args()
    found, problems = asyncio.run(_session(given.calls, given.window))
    for problem in problems[:20]:
        sys.stdout.write(f"  WRONG: {problem}\n")
    for stop in sorted(found.stops, key=lambda each: -each.seconds)[:20]:
        garbage = f", {stop.collecting * 1000:.0f} ms of it the collector" if stop.collecting > 0.001 else ""
        sys.stdout.write(f"  {stop.seconds * 1000:.0f} ms{garbage}\n")
        sys.stdout.writelines(f"    {place}\n" for place in stop.places[:4])
    sys.stdout.write(
        f"loop: {given.calls} calls, {len(found.stops)} stops over {LIMIT * 1000:.0f} ms of the processor, the longest "
        f"{found.longest * 1000:.0f} ms; the collector took {found.collecting * 1000:.0f} ms at most\n"
    )
    return 1 if found.stops or problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
