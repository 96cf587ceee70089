"""Sub-agents in whole sessions: the same road, a context of their own, and only the last answer above."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from mcode.call import FailureKind, Origin, Status
from mcode.commands.ledger_reading import ledger_of
from mcode.events import ApprovalRequested, AssistantMessage, Notice, ToolStarted
from mcode.run_code.audit_read import read_audits
from mcode.wiring.options import Options
from tests.agent.test_skills import write
from tests.catalog.stand_ins import ServerTool
from tests.commands.typing import typed
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.events import Event

SCOUT = """\
---
name: scout
description: Looks for things. Use it: always
tools: Read, Grep, Bash(git *)
maxTurns: 3
color: blue
---
You look for things.
"""


def start(identifier: str, prompt: str, kind: str = "general-purpose") -> dict[str, Any]:
    """A call of Agent as the model makes it where it is deferred."""
    arguments = {"prompt": prompt, "description": "look", "subagent_type": kind}
    return use("call_tool", identifier, name="Agent", arguments=arguments)


def told(here: Stage, request: int) -> str:
    return json.dumps(here.client.requests[request]["messages"])


def tools_of(here: Stage, request: int) -> list[str]:
    return [tool["name"] for tool in here.client.requests[request]["tools"]]


def script(**replies: Any) -> dict[str, Any]:
    """`main` are the replies of the session, in order; others by a word of the sub-agent's task."""
    listed = replies.pop("main")
    made: list[dict[str, Any]] = []
    for word, answers in replies.items():
        made += [{"when": {"user": word}, **reply} for reply in turns(*answers)["turns"]]
    return {"turns": [*made, *turns(*listed)["turns"]]}


async def test_figures_in_a_file_that_nobody_can_mean_are_none(tmp_path: Path) -> None:
    write(
        tmp_path / "project/.claude/agents/scout.md",
        SCOUT.replace(
            "maxTurns: 3", f"maxTurns: {'9' * 5_000}\nhooks:\n  Stop:\n    - timeout: {'9' * 5_000}"
        ),
    )
    async with stage(tmp_path, turns("Hello.")) as here:
        assert here.agent.subagents.kinds["scout"].max_turns is None


