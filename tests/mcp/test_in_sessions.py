"""Servers in whole sessions: their tools, their start, their changes, and what the user is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.events import ApprovalRequested, Notice
from mcode.ui.headless import HeadlessFrontEnd
from tests.commands.typing import typed
from tests.mcp.live import HOSTILE
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

ROOT = Path(__file__).parents[2]


def configure(root: Path, **servers: dict[str, Any]) -> None:
    """Entries of the user's, each the hostile server with `args` and what else is given."""
    state = root / "home" / ".mcode"
    state.mkdir(parents=True, exist_ok=True)
    entries = {
        name: {"command": sys.executable, **entry, "args": [str(HOSTILE), *entry["args"]]}
        for name, entry in servers.items()
    }
    (state / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


async def test_a_session_has_the_tools_from_the_cache_at_once_and_connects_on_first_use(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns("hello")) as first:
        await first.bench.pool.settle(60)
    script = turns(use("mcp__h__add", a="2", b=3), "done", use("mcp__h__add", a=1, b=3), "done")
    async with stage(tmp_path, script) as opened:
        assert [status.state for status in opened.bench.pool.statuses()] == ["cached"]
        assert opened.agent.catalog.find("mcp__h__echo") is not None
        opened.answer("once")
        await opened.say("add")
        assert opened.result().text.startswith("5")
        assert [status.state for status in opened.bench.pool.statuses()] == ["connected"]
        stopped = await typed(opened, "/mcp stop h")
        assert "reconnect, starts it again" in stopped.text
        assert (stopped.data["state"], stopped.data["transport"]) == ("cached", "stdio")
        assert opened.agent.catalog.find("mcp__h__echo") is not None
        opened.answer("once")
        await opened.say("add again")
        assert opened.outcomes[-1].text.startswith("4")


async def test_an_allow_rule_does_not_cover_a_definition_that_changed(tmp_path: Path) -> None:
    state = tmp_path / "state.txt"
    configure(tmp_path, h={"args": ["changing", str(state)]})
    settings = {"permissions": {"allow": ["mcp__h__*"]}}
    calls = turns(use("mcp__h__echo", "a", text="one"), "ok")
    async with stage(tmp_path, calls, settings=settings) as opened:
        await opened.bench.pool.settle(60)
        await opened.say("go")
        assert opened.result().text == "one"
        assert not opened.of(ApprovalRequested)
    state.write_text("It changed. new")
    script = turns(
        use("mcp__h__echo", "a", text="two"),
        [use("mcp__h__echo", "b", text="three"), use("mcp__h__newcomer", "c")],
        [use("mcp__h__echo", "d", text="four"), use("mcp__h__add", "e", a=1, b=1)],
        "ok",
    )
    async with stage(tmp_path, script, settings=settings) as opened:
        opened.answer("once")
        await opened.say("go")
        texts = [outcome.text for outcome in opened.outcomes]
        assert "has changed its definition" in texts[0]
        assert texts[1:] == ["three", "new here", "four", "2"]
        asked = opened.of(ApprovalRequested)
        assert [request.call.tool for request in asked] == ["mcp__h__echo", "mcp__h__newcomer"]
        assert "has changed what echo is" in asked[0].reason
        assert "It changed." in asked[0].preview.body


async def test_without_anybody_to_ask_a_changed_tool_is_denied_and_dont_ask_says_why(tmp_path: Path) -> None:
    state = tmp_path / "state.txt"
    configure(tmp_path, h={"args": ["changing", str(state)]})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.bench.pool.settle(60)
    state.write_text("new")
    settings = {"permissions": {"allow": ["mcp__h"]}}
    async with stage(tmp_path, turns(use("mcp__h__newcomer"), "ok"), settings=settings) as opened:
        await opened.bench.pool.reconnect("h")
        await opened.say("go")
        assert "newcomer is new at the MCP server h" in opened.result().text


async def test_m_06_a_rule_covers_what_is_there_when_it_is_first_seen_and_nothing_later(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state.txt"
    configure(tmp_path, h={"args": ["changing", str(state)]})
    calls = turns([use("mcp__h__echo", "a", text="one"), use("mcp__h__newcomer", "b")], "ok")
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.bench.pool.settle(60)
        state.write_text("new")
        await opened.bench.pool.reconnect("h")
    settings = {"permissions": {"allow": ["mcp__h__*"]}}
    async with stage(tmp_path, calls, settings=settings) as opened:
        await opened.say("go")
        assert [outcome.text for outcome in opened.outcomes] == ["one", "new here"]
        assert not opened.of(ApprovalRequested)
        state.write_text("Changed again. new")
        await opened.bench.pool.reconnect("h")
    async with stage(tmp_path, calls, settings=settings) as opened:
        await opened.say("go")
        assert "has changed what echo is" in opened.outcomes[0].text
        assert opened.outcomes[1].text == "new here"


async def test_m_06_dont_ask_again_for_a_whole_server_covers_what_it_has_at_that_moment(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state.txt"
    configure(tmp_path, h={"args": ["changing", str(state)]})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.bench.pool.settle(60)
    update = {
        "type": "addRules",
        "rules": [{"toolName": "mcp__h"}],
        "behavior": "allow",
        "destination": "userSettings",
    }
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    said = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
    hook = {"type": "command", "command": f"echo '{said}'"}
    settings = {"hooks": {"PermissionRequest": [{"matcher": "mcp__h__echo", "hooks": [hook]}]}}
    state.write_text("new")
    calls = turns(use("mcp__h__echo", "a", text="one"), use("mcp__h__newcomer", "b"), "ok")
    async with stage(tmp_path, calls, settings=settings) as opened:
        await opened.bench.pool.reconnect("h")
        await opened.say("go")
        assert [outcome.text for outcome in opened.outcomes] == ["one", "new here"]
        state.write_text("It changed. new")
        await opened.bench.pool.reconnect("h")
        assert "mcp__h" in opened.bench.places.settings_file.read_text()
    kept = {"permissions": {"allow": ["mcp__h"]}}
    async with stage(tmp_path, turns(use("mcp__h__echo", "c", text="two"), "ok"), settings=kept) as opened:
        await opened.say("go")
        assert "has changed what echo is" in opened.result().text


async def test_m_12_a_changed_list_is_found_by_the_search_and_the_frozen_part_of_requests_stays(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state.txt"
    configure(tmp_path, h={"args": ["changing", str(state)]})
    script = turns(
        use("tool_search", "a", queries=["select:newcomer"]),
        "Nothing.",
        use("tool_search", "b", queries=["newcomer"]),
        use("call_tool", "c", name="mcp__h__newcomer", arguments={}),
        "There.",
    )
    async with stage(tmp_path, script, settings={"permissions": {"allow": ["mcp__h__*"]}}) as opened:
        await opened.bench.pool.settle(60)
        await opened.say("look")
        assert not opened.result().data["loaded"]
        state.write_text("new")
        server = opened.bench.pool.get("h")
        assert server is not None
        server.connection._orders.put_nowait("tools")
        await until(lambda: opened.agent.catalog.find("mcp__h__newcomer") is not None)
        opened.answer("once")
        await opened.say("look again")
        assert [outcome.text for outcome in opened.outcomes if outcome.call.tool == "mcp__h__newcomer"] == [
            "new here"
        ]
        first, *later = [body["tools"] for body in opened.client.requests]
        assert all(tools == first for tools in later)


async def test_a_large_result_is_told_of_and_a_variable_says_what_the_model_gets(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    long = "word " * 12_000
    script = turns(use("mcp__h__echo", text=long), "Done.")
    settings = {"permissions": {"allow": ["mcp__h"]}}
    variable = {"MAX_MCP_OUTPUT_TOKENS": "500"}
    async with stage(tmp_path, script, settings=settings, environment=variable) as opened:
        await opened.bench.pool.settle(60)
        await opened.say("go")
        assert len(opened.result().text) < 5_000
        assert opened.result().full_text.strip() == long.strip()
        (told,) = [notice.text for notice in opened.of(Notice) if "MAX_MCP_OUTPUT_TOKENS" in notice.text]
        assert "some 15,000 tokens; the model is given 500 at most" in told


async def test_servers_that_want_them_are_told_of_the_working_directories_of_the_session(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["roots"], "mcode": {"roots": True}})
    other = tmp_path / "other"
    other.mkdir()
    script = turns(use("mcp__h__roots"), "Done.")
    async with stage(tmp_path, script, settings={"permissions": {"allow": ["mcp__h"]}}) as opened:
        await opened.bench.pool.settle(60)
        await typed(opened, f"/add-dir {other}")
        await opened.say("go")
        told = [root["uri"] for root in json.loads(opened.result().text)["roots"]]
        assert told == [opened.project.as_uri(), other.as_uri()]


async def test_a_failed_server_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.bench.pool.settle(60)
        server = opened.bench.pool.get("h")
        assert server is not None
        server.connection._fail("its disk is full", for_good=True)
        await server.connection.stop()
        server.connection.state = "failed"
    async with stage(tmp_path, turns(use("mcp__h__echo", text="x"), "ok")) as opened:
        server = opened.bench.pool.get("h")
        assert server is not None
        server.connection._fail("its disk is full", for_good=True)
        opened.answer("once")
        await opened.say("go")
        assert not opened.of(ApprovalRequested)
        assert "is not available: its disk is full. Nothing was done" in opened.result().text


async def test_an_always_loaded_server_that_nothing_is_known_of_is_in_the_first_request(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["none"], "alwaysLoad": True})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.say("hi")
        sent = [tool["name"] for tool in opened.client.requests[0]["tools"]]
        assert "mcp__h__echo" in sent


async def test_a_server_that_hangs_holds_up_only_who_has_to_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcode.wiring.servers.HOLD", 60.0)
    configure(tmp_path, h={"args": ["hang"]})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.say("hi")
        (hanging,) = opened.bench.pool.statuses()
        assert hanging.state == "connecting", "it was not waited for"
        assert opened.client.requests


async def test_the_first_line_of_a_stream_names_the_servers(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]}, off={"args": ["none"], "disabled": True})
    lines: list[str] = []

    class Output:
        def answer(self, text: str) -> None:
            lines.append(text)

        def remark(self, text: str) -> None:
            raise AssertionError(text)

    async def prompts() -> AsyncIterator[str]:
        yield "hi"

    async with stage(tmp_path, turns("hello")) as opened:
        front_end = HeadlessFrontEnd(opened.agent, Output(), output_format="stream-json")
        assert await front_end.run(prompts()) == 0
    first = json.loads(lines[0])
    assert first["subtype"] == "init"
    assert first["mcp_servers"] == [
        {"name": "h", "status": "pending"},
        {"name": "off", "status": "disabled"},
    ]


async def test_servers_outlive_a_session_and_serve_the_next(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns("hello", use("mcp__h__echo", text="again"), "ok")) as opened:
        await opened.bench.pool.settle(60)
        server = opened.bench.pool.get("h")
        assert server is not None
        task = server.connection._task
        await opened.agent.close("clear")
        after = await opened.bench.open_agent("clear")
        await after.start("clear")
        assert after.catalog.find("mcp__h__echo") is not None
        assert server.connection._task is task
        assert opened.bench.pool.statuses()[0].state == "connected"
        await after.close("other")


async def test_the_screen_of_results_knows_the_promised_shape(tmp_path: Path) -> None:
    configure(tmp_path, h={"args": ["results"]})
    async with stage(tmp_path, turns(use("mcp__h__misfit"), "ok")) as opened:
        await opened.bench.pool.settle(60)
        opened.answer("once")
        await opened.say("go")
        assert "n: expected number" in opened.result().text


async def test_no_library_of_the_protocol_is_loaded_for_a_request_that_needs_no_server(
    tmp_path: Path,
) -> None:
    configure(tmp_path, h={"args": ["none"]})
    async with stage(tmp_path, turns("hello")) as opened:
        await opened.bench.pool.settle(60)
    program = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.stage import stage, turns

async def main():
    async with stage(Path({str(tmp_path)!r}), turns("hello")) as opened:
        await opened.say("hi")
        states = [status.state for status in opened.bench.pool.statuses()]
        print(*states, "mcp" in sys.modules, len(opened.client.requests))

asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["cached", "False", "1"]
