"""Calls that last over two minutes: the conversation goes on, and the result comes later."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import Call, Origin
from mcode.events import EventBus, Notice
from mcode.tool import ToolResult
from mcode.wiring import long_calls
from tests.mcp.live import FakeServices
from tests.mcp.test_in_sessions import configure
from tests.stage import stage, turns, use
from tests.waiting import until

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
    go = tmp_path / "go"
    slow = use("mcp__h__slow", seconds=0, until=str(go), say=lines)
    script = turns(slow, "Meanwhile.", "Now I have it.")
    async with stage(tmp_path, script) as opened:
        await opened.bench.pool.settle(60)
        opened.answer("once")
        assert (await opened.say("go")).text == "Meanwhile."
        assert "goes on in the background" in opened.result().text
        go.touch()
        await until(lambda: len(opened.client.requests) == 3)
        said = str(opened.client.requests[2]["messages"][-1]["content"])
        assert "mcp__h__slow, which went on in the background (call toolu_mcp__h__slow), is done" in said
        assert any("in the background, is done" in notice.text for notice in opened.of(Notice))
        (kept,) = [path for path in opened.agent.session.directory.rglob("output-*.txt") if path.is_file()]
        assert f"the whole text is in {kept}" in said
        assert kept.read_text() == lines
        assert "row 19999" in said  # cut like any result: its end is there, too
        await until(lambda: not opened.agent.busy)


HEAR = """
import json, sys
said = json.load(sys.stdin)
with open(sys.argv[1], "a") as heard:
    what = said.get("tool_response", said.get("error"))
    heard.write(json.dumps([said["hook_event_name"], what, said["duration_ms"]]) + "\\n")
answer = {"hookSpecificOutput": {"hookEventName": said["hook_event_name"], **json.loads(sys.argv[2])}}
print(json.dumps({**answer, **({"continue": False, "stopReason": "enough"} if sys.argv[3:] else {})}))
"""


def hearing(heard: Path, *more: str, **answer: str) -> dict[str, Any]:
    """Hooks that write down what they hear after a call, and answer."""
    argv = ["-S", "-c", HEAR, str(heard), json.dumps(answer), *more]
    entry = {"matcher": "mcp__h__.*", "hooks": [{"type": "command", "command": sys.executable, "args": argv}]}
    return {"hooks": {event: [entry] for event in ("PostToolUse", "PostToolUseFailure")}}


async def test_what_comes_late_takes_the_rest_of_the_road(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    heard = tmp_path / "heard"
    go = tmp_path / "go"
    slow = use("mcp__h__slow", seconds=0.4, until=str(go), say="their words")
    script = turns(slow, "Meanwhile.", "Now I have it.")
    settings = hearing(heard, updatedToolOutput="a hook's words", additionalContext="Look at it twice.")
    async with stage(tmp_path, script, settings=settings) as opened:
        await opened.bench.pool.settle(60)
        opened.answer("once")
        await opened.say("go")
        assert not heard.exists(), "a call that goes on has not ended"
        go.touch()
        await until(lambda: len(opened.client.requests) == 3)
        ((event, response, milliseconds),) = [json.loads(line) for line in heard.read_text().splitlines()]
        assert (event, response) == ("PostToolUse", "their words")
        assert milliseconds >= 400
        said = str(opened.client.requests[2]["messages"][-1]["content"])
        assert "a hook's words" in said
        assert "their words" not in said
        assert "Look at it twice." in said
        records = {record["type"]: record["body"] for record in opened.journal}
        late = records["call_ended_later"]
        assert (late["id"], late["tool"], late["status"]) == ("toolu_mcp__h__slow", "mcp__h__slow", "ok")
        assert "a hook's words" in late["text"]
        assert records["call_finished"]["summary"] == "goes on in the background"
        await until(lambda: not opened.agent.busy)


async def test_a_late_failure_is_one_for_hooks_and_the_journal_and_a_hook_may_keep_it_from_the_model(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["none"], "timeout": 1000})
    heard = tmp_path / "heard"
    script = turns(use("mcp__h__slow", seconds=30), "Meanwhile.")
    async with stage(tmp_path, script, settings=hearing(heard, "stop")) as opened:
        await opened.bench.pool.settle(60)
        opened.answer("once")
        await opened.say("go")
        await until(lambda: any("a hook says: enough" in notice.text for notice in opened.of(Notice)))
        (line,) = heard.read_text().splitlines()
        assert json.loads(line)[0] == "PostToolUseFailure"
        late = next(record["body"] for record in opened.journal if record["type"] == "call_ended_later")
        assert (late["status"], late["failure"]) == ("failed", "timeout")
        assert len(opened.client.requests) == 2


async def test_what_still_runs_at_the_end_of_the_session_ends_with_it(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns(use("mcp__h__slow", seconds=30), "Meanwhile.")) as opened:
        await opened.bench.pool.settle(60)
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
    if not moves:
        assert (await calls.begun(work(), FakeServices(tmp_path, call=call))).text == "the result"


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
