"""A server's deferred tool in the real program, from the question to the answer, in each way of loading."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.script import parse_script
from tests.e2e.binary import ROOT, endpoint
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.prefixes import check_prefixes
from tests.stage import turns, use
from tools.messages_server import Capabilities, running_server

if TYPE_CHECKING:
    from mcode.model.script import Script
    from tests.e2e.binary import Machine

SERVER = ROOT / "tests" / "mcp" / "hostile_server.py"
TOOL = "mcp__stand__echo"


def prepared(machine: Machine, way: str) -> None:
    """A user with one server, whose tools are always deferred."""
    machine.settings({"mcode": {"toolSearch": {"mode": "always", "loading": way}}})
    entry = {"command": sys.executable, "args": [str(SERVER), "none"]}
    path = Path(machine.home) / ".mcode" / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"stand": entry}}))


def story(way: str, times: int = 1) -> Script:
    direct = use(TOOL, "c1", text="hello")
    through: dict[str, Any] = {
        "type": "tool_use",
        "id": "c1",
        "name": "call_tool",
        "input": {"name": TOOL, "arguments": {"text": "hello"}},
    }
    search = use("tool_search", "s1", queries=["echo"])
    replies = (search, through if way == "call" else direct, "It came back.")
    return parse_script(turns(*replies * times), way)


def endpoint_for(way: str) -> Capabilities:
    return Capabilities(defer_loading="honour" if way == "reference" else "400")


@pytest.mark.parametrize("way", ["reference", "call", "append"])
def test_search_load_call_with_approval_and_answer(machine: Machine, way: str) -> None:
    prepared(machine, way)
    with (
        running_server(story(way), capabilities=endpoint_for(way)) as server,
        BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal,
    ):
        terminal.wait_for_row(PROMPT)
        terminal.say("send hello there and back")
        terminal.wait_for(TOOL)
        terminal.decide("once")
        terminal.wait_for("It came back.")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        check_prefixes(server.bodies)
        first, second, third = server.bodies
        assert not [tool["name"] for tool in first["tools"] if tool["name"].startswith("mcp__")]
        result = third["messages"][-1]["content"][0]
        assert (result["tool_use_id"], result.get("is_error")) == ("c1", None)
        assert "hello" in str(result["content"])
        assert ("tool_reference" in str(second)) is (way == "reference")


@pytest.mark.new_prefixes(1)
def test_an_endpoint_that_refuses_references_is_gone_on_with_and_not_tried_again(machine: Machine) -> None:
    prepared(machine, "reference")
    with running_server(story("call", times=2), capabilities=Capabilities(defer_loading="400")) as server:
        with BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.say("send hello there and back")
            terminal.wait_for(TOOL)
            terminal.decide("once")
            terminal.wait_for("It came back.")
            terminal.say("/quit")
            assert terminal.wait_for_end() == 0
        ran = machine.run("-p", "once more", "--allowedTools", TOOL, server=server)
        assert ran.out.strip() == "It came back."
        _, refused, *mended = server.bodies
        assert any(tool.get("defer_loading") for tool in refused["tools"])
        assert "tool_reference" in str(refused["messages"])
        assert len(mended) == 5
        assert not any(word in str(mended) for word in ("defer_loading", "tool_reference"))
        assert "hello" in str(mended[1]["messages"][-1]["content"][0]["content"])


def test_stream_json_and_rules_speak_of_the_tool_that_is_meant(machine: Machine) -> None:
    prepared(machine, "call")
    with running_server(story("call")) as server:
        arguments = ("--output-format", "stream-json", "--allowedTools", TOOL)
        ran = machine.run("-p", "send hello", *arguments, server=server)
    assert ran.code == 0, ran.err
    calls = [
        (block["id"], block["name"], block["input"])
        for line in ran.lines
        if line["type"] == "assistant"
        for block in line["message"]["content"]
        if block["type"] == "tool_use"
    ]
    assert calls[1] == ("c1", TOOL, {"text": "hello"})
    assert ran.lines[-1]["permission_denials"] == []
    assert ran.lines[-1]["result"] == "It came back."
