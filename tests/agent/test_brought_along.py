"""What skills and kinds of agents bring along in their files: hooks, servers, effort, and work in the background."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from mcode.events import Notice, ToolStarted
from mcode.wiring.item_question import APPROVE
from mcode.wiring.options import Options
from tests.agent.test_skills import answer_question, write
from tests.agent.test_subagents import script, start
from tests.commands.typing import typed
from tests.mcp.live import HOSTILE
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.events import Event
    from tests.stage import Stage


def guard(out: Path, event: str = "PreToolUse") -> str:
    """Lines of front matter with one hook that writes down what it is told."""
    command = f"command: 'cat >> {out}; echo >> {out}'"
    return f"hooks:\n  {event}:\n    - hooks:\n        - type: command\n          {command}"


def heard(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines() if line.strip()] if out.exists() else []


def notices(here: Stage) -> str:
    return "\n".join(event.text for event in here.of(Notice))


async def test_hooks_of_a_skill_run_in_the_turn_that_invokes_it_and_no_longer(tmp_path: Path) -> None:
    out = tmp_path / "seen"
    write(tmp_path / "home/.claude/skills/look/SKILL.md", f"---\neffort: high\n{guard(out)}\n---\nLook.")
    calls = [use("Glob", f"toolu_{number}", pattern="*") for number in range(3)]
    async with stage(tmp_path, turns(calls[0], "A.", calls[1], "B.", calls[2], "C.")) as here:
        await here.say("first")
        await here.say("/look around")
        await here.say("last")
        shown = (await typed(here, "/skills")).data[0]
        efforts = [body.get("output_config") for body in here.client.requests]
        again = await typed(here, "/context view 2")
    assert [each["tool_use_id"] for each in heard(out)] == ["toolu_1"]
    assert heard(out)[0]["effort"] == {"level": "high"}
    assert (shown["hooks"], shown["effort"], shown["problem"]) == (["PreToolUse"], "high", "")
    assert efforts == [None, None, {"effort": "high"}, {"effort": "high"}, None, None]
    assert '"effort": "high"' in again.text


async def test_hooks_of_the_projects_skill_count_once_the_file_is_approved(tmp_path: Path) -> None:
    out = tmp_path / "seen"
    write(tmp_path / "project/.claude/skills/look/SKILL.md", f"---\ndescription: L\n{guard(out)}\n---\nLook.")
    calls = [use("Glob", f"toolu_{number}", pattern="*") for number in range(2)]
    async with stage(tmp_path, turns(calls[0], "A.", calls[1], "B.")) as here:
        await here.say("/look")
        assert "is not approved, so its hooks do not count" in notices(here)
        asked = answer_question(here, APPROVE)
        await here.say("/look")
        assert f"hook PreToolUse: cat >> {out}" in asked[0].questions[0].text
    assert [each["tool_use_id"] for each in heard(out)] == ["toolu_1"]


async def test_what_a_file_wants_is_shown_and_kept_without_secrets_and_each_part_on_one_line(
    tmp_path: Path,
) -> None:
    secret = "sk-" + "ant-api03-" + "aB3dE5fG7h" * 9
    lines = (
        "hooks:",
        "  Stop:",
        "  - hooks:",
        "    - command: |",
        f"        echo {secret}",
        "          runs: nothing",
    )
    text = f"---\nname: helper\ndescription: L\n{chr(10).join(lines)}\n---\nLook."
    write(tmp_path / "project/.claude/skills/look/SKILL.md", text)
    write(tmp_path / "project/.claude/agents/helper.md", text)
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="helper")
    async with stage(tmp_path, turns("A.", call, "Done.", "B."), new_prefixes=2) as here:
        asked = answer_question(here, APPROVE)
        await here.say("/look")
        await here.say("go")
    kept = (tmp_path / "home/.mcode/trust.json").read_text()
    shown = [event.questions[0].text for event in asked]
    assert [len(each.splitlines()) for each in shown] == [2, 2]
    assert all("\u2039U+000A\u203a  runs: nothing" in each for each in shown)
    assert secret not in f"{shown}{kept}"
    assert "secret:" in kept


async def test_hooks_that_cannot_be_read_are_named_and_none_of_them_runs(tmp_path: Path) -> None:
    text = (
        "---\ndescription: L\nhooks:\n  PreToolUse:\n    - hooks:\n      - command: a\n     bad\n---\nLook."
    )
    write(tmp_path / "home/.claude/skills/look/SKILL.md", text)
    async with stage(tmp_path, turns("A.")) as here:
        assert "its hooks cannot be read" in notices(here)
        assert (await here.say("/look")).reason == "end"


async def test_an_endpoint_that_takes_no_effort_is_asked_without_it_from_then_on(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/skills/think/SKILL.md", "---\neffort: max\n---\nThink.")
    refusal = {"error": {"type": "invalid_request_error", "message": "output_config: unknown", "status": 400}}
    async with stage(tmp_path, turns(refusal, "Thought.", "Again.")) as here:
        assert (await here.say("/think")).text == "Thought."
        assert (await here.say("/think")).text == "Again."
    assert ["output_config" in body for body in here.client.requests] == [True, False, False]


async def test_every_hook_of_a_turn_is_told_the_effort_that_is_in_force_and_none_after_it(
    tmp_path: Path,
) -> None:
    out = tmp_path / "seen"
    events = ("UserPromptSubmit", "PreToolUse", "Stop", "StopFailure")
    handler = {"type": "command", "command": f"printf '%s\\n' \"$(cat)\" >> {out}"}
    settings = {"hooks": {event: [{"hooks": [handler]}] for event in events}}
    write(tmp_path / "home/.claude/skills/think/SKILL.md", "---\neffort: high\n---\nThink.")
    failure = {"error": {"type": "authentication_error", "message": "no", "status": 401}}
    refusal = {"error": {"type": "invalid_request_error", "message": "output_config: unknown", "status": 400}}
    replies = turns(use("Glob", pattern="*"), "A.", "B.", failure, refusal, "C.")
    async with stage(tmp_path, replies, settings=settings) as here:
        for text in ("/think", "plain", "/think"):
            await here.say(text)
        await until(lambda: len(heard(out)) == 7)  # nobody waits for the hook of the failure
        await here.say("/think")
    told = [(each["hook_event_name"], each.get("effort")) for each in heard(out)]
    high = {"level": "high"}
    assert told == [
        *(("UserPromptSubmit", high), ("PreToolUse", high), ("Stop", high)),
        *(("UserPromptSubmit", None), ("Stop", None)),
        *(("UserPromptSubmit", high), ("StopFailure", high)),
        *(("UserPromptSubmit", high), ("Stop", None)),
    ]


async def test_hooks_of_a_kind_run_for_its_own_calls_and_at_its_end(tmp_path: Path) -> None:
    out = tmp_path / "seen"
    stop = f"  Stop:\n    - hooks:\n        - command: cat >> {out}"
    fields = f"name: scout\ndescription: S\neffort: low\n{guard(out)}\n{stop}"
    write(tmp_path / "home/.claude/agents/scout.md", f"---\n{fields}\n---\nScout.")
    own, theirs = use("Glob", "toolu_own", pattern="*"), use("Glob", "toolu_theirs", pattern="*")
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="scout")
    async with stage(tmp_path, turns(call, theirs, "Seen.", own, "End."), new_prefixes=2) as here:
        await here.say("go")
        efforts = [body.get("output_config") for body in here.client.requests]
    assert [each["hook_event_name"] for each in heard(out)] == ["PreToolUse", "SubagentStop"]
    assert heard(out)[0]["tool_use_id"] == "toolu_theirs"
    assert [each["effort"] for each in heard(out)] == [{"level": "low"}] * 2
    assert efforts == [None, {"effort": "low"}, {"effort": "low"}, None, None]


def with_server(*more: str) -> str:
    entry = f"  - own:\n      command: {sys.executable}\n      args: [{HOSTILE}, none]\n  - wiki"
    return "\n".join(("---", "name: helper", "description: H", *more, "mcpServers:", entry, "---", "Help."))


async def test_a_kind_has_servers_of_its_own_that_run_while_it_does(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/agents/helper.md", with_server("tools: Read"))
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="helper")
    replies = turns(call, use("mcp__own__add", "toolu_s", a=2, b=3), "Five.", "End.")
    settings = {"permissions": {"allow": ["mcp__own__add"]}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:
        await here.say("go")
        inner, outer = here.outcomes
        theirs = [tool["name"] for tool in here.client.requests[1]["tools"]]
        shown = next(
            each for each in (await typed(here, "/agents")).data["agents"] if each["name"] == "helper"
        )
        assert here.agent.catalog.find("mcp__own__add") is None
        assert not here.bench.pool.statuses()
    assert (inner.call.tool, inner.call.parent, inner.text) == ("mcp__own__add", "toolu_a", "5")
    assert outer.text == "Five."
    assert {"Read", "mcp__own__add"} <= set(theirs)
    assert "Bash" not in theirs
    assert (shown["servers"], shown["own_servers"]) == (["wiki"], ["own"])


async def test_a_server_of_its_own_is_not_the_sessions_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/agents/helper.md", with_server("tools: Read"))
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="helper")
    replies = turns(call, use("mcp__own__add", "toolu_s", a=2, b=3), "Five.", "End.")
    settings = {"permissions": {"allow": ["mcp__own__add"]}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:

        def lose(event: Event) -> None:
            """The session's server goes while the sub-agent works."""
            del event
            if here.agent.subagents.running:
                here.agent.catalog.replace_server("own", [])

        here.agent.events.subscribe(lose)
        await here.say("go")
        inner = here.outcomes[0]
    assert (inner.call.tool, inner.text) == ("mcp__own__add", "5")


