"""The real screen in this process, measured: CPU of keys and flushes, and the bytes that they cost.

The headless driver writes nothing, so every frame is rendered to the bytes that a terminal would get.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from textual.app import App
from textual.events import AppBlur, AppFocus, Key, Paste

from mcode import jsontext
from mcode.events import AssistantMessage, TextDelta, TurnFinished, TurnStarted
from mcode.session.journal import Journal, read_records
from tests.catalog.stand_ins import Servers, ServerTool, join
from tests.stage import stage, use
from tests.stage import turns as real_turns
from tests.ui.tui.screen import Driven, screen
from tests.ui.tui.stories import MARKDOWN, finish, start
from tools.measure import resident_memory

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path

    from textual.strip import Strip

    from mcode.events import Event

PATIENCE = 5.0
"""Seconds that a frame may take to come."""

REST = 0.05
"""Seconds after an action in which what it set off still counts."""


class Screen:
    """A running screen whose frames are counted."""

    def __init__(self, driven: Driven) -> None:
        self.driven = driven
        self.app = driven.app
        self.view = driven.app.transcript
        self.written = 0
        """Characters that a terminal would have got."""
        self.frames = 0
        self._draft: str | None = None
        """Frames count only once the prompt holds something else than this."""
        self._wanted = ""
        """Frames count only where they write this."""
        self._framed = asyncio.Event()
        self._framed_at = 0.0
        """CPU seconds of this process when the frame that is waited for was out."""
        self._console = Console(color_system="truecolor", force_terminal=True)
        app: Any = self.app
        self._display: Callable[..., None] = app._display  # noqa: SLF001 -- Textual has no public hook that sees a frame
        app._display = self._note  # noqa: SLF001 -- Textual has no public hook that sees a frame

    def _note(self, shown: Any, frame: Any) -> None:
        app: Any = self.app
        if frame is not None and not app._batch_count:  # noqa: SLF001 -- Textual has no public hook that sees a frame
            text = frame.render_segments(self._console)
            self.written += len(text)
            self.frames += 1
            fits = (self._draft is None or app.prompt.draft != self._draft) and self._wanted in text
            if fits and not self._framed.is_set():
                self._framed_at = time.process_time()
                self._framed.set()
        self._display(shown, frame)

    async def cost_of(self, act: Callable[[], object]) -> float:
        """CPU seconds from an action to the frame that shows it."""
        self._framed.clear()
        before = time.process_time()
        act()
        await asyncio.wait_for(self._framed.wait(), PATIENCE)
        return self._framed_at - before

    async def cost_until_typed(self, draft: str) -> float:
        """CPU seconds from a key to the first frame that comes once the prompt holds it."""
        self._framed.clear()
        self._draft = draft
        before = time.process_time()
        self.app.post_message(Key("a", "a"))
        await asyncio.wait_for(self._framed.wait(), PATIENCE)
        self._draft = None
        return self._framed_at - before

    async def cost_until_written(self, text: str, act: Callable[[], object]) -> float:
        """CPU seconds from an action to the frame that writes a text."""
        self._wanted = text
        cost = await self.cost_of(act)
        self._wanted = ""
        return cost

    async def cost_around(self, act: Callable[[], object]) -> float:
        """CPU seconds of an action that need not bring a frame, and of all that it sets off."""
        before = time.process_time()
        act()
        await asyncio.sleep(REST)
        return time.process_time() - before

    async def settle(self) -> None:
        await self.driven.pilot.pause(REST)
        if self.view.document.untidy:  # what is put away beside the keys is no part of a key's cost
            await self.driven.until(lambda: not self.view.document.untidy)

    async def median_key(self, count: int = 50) -> float:
        """CPU seconds of a key press in the prompt, up to its frame."""
        costs: list[float] = []
        for number in range(count):
            letter = "abcdefgh "[number % 9]
            name = "space" if letter == " " else letter
            key = Key(name, letter)
            costs.append(await self.cost_of(lambda key=key: self.app.post_message(key)))
            await asyncio.sleep(0.005)
        await self.settle()
        return statistics.median(costs)

    def take(self, event: Event) -> None:
        self.view.receive(event)
        self.view.flush()

    def load(self, count: int) -> int:
        """Show that many messages more; returns the characters of their source."""
        first = len(self.view.document.blocks)
        events = list(messages(count, first))
        self.view.replay(events)
        self.view.flush()
        return sum(len(str(event)) for event in events)

    def strips(self) -> list[Strip]:
        page: Any = self.app.screen
        return page._compositor.render_strips()  # noqa: SLF001 -- Textual has no public hook that sees a frame

    def bytes_of(self, strip: Strip) -> int:
        return len(strip.render(self._console))


def messages(count: int, first: int = 0) -> Iterator[Event]:
    """Messages of a long session: questions, answers in Markdown, and calls."""
    for number in range(first, first + count):
        match number % 4:
            case 0:
                yield TurnStarted(number, f"question {number}: where is the parser, and who calls it?")
            case 1:
                started = start(
                    f"call{number}", "Bash", f"pytest -q tests/test_{number}.py", command="pytest"
                )
                yield started
                output = "3 passed in 0.31s\n" * 6
                yield finish(started, "exit 0", output, data={"stdout": output, "exit_code": 0})
            case 2:
                text = f"Answer {number}. {'The parser stands in src and is called by the tests. ' * 4}"
                yield AssistantMessage({"content": [{"type": "text", "text": text}]})
            case _:
                started = start(f"call{number}", "Read", f"src/file{number}.py", file_path="x")
                yield started
                yield finish(started, "212 lines", f"text of file {number}")


def answer(size: int) -> str:
    """Markdown of about that many characters."""
    parts: list[str] = []
    length = 0
    while length < size:
        part = MARKDOWN + f"\nParagraph {len(parts)}: {'words of an answer that goes on ' * 6}\n\n"
        parts.append(part)
        length += len(part)
    return "".join(parts)[:size]


@asynccontextmanager
async def measured(directory: Path) -> AsyncGenerator[Screen]:
    """The screen on an empty session."""
    directory.mkdir(parents=True, exist_ok=True)
    async with screen(directory) as driven:
        driven.app.history.add = lambda text: None
        yield Screen(driven)


async def long_session(directory: Path) -> dict[str, float]:
    """Keys, appends, resizes, focus, paste and memory while the session grows to 20,000 messages."""
    found: dict[str, float] = {}
    async with measured(directory) as page:
        await page.median_key(30)
        found["idle key"] = await page.median_key()
        found["paste"] = await page.cost_of(
            lambda: page.app.post_message(Paste("\n".join(f"line {number}" for number in range(10_000))))
        )
        await page.settle()
        await page.driven.press("backspace")
        page.load(100)
        await page.settle()
        found["append at 100"] = await _appending(page)
        page.load(900)
        await page.settle()
        gc.collect()
        memory = _resident()
        source = 0
        page.load(1_000)
        before = time.process_time()
        source += page.load(18_000)
        found["load of 18,000"] = time.process_time() - before
        await page.settle()
        gc.collect()
        found["memory"] = max(0.0, _resident() - memory - 2 * source * 19 / 18) / 19 / 2**20
        found["key at 20,000"] = await page.median_key()
        found["append at 20,000"] = await _appending(page)
        found["resize at 20,000"] = await _resizing(page)
        found["focus at 20,000"] = await _focusing(page)
        found["scroll at 20,000"] = await _scrolling(page)
    return found


async def _appending(page: Screen) -> float:
    costs: list[float] = []
    for number in range(30):
        event = TurnStarted(number, f"one message more, number {number}")
        costs.append(await page.cost_of(lambda event=event: page.take(event)))
        await asyncio.sleep(0.005)
    return statistics.median(costs)


async def _resizing(page: Screen) -> float:
    costs: list[float] = []
    for width in (60, 100, 80, 100, 60, 100):
        before = time.process_time()
        await page.driven.pilot.resize_terminal(width, 30)
        costs.append(time.process_time() - before)
        await page.settle()
    return statistics.median(costs)


async def _focusing(page: Screen) -> float:
    idle = statistics.median([await page.cost_around(lambda: None) for _ in range(5)])
    costs: list[float] = []
    for _ in range(6):
        for event in (AppBlur(), AppFocus()):
            spent = await page.cost_around(lambda event=event: page.app.post_message(event))
            costs.append(spent - idle)
    return max(0.0, statistics.median(costs))


async def _scrolling(page: Screen) -> float:
    costs: list[float] = []
    for _ in range(30):
        costs.append(await page.cost_of(page.view.action_page_up))
        await asyncio.sleep(0.005)
    page.view.scroll_to_end()
    await page.settle()
    return statistics.median(costs)


async def streaming(directory: Path) -> dict[str, float]:
    """Flushes of 400 characters over 200 KB, in fifths; and their bytes against those of the rows that changed."""
    found: dict[str, float] = {}
    async with measured(directory) as page:
        text = answer(200_000)
        costs: list[float] = []
        ratios: list[float] = []
        shown = page.strips()
        for number, at in enumerate(range(0, len(text), 400)):
            before = page.written
            event = TextDelta(text[at : at + 400])
            costs.append(await page.cost_of(lambda event=event: page.take(event)))
            if number % 10 == 0:
                now = page.strips()
                changed = [new for old, new in zip(shown, now, strict=True) if old != new]
                least = sum(map(page.bytes_of, changed))
                ratios.append((page.written - before) / max(1, least))
                shown = now
            elif number % 10 == 9:
                shown = page.strips()
        fifth = len(costs) // 5
        found["first fifth"] = statistics.median(costs[:fifth])
        found["last fifth"] = statistics.median(costs[-fifth:])
        found["bytes"] = statistics.median(ratios)
        page.view.action_page_up()
        page.view.action_page_up()
        await page.settle()
        page.take(TextDelta("one\n\nmore " * 500))
        await page.settle()
        before = page.written
        for number in range(20):
            page.take(TextDelta(f"and {number} "))
            await asyncio.sleep(0.02)
        await page.settle()
        found["bytes away"] = page.written - before
    return found


async def paced(directory: Path, letters: int = 800, seconds: float = 25.0) -> dict[str, float]:
    """So many characters at 10 Hz through the event pump, with a key every 100 ms: share of a core, keys, backlog."""
    found: dict[str, float] = {}
    async with measured(directory) as page:
        await page.median_key(30)
        idle = await page.median_key()
        text = answer(int(letters * 10 * seconds))
        page.app.pump.receive(TurnStarted(1, "tell me all"))
        page.app.pump.receive(AssistantMessage({"content": []}))
        await page.settle()
        clock, cpu = time.monotonic(), time.process_time()
        keys: list[float] = []
        for number, at in enumerate(range(0, len(text), letters)):
            page.app.pump.receive(TextDelta(text[at : at + letters]))
            await asyncio.sleep(max(0.0, clock + number * 0.1 + 0.05 - time.monotonic()))
            draft = page.app.prompt.draft
            keys.append(await page.cost_until_typed(draft))
            await asyncio.sleep(max(0.0, clock + (number + 1) * 0.1 - time.monotonic()))
        took = time.monotonic() - clock
        await asyncio.sleep(0.3)
        (block,) = (block for block in page.view.document.blocks if type(block).__name__ == "AnswerBlock")
        found["share"] = (time.process_time() - cpu) / took
        found["backlog"] = len(text) - len(block.whole_text())
        found["late"] = took / seconds
        found["key seconds"] = sorted(keys)[int(len(keys) * 0.95)]
        found["key"] = found["key seconds"] / idle
    return found


async def wakings(directory: Path, seconds: float = 5.0) -> dict[str, int]:
    """Callbacks that the loop runs in so many seconds at rest: with our screen, and with a bare app of Textual's."""
    found: dict[str, int] = {}
    async with measured(directory) as page:
        await asyncio.sleep(3.0)  # what loads behind the first frame is no part of this
        page.app.pump.receive(TurnStarted(1, "one"))
        page.app.pump.receive(TurnFinished(1, "end"))
        await asyncio.sleep(1.5)
        found["ours"] = await _callbacks(seconds)
    bare: App[None] = App()
    async with bare.run_test():
        await asyncio.sleep(1.0)
        found["bare"] = await _callbacks(seconds)
    return found