async def test_only_the_last_answer_comes_back(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "a.txt", "the needle\n")
    write(project / "AGENTS.md", "Use tabs.")
    replies = turns(
        start("toolu_a", "find the needle"),
        [{"type": "text", "text": "Reading."}, use("Read", "toolu_r", file_path="a.txt")],
        "It is in a.txt:1.",
        "Found.",
    )
    settings = {"mcode": {"prices": {"scripted-1": {"input": 1, "output": 1}}}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:
        await here.say("where is it")
        inner, outer = here.outcomes
        shown = [event.call for event in here.of(ToolStarted)]
        messages = [event for event in here.of(AssistantMessage) if event.parent is not None]
        records = here.journal
        totals = here.agent.meter.totals
        ledger = ledger_of(here.agent)
        log = here.bench.places.logs / "verdicts.jsonl"
        verdicts = [json.loads(line) for line in log.read_text().splitlines()]
    assert (outer.call.tool, outer.text, outer.status) == ("Agent", "It is in a.txt:1.", Status.OK)
    assert (inner.call.tool, inner.call.parent, inner.call.origin) == ("Read", "toolu_a", Origin.MODEL)
    assert "the needle" in told(here, 2)
    assert "needle\\n" not in told(here, 3)
    assert "It is in a.txt:1." in told(here, 3)
    child = here.client.requests[1]
    assert "sub-agent" in child["system"][0]["text"]
    assert "Use tabs." in child["system"][0]["text"]
    assert "where is it" not in told(here, 1)
    assert "Agent" not in tools_of(here, 1)
    assert {"tool_search", "run_code", "Bash"} <= set(tools_of(here, 1))
    assert [call.tool for call in shown] == ["Agent", "Read"]
    assert len(messages) == 2
    assert totals.requests == 4
    assert totals.cost is not None
    assert outer.data["requests"] == 2
    assert (ledger["totals"]["round_trips"], ledger["totals"]["sub_agents"]) == (2, 2)
    assert [each["agent"] for each in ledger["requests"] if each["agent"]] == ["toolu_a", "toolu_a"]
    assert outer.data["calls"] == 1
    assert [each["tool"] for each in verdicts] == ["Agent", "Read"]
    assert verdicts[1]["parent"] == "toolu_a"
    assert any(record["type"] == "subagent" for record in records)


async def test_a_kind_of_the_projects_has_its_tools_and_its_limit(tmp_path: Path) -> None:
    write(tmp_path / "project/.claude/agents/deep/scout.md", SCOUT)
    write(tmp_path / "project/.claude/agents/README.md", "No agent, only words.")
    more = [use("Grep", f"toolu_g{number}", pattern="x") for number in range(3)]
    replies = turns(
        use("Agent", "toolu_a", prompt="look", description="d", subagent_type="scout"), *more, "So."
    )
    async with stage(tmp_path, replies, new_prefixes=2) as here:
        await here.say("go")
        listed = await typed(here, "/agents")
        (definition,) = [tool for tool in here.client.requests[0]["tools"] if tool["name"] == "Agent"]
    assert "- scout: Looks for things. Use it: always" in definition["description"]
    assert tools_of(here, 1) == ["Bash", "Grep", "Read"]
    assert here.client.requests[1]["system"][0]["text"].startswith("You look for things.")
    assert "limit" in here.result().text
    assert here.result().is_error
    assert [row["name"] for row in listed.data["agents"]] == ["general-purpose", "scout"]


async def test_grants_hold_in_both_and_a_denial_inside_ends_nothing(tmp_path: Path) -> None:
    replies = turns(
        use("Bash", "toolu_1", command="touch one"),
        start("toolu_a", "work"),
        use("Bash", "toolu_2", command="touch one"),
        use("Bash", "toolu_3", command="touch two"),
        use("Bash", "toolu_4", command="touch three"),
        "Child done.",
        use("Bash", "toolu_5", command="touch two"),
        "All done.",
    )
    async with stage(tmp_path, replies, new_prefixes=2) as here:
        here.agent.desk.attach()
        asked: list[ApprovalRequested] = []

        def receive(event: Event) -> None:
            if isinstance(event, ApprovalRequested):
                asked.append(event)
                choice = "deny" if "three" in str(event.call.arguments) else "session"
                asyncio.get_running_loop().call_soon(here.agent.desk.decide, event.approval_id, choice)

        here.agent.events.subscribe(receive)
        finished = await here.say("go")
    assert [event.call.id for event in asked] == ["toolu_1", "toolu_3", "toolu_4"]
    assert [event.agent for event in asked] == ["", "general-purpose", "general-purpose"]
    assert [choice.key for choice in asked[1].choices] == ["once", "session", "always", "deny"]
    assert here.outcomes[3].status is Status.DENIED
    assert finished.text == "All done."


async def test_several_run_side_by_side_and_one_can_be_stopped_alone(tmp_path: Path) -> None:
    replies = script(
        main=[[start("toolu_a", "apple"), start("toolu_b", "pear")], "Both are back."],
        apple=[use("Bash", "toolu_sleep", command="sleep 20"), "Never."],
        pear=["Pear done."],
    )
    settings = {"permissions": {"allow": ["Bash(sleep *)"]}}
    async with stage(tmp_path, replies, settings=settings, new_prefixes=4) as here:
        stopped: list[bool] = []

        def receive(event: Event) -> None:
            if isinstance(event, ToolStarted) and event.call.id == "toolu_sleep":
                loop = asyncio.get_running_loop()
                loop.call_later(0.3, lambda: stopped.append(here.agent.subagents.stop("toolu_a")))

        here.agent.events.subscribe(receive)
        finished = await here.say("go")
        assert not here.agent.subagents.running
    by_id = {outcome.call.id: outcome for outcome in here.outcomes}
    assert stopped == [True]
    assert by_id["toolu_sleep"].status is Status.CANCELLED
    assert by_id["toolu_a"].failure is FailureKind.CANCELLED
    assert by_id["toolu_b"].text == "Pear done."
    assert finished.text == "Both are back."


async def test_an_interrupt_takes_the_sub_agents_along(tmp_path: Path) -> None:
    replies = turns(start("toolu_a", "work"), use("Bash", "toolu_s", command="sleep 20"), "Never.")
    async with stage(
        tmp_path, replies, settings={"permissions": {"allow": ["Bash(sleep *)"]}}, new_prefixes=2
    ) as here:

        def receive(event: Event) -> None:
            if isinstance(event, ToolStarted) and event.call.id == "toolu_s":
                asyncio.get_running_loop().call_later(0.2, here.agent.interrupt)

        here.agent.events.subscribe(receive)
        finished = await here.say("go")
        session = here.agent.session.id
    assert finished.reason == "interrupted"
    assert {outcome.status for outcome in here.outcomes} == {Status.CANCELLED}
    async with stage(tmp_path, turns("Again."), source="resume", reference=session) as here:
        assert (await here.say("go on")).text == "Again."


async def test_its_mode_is_its_own_and_a_repository_cannot_loosen_it(tmp_path: Path) -> None:
    for name, mode in (("eager", "acceptEdits"), ("careful", "plan")):
        text = f"---\nname: {name}\ndescription: d\npermissionMode: {mode}\n---\nWork."
        write(tmp_path / f"home/.claude/agents/{name}.md", text)
        write(tmp_path / f"project/.claude/agents/{name}.md", text.replace(name, f"their-{name}"))
    calls: list[tuple[Any, ...]] = []
    for at, kind in enumerate(("eager", "their-eager", "careful")):
        begun = use("Agent", f"toolu_a{at}", prompt="w", description="d", subagent_type=kind)
        calls.append((begun, use("Write", f"toolu_w{at}", file_path=f"f{at}", content="x"), "ok"))
    async with stage(
        tmp_path, turns(*(each for call in calls for each in call), "End."), new_prefixes=9
    ) as here:
        await here.say("go")
    writes = [outcome.status for outcome in here.outcomes if outcome.call.tool == "Write"]
    assert writes == [Status.OK, Status.DENIED, Status.DENIED]
    assert any("cannot have" in notice.text for notice in here.of(Notice))


async def test_plan_mode_holds_in_a_sub_agent_whatever_it_wants(tmp_path: Path) -> None:
    write(
        tmp_path / "home/.claude/agents/e.md",
        "---\nname: e\ndescription: d\npermissionMode: acceptEdits\n---\nW.",
    )
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="e")
    replies = turns(call, use("Write", "toolu_w", file_path="f", content="x"), "no", "End.")
    async with stage(tmp_path, replies, options=Options(mode="plan"), new_prefixes=2) as here:
        await here.say("go")
    assert here.outcomes[0].status is Status.DENIED
    assert "mode plan" in here.outcomes[0].text