async def test_servers_of_the_projects_kind_wait_for_the_users_word(tmp_path: Path) -> None:
    write(tmp_path / "project/.claude/agents/helper.md", with_server())
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="helper")
    again = {**call, "id": "toolu_b"}
    async with stage(tmp_path, turns(call, "No.", "End.", again, "Yes.", "End."), new_prefixes=4) as here:
        await here.say("go")
        assert "is not approved, so its servers do not count" in notices(here)
        asked = answer_question(here, APPROVE)
        await here.say("go")
    assert f"server own, runs: {sys.executable} {HOSTILE} none" in asked[0].questions[0].text
    assert ["mcp__own__add" in str(here.client.requests[at]) for at in (1, 4)] == [False, True]


async def test_strict_servers_and_servers_that_fail_leave_the_agent_at_work(tmp_path: Path) -> None:
    broken = (
        "---\nname: helper\ndescription: H\nmcpServers:\n  - own:\n      command: /nowhere/at/all\n---\nHelp."
    )
    write(tmp_path / "home/.claude/agents/helper.md", broken)
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="helper")
    async with stage(tmp_path, turns(call, "Done.", "End."), new_prefixes=2) as here:
        assert (await here.say("go")).text == "End."
        assert "The MCP server own is not available" in json.dumps(here.client.requests[1]["messages"])
    strict = Options(strict_mcp=True)
    async with stage(tmp_path, turns(call, "Done.", "End."), options=strict, new_prefixes=2) as here:
        await here.say("go")
        assert "works without servers of its own: --strict-mcp-config" in notices(here)


