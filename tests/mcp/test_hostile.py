"""Servers that misbehave on their pipes: each is a state or a failed call, and the others go on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mcode.call import FailureKind
from mcode.mcp import limits, stdio
from mcode.mcp import restarts as restart_times
from mcode.mcp.framing import LINE_LIMIT, parse_line
from mcode.mcp.restarts import Restarts
from mcode.mcp.server_log import SIZE_LIMIT, ServerLog
from tests.mcp.live import hostile, live
from tests.waiting import let_pass, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mcp.live import Live


def take_your_time(servers: Live) -> None:
    """The time limit of a server's calls is the usual one again, which no machine reaches."""
    servers.server().connection.limits = limits.Limits()


def _hide(text: str) -> str:
    return text.replace("hostile", "[hidden]")


async def test_m_01_a_server_gets_the_short_list_of_variables_and_its_own_and_runs_in_the_workspace(
    tmp_path: Path,
) -> None:
    entry = hostile("environment", env={"TOKEN_OF_SERVER": "t1", "LD_PRELOAD": "x.so"})
    outer = {"SECRET_OF_USER": "s", "ANTHROPIC_API_KEY": "k"}
    async with live(tmp_path, entry, hostile("faulty", name="w"), environment=outer) as servers:
        await servers.connected()
        seen = json.loads((await servers.call("environment")).text)
        assert seen["TOKEN_OF_SERVER"] == "t1"
        assert seen["MCODE_PROJECT_DIR"] == seen["CLAUDE_PROJECT_DIR"] == str(tmp_path / "project")
        assert not {"SECRET_OF_USER", "ANTHROPIC_API_KEY", "LD_PRELOAD"} & seen.keys()
        assert (await servers.call("where", "w")).text == str(tmp_path / "project")


async def test_m_01_standard_error_goes_to_a_log_that_stays_small_and_masked(tmp_path: Path) -> None:
    async with live(tmp_path, hostile(), mask=_hide) as servers:
        await servers.connected()
        log = servers.servers.log_path("h")
        assert log is not None
        await until(lambda: "[hidden] server: none" in log.read_text())
        assert log.stat().st_mode & 0o777 == 0o600

    flooded = ServerLog(tmp_path / "flooded.log", str)
    flooded.open()
    for second in range(40):
        flooded._second = -second - 1  # each chunk as in a second of its own
        flooded.feed(b"line of a chatty server\n" * 4000)
    flooded.close()
    kept = flooded.path.stat().st_size + flooded.path.with_name("flooded.log.1").stat().st_size
    assert kept <= SIZE_LIMIT


async def test_m_01_a_server_that_hangs_at_initialize_fails_after_its_time(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("hang", startup_timeout=1.0), hostile(name="good")) as servers:
        await servers.servers.settle(60)
        assert servers.status().state == "failed"
        assert "did not answer in time" in servers.status().error
        assert (await servers.call("echo", "good", text="still here")).text == "still here"


async def test_m_01_a_call_that_takes_too_long_is_cancelled_and_the_server_stays_usable(
    tmp_path: Path,
) -> None:
    async with live(tmp_path, hostile(timeout=1.5)) as servers:
        await servers.connected()
        result = await servers.call("slow", seconds=30, steps=300)
        assert result.failure is FailureKind.TIMEOUT
        assert "its limit of 1.5 s" in result.text
        log = servers.server().log.path
        await until(lambda: "cancelled" in log.read_text())
        take_your_time(servers)
        assert (await servers.call("echo", text="after")).text == "after"


async def test_m_01_progress_extends_the_usual_limit_and_shows_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two steps that are shown, more than half of the limit passes, whatever the machine's pace."""
    passed = 0.0
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed))
    shown: list[str] = []

    def progress(line: str) -> None:
        nonlocal passed
        shown.append(line)
        passed += 40.0
        let_pass(40.0)

    async with live(tmp_path, hostile()) as servers:
        await servers.connected()
        connection = servers.server().connection
        connection.limits = limits.Limits(start=10, call=70, most=3600)
        servers.services.progress = progress
        assert (await servers.call("slow", seconds=2.0, steps=20)).text == "done"
        # Lines that come closer together than the card shows them are left out: which ones, the machine says.
        assert shown[0] == "1 of 20  step 1"
        assert set(shown) <= {f"{step} of 20  step {step}" for step in range(1, 21)}
        connection.limits = limits.Limits(start=10, call=70, most=30)
        passed = 0.0
        assert (await servers.call("slow", seconds=60, steps=600)).failure is FailureKind.TIMEOUT


async def test_m_01_cancelling_the_turn_tells_the_server(tmp_path: Path) -> None:
    async with live(tmp_path, hostile()) as servers:
        await servers.connected()
        call = asyncio.ensure_future(servers.call("slow", seconds=60, steps=600))
        await until(lambda: servers.services.lines)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: "cancelled" in servers.server().log.path.read_text())
        assert (await servers.call("echo", text="after")).text == "after"


