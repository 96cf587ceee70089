"""Calls that last over two minutes: the conversation goes on, and the result comes later."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from mcode.call import Call, Origin
from mcode.events import EventBus, Notice
from mcode.tool import ToolResult
from mcode.wiring import long_calls
from tests.mcp.live import FakeServices, until
from tests.mcp.test_in_sessions import configure
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] -- autouse
    monkeypatch.setattr(long_calls, "MOVE_AFTER", 0.05)


async def test_a_call_that_lasts_goes_on_in_the_background_and_its_result_comes_by_itself(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["none"]})
    lines = "\n".join(f"row {number}" for number in range(20_000))
    script = turns(use("mcp__h__slow", seconds=0.6, say=lines), "Meanwhile.", "Now I have it.")
    async with stage(tmp_path, script) as opened:
        await opened.bench.pool.settle(20)
        opened.answer("once")
        assert (await opened.say("go")).text == "Meanwhile."
        assert "goes on in the background" in opened.result().text
        await until(lambda: len(opened.client.requests) == 3)
        said = str(opened.client.requests[2]["messages"][-1]["content"])
        assert "mcp__h__slow, which went on in the background (call toolu_mcp__h__slow), is done" in said
        assert any("in the background, is done" in notice.text for notice in opened.of(Notice))
        (kept,) = [path for path in opened.agent.session.directory.rglob("output-*.txt") if path.is_file()]
        assert f"the whole text is in {kept}" in said
        assert kept.read_text() == lines
        assert "row 19999" in said  # cut like any result: its end is there, too
        await until(lambda: not opened.agent.busy)


async def test_what_still_runs_at_the_end_of_the_session_ends_with_it(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns(use("mcp__h__slow", seconds=30), "Meanwhile.")) as opened:
        await opened.bench.pool.settle(20)
        opened.answer("once")
        await opened.say("go")
        await opened.agent.close("other")
        (notice,) = [each for each in opened.of(Notice) if "Ended with the session" in each.text]
        assert "mcp__h__slow" in notice.text


@pytest.mark.parametrize(
    ("moves", "call"),
    [
        (False, Call("a", "mcp__h__slow", {})),
        (True, Call("a", "mcp__h__slow", {}, parent="program")),
        (True, Call("a", "mcp__h__slow", {}, Origin.USER)),
    ],
    ids=["headless", "program", "user"],
)
async def test_headless_runs_programs_and_the_user_wait_for_the_result(
    tmp_path: Path, moves: bool, call: Call
) -> None:
    async def work() -> ToolResult:
        await asyncio.sleep(0.2)
        return ToolResult("the result")

    calls = long_calls.LongCalls(EventBus(), moves=moves)
    assert (await calls.result_of(work(), FakeServices(tmp_path, call=call))).text == "the result"


async def test_stopping_the_turn_stops_a_call_that_was_not_moved_yet(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def work() -> ToolResult:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return ToolResult("")

    calls = long_calls.LongCalls(EventBus(), moves=True)
    long_calls.MOVE_AFTER = 30.0  # put back by the fixture
    waiting = asyncio.ensure_future(calls.result_of(work(), FakeServices(tmp_path)))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert ended.is_set()