async def _callbacks(seconds: float) -> int:
    """How often the loop runs anything while nothing but this waits."""
    count = 0
    run: Callable[[asyncio.Handle], None] = asyncio.Handle._run  # noqa: SLF001 -- no public hook sees what a loop runs

    def counted(handle: asyncio.Handle) -> None:
        nonlocal count
        count += 1
        run(handle)

    handles: Any = asyncio.Handle
    handles._run = counted  # noqa: SLF001 -- no public hook sees what a loop runs
    try:
        await asyncio.sleep(seconds)
    finally:
        handles._run = run  # noqa: SLF001 -- no public hook sees what a loop runs
    return count


async def working(directory: Path, seconds: float = 8.0) -> dict[str, float]:
    """Share of a core while one call runs and nothing else happens, after 10 and after 1,000 messages."""
    found: dict[str, float] = {}
    async with measured(directory) as page:
        await asyncio.sleep(3.0)  # what loads behind the first frame is no part of this
        for count in (10, 1_000):
            page.load(count - len(page.view.document.blocks))
            started = start(f"run{count}", "Bash", "sleep 60", command="sleep 60")
            page.app.pump.receive(TurnStarted(count, "wait"))
            page.app.pump.receive(started)
            await asyncio.sleep(1.0)
            before = time.process_time()
            await asyncio.sleep(seconds)
            found[f"at {count}"] = (time.process_time() - before) / seconds
            page.app.pump.receive(finish(started, "exit 0"))
            await asyncio.sleep(0.3)
    return found