async def test_hooks_see_its_calls_its_start_and_its_end(tmp_path: Path) -> None:
    out = tmp_path / "seen"
    hook = {"hooks": [{"type": "command", "command": f"cat >> {out}; echo >> {out}"}]}
    settings = {"hooks": {name: [hook] for name in ("PreToolUse", "SubagentStart", "SubagentStop")}}
    replies = turns(start("toolu_a", "w"), use("Glob", "toolu_g", pattern="*"), "ok", "End.")
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:
        await here.say("go")
    seen = [json.loads(line) for line in out.read_text().splitlines() if line.strip()]
    assert [each["hook_event_name"] for each in seen] == [
        "PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop",
    ]  # fmt: skip
    assert "agent_id" not in seen[0]
    assert (seen[2]["agent_id"], seen[2]["parent_tool_use_id"]) == ("toolu_a", "toolu_a")
    assert seen[3]["agent_type"] == "general-purpose"
    assert seen[3]["last_assistant_message"] == "ok"


async def test_a_program_cannot_start_one_and_a_sub_agent_writes_programs(tmp_path: Path) -> None:
    write(tmp_path / "project/a.txt", "x")
    program = "return (await tools.Read({file_path: 'a.txt'})).ok"
    refused = "return (await tools.Agent({prompt: 'x', description: 'y'})).error.kind"
    replies = turns(
        use("run_code", "toolu_p", code=refused),
        start("toolu_a", "w"),
        use("run_code", "toolu_q", code=program),
        "ok",
        "End.",
    )
    async with stage(tmp_path, replies, new_prefixes=2) as here:
        await here.say("go")
        by_id = {outcome.call.id: outcome for outcome in here.outcomes}
        read = next(each for each in here.outcomes if each.call.tool == "Read")
        audits = read_audits(here.agent.session.directory)
    assert "top_level_only" in by_id["toolu_p"].text
    assert by_id["toolu_q"].call.parent == "toolu_a"
    assert read.call.parent == "toolu_q"
    assert [call.tool for program in audits if program.id == "toolu_q" for call in program.calls] == ["Read"]
    assert by_id["toolu_q"].status is Status.OK


