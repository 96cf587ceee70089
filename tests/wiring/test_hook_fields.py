"""What hooks are told, event by event and field by field: the members that scripts written for other agents read."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from tests.agent.test_subagents import SCOUT, start
from tests.commands.typing import typed
from tests.mcp.test_in_sessions import configure
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

COMMON = frozenset(("session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name"))
CALL = frozenset(("tool_name", "tool_input", "tool_use_id"))
AGENT = frozenset(("agent_id", "agent_type"))

Told = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One message to a hook: the event, which of its messages, and the members beside those of every event."""

    event: str
    where: Told
    """Members by which the message is found."""
    fields: frozenset[str]
    early: bool = False
    """It comes before the user has sent anything."""

    @override
    def __str__(self) -> str:
        return f"{self.event} {' '.join(map(str, self.where.values()))}"


def case(event: str, *fields: str, early: bool = False, **where: Any) -> Case:
    return Case(event, where, frozenset(fields), early)


CASES = (
    case("SessionStart", "source", "model", source="startup", early=True),
    case("SessionStart", "source", "model", "session_title", source="compact"),
    case("UserPromptSubmit", "prompt"),
    case("PreToolUse", *CALL, tool_use_id="b"),
    case("PreToolUse", *CALL, "mcp_server", tool_use_id="s"),
    case("PreToolUse", *CALL, *AGENT, "parent_tool_use_id", tool_use_id="inner"),
    case("PermissionRequest", "tool_name", "tool_input", "permission_suggestions"),
    case("PermissionDenied", *CALL, "reason"),
    case("PostToolUse", *CALL, "tool_response", "duration_ms", tool_use_id="b"),
    case("PostToolUse", *CALL, "tool_response", "duration_ms", "mcp_server", tool_use_id="s"),
    case("PostToolUseFailure", *CALL, "error", "is_interrupt", "duration_ms", tool_use_id="gone"),
    case("PostToolBatch", "tool_calls", agent_id=None),
    case("PostToolBatch", "tool_calls", *AGENT, agent_id="agent"),
    case("Notification", "message", "title", "notification_type"),
    case("SubagentStart", *AGENT),
    case("SubagentStop", *AGENT, "stop_hook_active", "last_assistant_message", "agent_transcript_path"),
    case("Stop", "stop_hook_active", "last_assistant_message"),
    case("PreCompact", "trigger", "custom_instructions"),
    case("PostCompact", "trigger", "compact_summary"),
    case("SessionEnd", "reason"),
)

EVENTS = tuple(dict.fromkeys(each.event for each in CASES))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """All that hooks were told in one session in which everything happens."""
    directory = tmp_path_factory.mktemp("fields")
    asyncio.run(_session(directory))
    return [json.loads(line) for line in (directory / "told").read_text().splitlines()]


async def _session(directory: Path) -> None:
    handler = {"type": "command", "command": f"printf '%s\\n' \"$(cat)\" >> {directory}/told"}
    settings = {
        "permissions": {"deny": ["Bash(rm *)"], "allow": ["mcp__h"]},
        "hooks": {event: [{"hooks": [handler]}] for event in EVENTS},
    }
    configure(directory, h={"args": ["none"], "alwaysLoad": True})
    agents = directory / "home" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "scout.md").write_text(SCOUT)
    calls = [
        use("Read", "gone", file_path="gone.txt"),
        use("Bash", "b", command="touch x"),
        use("Bash", "d", command="rm x"),
        use("mcp__h__echo", "s", text="one"),
    ]
    inside = [use("Read", "inner", file_path="gone.txt"), "nothing there"]
    replies = turns(calls, start("agent", "find it", "scout"), *inside, "all done", "a summary")
    async with stage(directory, replies, settings=settings, new_prefixes=3) as opened:
        opened.answer("once")
        opened.agent.rename("fields")
        await opened.bench.pool.settle(30)
        assert (await opened.say("look at it")).text == "all done"
        await typed(opened, "/compact keep the names")
        for _ in range(3_000):
            if '"Notification"' in (directory / "told").read_text():
                break
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("each", CASES, ids=str)
def test_a_hook_is_told_the_members_of_its_event_and_no_others(told: list[Told], each: Case) -> None:
    found = [
        message
        for message in told
        if message["hook_event_name"] == each.event
        and all(message.get(name) == value for name, value in each.where.items())
    ]
    assert found, [message["hook_event_name"] for message in told]
    for message in found:
        assert set(message) == COMMON | each.fields | (frozenset() if each.early else {"prompt_id"})
        assert None not in message.values()


def test_every_message_of_one_prompt_has_the_same_id(told: list[Told]) -> None:
    assert len({message["prompt_id"] for message in told if "prompt_id" in message}) == 1


def test_members_say_what_happened(told: list[Told]) -> None:
    by_event = {message["hook_event_name"]: message for message in told}
    served = next(message for message in told if message.get("tool_use_id") == "s")
    assert (served["tool_name"], served["mcp_server"]) == ("mcp__h__echo", {"name": "h", "source": "user"})
    assert by_event["UserPromptSubmit"]["prompt"] == "look at it"
    asked = by_event["PermissionRequest"]
    assert (asked["tool_name"], asked["tool_input"]) == ("Bash", {"command": "touch x"})
    (suggestion, *_) = asked["permission_suggestions"]
    assert (suggestion["type"], suggestion["behavior"]) == ("addRules", "allow")
    assert suggestion["rules"] == [{"toolName": "Bash", "ruleContent": "touch x"}]
    assert {each["tool_use_id"] for each in _batch(told)["tool_calls"]} == {"gone", "b", "d", "s"}
    assert by_event["Notification"]["notification_type"] == "permission_prompt"
    stopped = by_event["SubagentStop"]
    assert (stopped["agent_type"], stopped["last_assistant_message"]) == ("scout", "nothing there")
    assert by_event["Stop"]["last_assistant_message"] == "all done"
    assert by_event["PreCompact"]["custom_instructions"] == "keep the names"
    assert by_event["PostCompact"]["compact_summary"] == "a summary"
    assert by_event["SessionEnd"]["reason"] == "other"
    file = next(message for message in told if message.get("tool_use_id") == "gone")["tool_input"][
        "file_path"
    ]
    assert file == f"{by_event['Stop']['cwd']}/gone.txt", "paths are absolute before hooks see them"


def _batch(told: list[Told]) -> Told:
    return next(
        each for each in told if each["hook_event_name"] == "PostToolBatch" and "agent_id" not in each
    )
