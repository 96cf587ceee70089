"""Mode plan and a sub-agent in the real program at a pseudo-terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.story import EDIT, FIXED, LAST_WORD, READ, turn
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.stage import use
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine

PLAN = "# Mend the mean\n\n1. Divide by the *number* of values\n2. Run the tests"

SCOUT = """\
---
name: scout
description: Finds and mends things: always
tools: Read, Edit
---
You look for things.
"""


def exit_plan(plan: str) -> dict[str, Any]:
    return turn(use("call_tool", f"toolu_{len(plan)}", name="ExitPlanMode", arguments={"plan": plan}))


def test_a_plan_is_refused_with_words_then_approved_and_carried_out(machine: Machine) -> None:
    turns = [
        turn(EDIT | {"id": "toolu_early"}),
        exit_plan("Rewrite it all."),
        turn(READ),
        exit_plan(PLAN),
        turn(EDIT),
        {"reply": LAST_WORD},
    ]
    with (
        running_server(parse_script({"turns": turns}, "planned")) as server,
        BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal,
    ):
        terminal.wait_for_row(PROMPT)
        terminal.say("/plan fix the failing test")
        terminal.wait_for("Rewrite it all.")
        terminal.answer("only the mean, please")
        terminal.wait_for("Mend the mean")
        terminal.wait_for("2. Run the tests")
        terminal.answer("2")
        terminal.wait_for(LAST_WORD)
        terminal.say("/mode")
        terminal.wait_for("acceptEdits")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        early, refused, _, approved, *_ = (
            body["messages"][-1]["content"][0]["content"] for body in server.bodies[1:]
        )
    assert "plan" in early
    assert "only the mean, please" in refused
    assert "The mode is acceptEdits now" in approved
    assert FIXED in (machine.project / "averages.py").read_text()


def test_a_sub_agents_calls_stand_under_their_parent_and_a_denial_ends_nothing_above(
    machine: Machine,
) -> None:
    agents = machine.project / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "scout.md").write_text(SCOUT)
    write = use("Edit", "toolu_no", file_path="averages.py", old_string="def mean", new_string="def middle")
    start = use("Agent", "toolu_agent", prompt="mend the mean", description="mend", subagent_type="scout")
    turns = [turn(start), turn(READ), turn(write), turn(EDIT), {"reply": "Mended."}, {"reply": LAST_WORD}]
    with (
        running_server(parse_script({"turns": turns}, "delegated")) as server,
        BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal,
    ):
        terminal.wait_for_row(PROMPT)
        terminal.say("let somebody fix it")
        terminal.wait_for("def middle")
        terminal.decide("deny because the name stays")
        terminal.wait_for(FIXED)
        terminal.decide("once")
        terminal.wait_for(LAST_WORD)
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        bodies = server.bodies
        shown = str(terminal)
    assert FIXED in (machine.project / "averages.py").read_text()
    assert [tool["name"] for tool in bodies[1]["tools"]] == ["Edit", "Read"]
    assert "the name stays" in json.dumps(bodies[3]["messages"][-1])
    above = bodies[-1]["messages"]
    assert above[-1]["content"][0]["content"] == "Mended."
    assert "def middle" not in json.dumps(above)
    records = [json.loads(line) for line in machine.sessions[-1].read_text().splitlines()]
    parents = {
        record["body"]["tool"]: record["body"].get("parent")
        for record in records
        if record["type"] == "call_started"
    }
    assert parents == {"Agent": None, "Read": "toolu_agent", "Edit": "toolu_agent"}
    assert "scout" in shown