@pytest.mark.parametrize(("fault", "noise", "bad"), [("banner", 3, 0), ("bytes", 1, 0)])
async def test_m_02_what_is_no_message_is_counted_and_ignored(
    tmp_path: Path, fault: str, noise: int, bad: int
) -> None:
    async with live(tmp_path, hostile(fault)) as servers:
        await servers.connected()
        assert (await servers.call("echo", text="hi")).text == "hi"
        traffic = servers.server().connection.traffic
        assert (traffic.noise, traffic.bad_text) == (noise, bad)
        assert servers.status().taken_out == f"lines that are no messages: {noise}"


async def test_m_02_a_server_that_writes_over_a_hundred_such_lines_has_failed(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("noise", "150")) as servers:
        await servers.connected()
        result = await servers.call("noise")
        assert result.failure is FailureKind.TOOL_ERROR
        await until(lambda: servers.status().state == "failed")
        assert "more than 100 lines that are no messages" in servers.status().error


async def test_m_02_a_line_of_200_mb_is_skipped_and_its_call_fails_in_little_memory(tmp_path: Path) -> None:
    import resource

    async with live(tmp_path, hostile("line200", "200")) as servers:
        await servers.connected()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = await servers.call("long")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // (
            1 if sys.platform == "linux" else 1024
        )
        assert result.failure is FailureKind.TOOL_ERROR
        assert f"at most {LINE_LIMIT:,} are read" in result.text
        assert grown < 60_000  # KB
        assert (await servers.call("echo", text="after")).text == "after"
        assert servers.server().connection.traffic.too_long == 1


def test_m_02_bytes_that_are_no_text_are_replaced_and_told_and_cost_no_message() -> None:
    assert parse_line(b'{"result": "caf\xe9"}') == ({"result": "caf\ufffd"}, False)
    assert parse_line('{"result": "café"}'.encode()) == ({"result": "café"}, True)


async def test_m_02_numbers_that_json_does_not_have_do_not_cost_the_answer(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("nan")) as servers:
        await servers.connected()
        assert (await servers.call("nan")).data == {"v": None}


async def test_m_03_exit_at_start_says_the_code_and_the_last_words(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("exit3")) as servers:
        await servers.servers.settle(60)
        assert servers.status().state == "failed"
        assert "exit code 3" in servers.status().error
        assert "cannot find my database" in servers.status().error


async def test_m_03_a_program_that_ends_before_it_is_spoken_to_says_its_code_and_not_that_it_is_deaf(
    tmp_path: Path,
) -> None:
    entry = replace(hostile(), command="sh", args=("-c", "exit 5"), written={"command": "sh"})
    async with live(tmp_path, entry) as servers:
        await servers.servers.settle(60)
        assert servers.status().error == "it ended with exit code 5"


async def test_m_03_a_program_that_is_not_there_is_not_tried_again(tmp_path: Path) -> None:
    entry = hostile()
    missing = type(entry)(
        "h", "stdio", "user", None, command="no-such-program-here", written={"command": "x"}
    )
    async with live(tmp_path, missing) as servers:
        await servers.servers.settle(60)
        assert "there is no program no-such-program-here" in servers.status().error
        assert servers.server().connection.restart_at is None


def test_the_last_words_of_a_stack_trace_are_what_it_is_about(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "log", str)
    python = (
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n    import nothing_here\n'
        "ModuleNotFoundError: No module named 'nothing_here'\n"
    )
    log.feed(python.encode())
    assert log.last_words() == "ModuleNotFoundError: No module named 'nothing_here'"
    node = (
        "node:internal/modules/cjs/loader:1\n  throw err;\n  ^\n\nError: Cannot find module '/x'\n"
        "    at resolve (node:internal:1:1) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v22\n"
    )
    log.feed(node.encode())
    assert log.last_words().endswith("Error: Cannot find module '/x' / Node.js v22")


async def test_m_03_exit_in_the_middle_of_calls_ends_them_at_once_and_others_go_on(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("faulty"), hostile(name="good")) as servers:
        await servers.connected()
        waiting = asyncio.ensure_future(servers.call("slow", seconds=30, steps=300))
        await until(lambda: servers.services.lines)
        dead, slow = await servers.call("die"), await waiting
        assert dead.failure is slow.failure is FailureKind.TOOL_ERROR
        assert "exit code 7" in slow.text
        assert servers.status().tools == 6  # they stay listed
        assert (await servers.call("echo", "good", text="fine")).text == "fine"


async def test_m_03_it_is_started_again_once_and_not_at_once_a_second_time(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("faulty", str(tmp_path / "mark"))) as servers:
        await servers.connected()
        assert (await servers.call("die_once")).failure is FailureKind.TOOL_ERROR
        # The restart is due within a second: the next call waits for it.
        assert (await servers.call("die_once")).text == "alive again"
        await servers.call("die")
        await until(lambda: servers.status().state == "failed")
        result = await servers.call("echo", text="?")
        assert "it is started again in" in result.text
        tool = servers.tools()["echo"]
        objection = servers.servers.objection("h", tool.definition)
        assert objection is not None
        assert "Nothing was done" in objection
        assert "connected" in await servers.servers.reconnect("h")
        assert (await servers.call("echo", text="by hand")).text == "by hand"