async def test_an_agent_in_the_background_answers_later_and_is_listed_meanwhile(tmp_path: Path) -> None:
    calm = "---\nname: calm\ndescription: C\nbackground: true\n---\nWait."
    write(tmp_path / "home/.claude/agents/calm.md", calm)
    flag = tmp_path / "go"
    wait = f"until [ -e {flag} ]; do sleep 0.05; done"
    replies = script(
        main=[
            use("Agent", "toolu_a", prompt="apple", description="d", subagent_type="calm"),
            "Meanwhile.",
            "Apple.",
            "It has come.",
        ],
        apple=[use("Bash", "toolu_w", command=wait)],
    )
    settings = {"permissions": {"allow": ["Bash(until *)", "Bash"]}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=4) as here:
        assert (await here.say("go")).text == "Meanwhile."
        assert "goes on in the background" in here.outcomes[0].summary
        await until(lambda: bool(here.agent.subagents.running))
        (running,) = (await typed(here, "/agents")).data["running"]
        assert running["agent"] == "calm"
        assert "- d (calm, call toolu_a)" in here.agent.subagents.running_text()
        flag.touch()
        await until(lambda: "It has come." in str(here.journal))
        await until(lambda: not here.agent.busy)
        said = json.dumps(here.client.requests[-1]["messages"][-1])
    assert "Agent, which went on in the background (call toolu_a), is done. Its result:" in said
    assert "Apple." in said


async def test_an_agent_in_the_background_ends_with_the_session(tmp_path: Path) -> None:
    arguments = {"prompt": "apple", "description": "d", "run_in_background": True}
    call = use("call_tool", "toolu_a", name="Agent", arguments=arguments)
    replies = script(main=[call, "Meanwhile."], apple=[use("Bash", "toolu_w", command="sleep 30"), "Never."])
    settings = {"permissions": {"allow": ["Bash(sleep *)"]}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:
        await here.say("go")
        await until(lambda: any(event.call.id == "toolu_w" for event in here.of(ToolStarted)))
        async with asyncio.timeout(25):
            await here.agent.close("other")
    assert "Ended with the session, without a result: Agent" in notices(here)


async def test_a_sub_agent_hears_of_skills_near_the_files_that_it_reads(tmp_path: Path) -> None:
    write(
        tmp_path / "project/lib/.claude/skills/weld/SKILL.md", "---\ndescription: Joins pipes\n---\nWeld $0."
    )
    write(tmp_path / "project/lib/a.txt", "x\n")
    read = use("Read", "toolu_r", file_path="lib/a.txt")
    weld = use("call_tool", "toolu_k", name="Skill", arguments={"skill": "weld", "args": "two"})
    replies = turns(start("toolu_a", "look"), read, weld, "Welded.", "End.")
    async with stage(tmp_path, replies, new_prefixes=2) as here:
        await here.say("go")
        theirs = json.dumps(here.client.requests[2]["messages"])
        parents = json.dumps(here.client.requests[-1]["messages"])
    assert "- weld: Joins pipes" in theirs
    assert [each.text for each in here.outcomes if each.call.tool == "Skill"] == ["Weld two."]
    assert "Joins pipes" not in parents
