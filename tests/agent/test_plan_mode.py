"""Mode plan from its beginning to the mode that the user chooses after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcode.call import Status
from mcode.events import ApprovalRequested, ModeChanged
from mcode.ui.line.question import question_lines
from mcode.ui.look import Look
from mcode.ui.questionnaire import Questionnaire
from mcode.wiring.options import Options
from tests.agent.test_skills import answer_question
from tests.catalog.stand_ins import jira, join
from tests.commands.typing import typed
from tests.stage import Stage, stage, turns, use

PLAN = "# Two steps\n\n1. Write `a`\n2. Check it"


def exit_plan(identifier: str = "toolu_x", plan: str = PLAN) -> dict[str, Any]:
    """ExitPlanMode as the model calls it where it is deferred."""
    return use("call_tool", identifier, name="ExitPlanMode", arguments={"plan": plan})


def text_of(here: Stage, request: int) -> str:
    return str(here.client.requests[request]["messages"])


async def test_a_plan_is_shown_approved_and_carried_out_in_the_mode_of_choice(tmp_path: Path) -> None:
    script = turns(
        use("Write", "toolu_1", file_path="a", content="x"),
        exit_plan(),
        use("Write", "toolu_2", file_path="a", content="x"),
        "Done.",
    )
    async with stage(tmp_path, script) as here:
        asked = answer_question(here, "Yes, and edit files without asking")
        await typed(here, "/plan")
        await here.say("make a")
        assert here.outcomes[0].status is Status.DENIED
        assert "present it with ExitPlanMode" in text_of(here, 0)
        assert '"name":"ExitPlanMode"' in text_of(here, 0).replace('": "', '":"')
        question = asked[0].questions[0]
        assert question.markdown
        assert question.text.startswith(PLAN)
        assert here.agent.mode == "acceptEdits"
        assert here.outcomes[1].call.tool == "ExitPlanMode"
        assert here.outcomes[2].status is Status.OK
        assert "Mode plan has ended; the permission mode is acceptEdits" in text_of(here, 2)
        assert [event.mode for event in here.of(ModeChanged)] == ["plan", "acceptEdits"]


async def test_a_refusal_with_words_keeps_the_mode_and_tells_the_model(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(exit_plan(), exit_plan("toolu_y"), "I see.")) as here:
        asked = answer_question(here, "Not without tests", "No, keep planning")
        here.agent.set_mode("plan")
        await here.say("make a")
        assert here.agent.mode == "plan"
        assert "says: Not without tests" in here.outcomes[0].text
        assert "gave no reason" in here.outcomes[1].text
        assert len(asked) == 2


async def test_the_plan_may_be_changed_in_its_file_before_the_answer(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(exit_plan(), "Done.")) as here:
        answer_question(here, "Yes, and ask before each change")

        def edit(event: object) -> None:
            for question in getattr(event, "questions", ()):
                Path(question.text.split("`")[-2]).write_text("# One step")

        here.agent.events.subscribe(edit)
        here.agent.set_mode("plan")
        await here.say("make a")
        assert here.outcomes[0].data["changed"] is True
        assert "# One step" in here.outcomes[0].text
        assert here.agent.mode == "default"


async def test_a_session_that_begins_in_plan_has_the_tool_and_nobody_there_means_no(tmp_path: Path) -> None:
    script = turns(use("ExitPlanMode", plan=PLAN), "The plan.")
    async with stage(tmp_path, script, options=Options(mode="plan")) as here:
        await here.say("make a")
        names = [tool["name"] for tool in here.client.requests[0]["tools"]]
        assert "ExitPlanMode" in names
        assert "Nobody can approve" in here.outcomes[0].text
        assert here.agent.mode == "plan"


async def test_outside_of_mode_plan_the_tool_is_deferred_and_does_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(exit_plan(), "So.")) as here:
        await here.say("hello")
        names = [tool["name"] for tool in here.client.requests[0]["tools"]]
        assert "ExitPlanMode" not in names
        assert "not plan" in here.outcomes[0].text


async def test_leaving_the_mode_by_hand_is_told_and_a_resumed_session_knows(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.", "B.")) as here:
        here.agent.set_mode("plan")
        await here.say("one")
        here.agent.set_mode("default")
        await here.say("two")
        assert "Mode plan has ended" in text_of(here, 1)
        session = here.agent.session.id
    async with stage(tmp_path, turns("C."), source="resume", reference=session) as here:
        await here.say("three")
        assert text_of(here, 0).count("Mode plan has ended") == 1


@pytest.mark.parametrize("look", [Look(decorated=False), Look(color=False)], ids=["plain", "decorated"])
async def test_the_line_front_end_shows_the_whole_plan(tmp_path: Path, look: Look) -> None:
    async with stage(tmp_path, turns(exit_plan(), "So.")) as here:
        asked = answer_question(here)
        here.agent.set_mode("plan")
        await here.say("make a")
        lines = question_lines(Questionnaire(asked[0]), look, 80)
    shown = "\n".join(lines)
    assert "2. Check it" in shown
    assert "1  Yes, and ask before each change" in shown


SERVER = "mcp__jira__delete_issue"
ALLOWING = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


@pytest.mark.parametrize("choice", ["", "once", "session"])
async def test_a_tool_of_a_server_runs_in_mode_plan_by_the_users_answer_alone(
    choice: str, tmp_path: Path
) -> None:
    hook = {"type": "command", "command": f"echo '{json.dumps(ALLOWING)}'"}
    settings = {
        "permissions": {"allow": [SERVER]},
        "hooks": {"PermissionRequest": [{"hooks": [hook]}]},
    }
    calls = [use("call_tool", f"c{n}", name=SERVER, arguments={"id": "7"}) for n in range(2)]
    script = turns(calls[0], calls[1], "Done.")
    async with stage(tmp_path, script, settings=settings, options=Options(mode="plan")) as here:
        tools = jira(0)
        join(here, tools)
        if choice:
            here.answer(choice)
        await here.say("look into it")
        asked = here.of(ApprovalRequested)
        assert len(tools[1].calls) == (2 if choice else 0)
        assert len(asked) == {"": 0, "once": 2, "session": 1}[choice]
        if choice:
            assert "delete_issue of the MCP server jira" in asked[0].reason
            assert [each.key for each in asked[0].choices] == ["once", "session", "deny"]
        else:
            text = text_of(here, -1)
            assert "mode plan only reads and explores" in text
            assert "Nobody can be asked in this run" in text