async def resuming(directory: Path) -> float:
    """CPU seconds from the events of 2,000 messages to their screen."""
    async with measured(directory) as page:
        events = list(messages(2_000))

        def resume() -> None:
            page.view.replay(events)
            page.view.flush()

        return await page.cost_of(resume)


async def resumed(directory: Path, turns: int = 500) -> dict[str, float]:
    """Going on with a session of 2,000 messages: its journal read, its agent built, the screen drawn; then keys."""
    found: dict[str, float] = {}
    directory.mkdir(parents=True, exist_ok=True)
    reference = await _long_journal(directory, turns)
    clock, cpu = time.monotonic(), time.process_time()
    async with screen(directory, source="resume", reference=reference) as on:
        await on.until(lambda: f"question {turns - 1}" in on.shown)
        found["resumed"], found["wall"] = time.process_time() - cpu, time.monotonic() - clock
        page = Screen(on)
        on.app.history.add = lambda text: None
        found["messages"] = len(on.stage.agent.transcript())
        await page.median_key(10)
        found["key"] = await page.median_key(30)
        found["scroll"] = await _scrolling(page)
        found["resize"] = await _resizing(page)
    return found


async def _long_journal(directory: Path, turns: int) -> str:
    """A real turn with a call, in its journal again and again under other names; returns the session's id."""
    question, reading = "question 0: who calls it?", use("Read", "toolu_first", file_path="notes.txt")
    script = real_turns([reading], "The parser stands in src and is called by the tests. " * 4)
    async with stage(directory, script) as on:
        (on.bench.start / "notes.txt").write_text("what was read\n" * 40)
        await on.say(question)
        path, masker = on.agent.session.journal.path, on.bench.masker
    records = read_records(path).records
    first = next(at for at, record in enumerate(records) if question in jsontext.dump(record.body))
    copied = [record for record in records[first:] if record.type not in {"session_end", "closed"}]
    journal = Journal.open(path, masker)
    try:
        for turn in range(1, turns):
            for record in copied:
                text = jsontext.dump(record.body).replace("question 0", f"question {turn}")
                text = text.replace("toolu_first", f"toolu_{turn}").replace('"turn":1', f'"turn":{turn + 1}')
                journal.append(record.type, json.loads(text))
    finally:
        journal.close()
    return path.stem


async def many_tools(directory: Path, count: int = 2_000) -> float:
    """CPU seconds from the command to the first rows of /tools, with that many tools of servers."""
    schema: dict[str, Any] = {"type": "object", "properties": {"title": {"type": "string"}}}
    async with measured(directory) as page:
        servers = Servers()
        for server in range(20):
            names = range(server, count, 20)
            tools = [ServerTool(f"s{server}", f"tool_{at}", f"Does {at}.", schema) for at in names]
            join(page.driven.stage, tools, servers)
        await page.settle()
        costs: list[float] = []
        for _ in range(7):
            costs.append(await page.cost_until_written("RESIDENT", lambda: page.app.sending.run("/tools")))
            await page.driven.press("escape")
            await page.settle()
        return statistics.median(costs)


def _resident() -> int:
    return resident_memory(os.getpid())