def test_m_03_a_program_is_started_again_three_times_at_most_and_once_a_minute() -> None:
    restarts, now, delays = Restarts.of("stdio"), 1000.0, list[float | None]()
    for _ in range(4):
        delays.append(delay := restarts.delay(now))
        now += delay or 0.0
        restarts.count(now)
    assert delays == [1.0, 60.0, 60.0, None]
    restarts.lasted(3600)
    assert restarts.delay(now + 3600) is None, "only a hand brings it back"


async def test_m_03_after_three_restarts_it_stays_down_and_its_tools_stay_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restart_times, "FIRST_DELAY", 0.01)
    async with live(tmp_path, hostile("faulty")) as servers:
        await servers.connected()
    async with live(tmp_path, hostile("faulty")) as servers:
        connection = servers.server().connection
        connection.restarts.apart = 0.0
        down = replace(servers.server().entry, args=("-c", "import sys; sys.exit('no disk')"))
        servers.server().entry = down
        connection.start()
        await until(lambda: servers.status().state == "failed" and connection.restart_at is None)
        assert servers.server().log.path.read_text().count("started as process") == 1 + 4
        assert len(servers.tools()) == servers.status().tools == 6
        objection = servers.servers.objection("h", servers.tools()["echo"].definition)
        assert objection is not None
        assert "no disk" in objection
        assert "started again" not in objection
        assert (await servers.call("echo", text="?")).failure is FailureKind.TOOL_ERROR


async def test_m_04_answers_to_nothing_are_dropped_and_counted(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("ids"), hostile("early", name="early")) as servers:
        await servers.connected()
        assert (await servers.call("wrong")).text == "right"
        assert (await servers.call("twice")).text == "first"
        assert (await servers.call("echo", text="hi")).text == "hi"
        await until(lambda: servers.server().connection.traffic.stray == 3)
        assert "from_nowhere" not in servers.tools("early")
        assert (await servers.call("echo", "early", text="hi")).text == "hi"
        await until(lambda: servers.server("early").connection.traffic.stray == 2)


async def test_m_04_answers_in_another_order_reach_their_calls(tmp_path: Path) -> None:
    async with live(tmp_path, hostile()) as servers:
        await servers.connected()
        calls = [servers.call("slow", seconds=seconds) for seconds in (0.6, 0.1)]
        others = [servers.call("echo", text=str(number)) for number in range(20)]
        results = await asyncio.gather(*calls, *others)
        assert [each.text for each in results] == ["done", "done", *map(str, range(20))]


async def test_m_04_a_late_answer_is_dropped(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("late", timeout=1.2)) as servers:
        await servers.connected()
        assert (await servers.call("slow", seconds=2.0, steps=4)).failure is FailureKind.TIMEOUT
        await until(lambda: servers.server().connection.traffic.stray == 1)
        take_your_time(servers)
        assert (await servers.call("echo", text="after")).text == "after"


async def test_m_04_sampling_is_refused_as_an_unknown_method(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("sampling")) as servers:
        await servers.connected()
        assert json.loads((await servers.call("sample")).text)["code"] == -32601
        assert servers.server().connection.traffic.refused == 1
        assert servers.status().taken_out == "requests that mcode does not serve: 1"


async def test_m_04_ten_thousand_notifications_a_second_do_not_hold_up_the_loop(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("flood")) as servers:
        await servers.connected()
        traffic = servers.server().connection.traffic
        longest, first, before = 0.0, traffic.dropped, time.process_time()
        async with asyncio.timeout(60):
            while traffic.dropped - first < 5_000:
                began = time.process_time()
                await asyncio.sleep(0.01)
                longest = max(longest, time.process_time() - began)
        used = time.process_time() - before
        assert (await servers.call("echo", text="hi")).text == "hi"
        assert used < 0.5  # CPU of half a second's flood
        assert longest < 0.3


async def test_m_04_roots_are_told_only_where_the_entry_wants_it(tmp_path: Path) -> None:
    where = tmp_path / "project"
    told = hostile("roots", name="told", own={"roots": True})
    async with live(tmp_path, hostile("roots"), told, roots=lambda: (where,)) as servers:
        await servers.connected()
        assert json.loads((await servers.call("roots")).text)["code"] == -32601
        given = json.loads((await servers.call("roots", "told")).text)
        assert given["roots"] == [{"uri": where.as_uri(), "name": "project"}]


async def test_a_server_that_is_silent_on_the_newest_question_is_taken_for_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "PROBE_TIME", 0.5)
    async with live(tmp_path, hostile("silent")) as servers:
        await servers.connected()
        assert servers.server().connection.protocol == "2025-06-18"


async def test_a_server_that_never_reads_fails_without_holding_anything_up(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("deaf", startup_timeout=0.5)) as servers:
        await servers.servers.settle(60)
        assert servers.status().state == "failed"
    assert os.path.exists(tmp_path)