async def test_kinds_of_the_administrator_then_of_the_command_line_go_first_and_an_unknown_one_is_refused(
    tmp_path: Path,
) -> None:
    write(tmp_path / "project/.claude/agents/a.md", "---\nname: a\ndescription: theirs\n---\nTheirs.")
    write(tmp_path / "managed/agents/b.md", "---\nname: b\ndescription: d\n---\nThe administrator's.")
    own = {"description": "mine", "prompt": "Mine.", "tools": ["Read"]}
    given = json.dumps({"a": own, "b": own})
    replies = turns(
        use("Agent", "toolu_a", prompt="w", description="d", subagent_type="nobody"),
        use("Task", "toolu_b", prompt="w", description="d", subagent_type="a"),
        "End.",
    )
    async with stage(tmp_path, replies, options=Options(agents=given)) as here:
        await here.say("go")
        kinds = here.agent.subagents.kinds
    assert kinds["a"].prompt == "Mine."
    assert kinds["b"].prompt == "The administrator's."
    assert "There is no kind of agent 'nobody'" in here.outcomes[0].text


async def test_a_rule_may_forbid_one_kind(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/agents/s.md", SCOUT)
    call = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="scout")
    settings = {"permissions": {"deny": ["Task(scout)"]}}
    async with stage(tmp_path, turns(call, "End."), settings=settings) as here:
        await here.say("go")
    assert here.outcomes[0].status is Status.DENIED


async def test_a_kind_knows_skills_from_the_beginning_has_some_servers_and_says_what_it_cannot(
    tmp_path: Path,
) -> None:
    write(tmp_path / "home/.claude/skills/verse/SKILL.md", "---\ndescription: V\n---\nRhyme. !`date`")
    fields = (
        "name: poet",
        "description: P",
        "skills: [verse, unknown]",
        "mcpServers:",
        "  - wiki",
        "isolation: elsewhere",
        "memory: user",
        "color: blue",
    )
    write(tmp_path / "home/.claude/agents/poet.md", "\n".join(("---", *fields, "---", "Write.")))
    replies = turns(
        use("Agent", "toolu_a", prompt="go", description="d", subagent_type="poet"), "Done.", "So."
    )
    async with stage(tmp_path, replies, new_prefixes=2) as here:
        here.agent.catalog.add(ServerTool("wiki", "read", "Reads"))
        here.agent.catalog.add(ServerTool("other", "read", "Reads"))
        await here.say("go")
        system = here.client.requests[1]["system"][0]["text"]
        (shown,) = [each for each in (await typed(here, "/agents")).data["agents"] if each["name"] == "poet"]
        notices = [event.text for event in here.of(Notice)]
    assert "Write.\n\nThe skill verse:\nRhyme. `date` (not run)" in system
    assert (shown["skills"], shown["servers"], shown["unused"]) == (
        ["verse", "unknown"],
        ["wiki"],
        ["isolation", "memory"],
    )
    assert any("isolation, memory of its file has no effect" in text for text in notices)
    told = json.dumps(here.client.requests[1])
    assert "mcp__wiki__read" in told
    assert "mcp__other__read" not in told
