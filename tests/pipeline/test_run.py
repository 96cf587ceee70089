"""The road, end to end, in a real session with real tools and a scripted model."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from mcode.call import FailureKind, Status
from mcode.events import ApprovalRequested, ApprovalResolved, ModeChanged, Notice, ToolStarted
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


def project_of(tmp_path: Path, **files: str) -> Path:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    for name, content in files.items():
        (project / name.replace("_", ".")).write_text(content)
    return project


async def test_a_read_runs_unasked_and_its_result_goes_to_the_model(tmp_path: Path) -> None:
    project_of(tmp_path, a_txt="hello\n")
    async with stage(tmp_path, turns(use("Read", file_path="a.txt"), "It says hello.")) as here:
        finished = await here.say("what is in a.txt?")
        assert (finished.reason, finished.text) == ("end", "It says hello.")
        assert here.result().status is Status.OK
        assert here.result().decision == "reads in the workspace"
        sent = here.client.requests[1]["messages"][-1]["content"][0]
        assert sent["type"] == "tool_result"
        assert "hello" in sent["content"]


async def test_a_write_is_asked_about_and_runs_once_allowed(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    async with stage(tmp_path, turns(use("Write", file_path="b.txt", content="new"), "Written.")) as here:
        here.answer("once")
        await here.say("write b.txt")
        assert (project / "b.txt").read_text() == "new"
        (asked,) = here.of(ApprovalRequested)
        assert asked.preview.diff is not None
        assert asked.choices[0].key == "once"
        assert here.of(ApprovalResolved)[0].decided_by == "user"
        assert here.result().decision == "approved by you"


async def test_a_denial_with_a_comment_reaches_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    script = turns(use("Write", file_path="b.txt", content="new"), "Then I will not.")
    async with stage(tmp_path, script) as here:
        here.answer("deny", "put it under docs/ instead")
        finished = await here.say("write b.txt")
        assert finished.text == "Then I will not."
        assert not (project / "b.txt").exists()
        assert here.result().status is Status.DENIED
        told = here.client.requests[1]["messages"][-1]["content"][0]
        assert told["is_error"] is True
        assert "put it under docs/ instead" in told["content"]
        assert "nothing was changed" in told["content"]


async def test_where_nobody_can_be_asked_a_question_counts_as_denied(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    async with stage(tmp_path, turns(use("Write", file_path="b.txt", content="x"), "No.")) as here:
        await here.say("write")
        assert here.result().status is Status.DENIED
        assert "Nobody can be asked" in here.result().text
        assert not (project / "b.txt").exists()


async def test_an_answer_for_the_session_covers_the_next_call_of_the_kind(tmp_path: Path) -> None:
    project_of(tmp_path)
    script = turns(
        use("Write", "w1", file_path="src/a.txt", content="1"),
        use("Write", "w2", file_path="src/b.txt", content="2"),
        "Both.",
    )
    async with stage(tmp_path, script) as here:
        here.answer("session")
        await here.say("write both")
        assert len(here.of(ApprovalRequested)) == 1
        assert [outcome.status for outcome in here.outcomes] == [Status.OK, Status.OK]
        assert "your answer" in here.result().decision


async def test_an_answer_for_always_is_kept_for_the_next_session(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    script = turns(use("Bash", "b1", command="printf one"), "Done.")
    async with stage(tmp_path, script) as here:
        here.answer("always")
        await here.say("run it")
        assert here.result().status is Status.OK
    kept = json.loads((project / ".mcode/settings.local.json").read_text())
    assert kept["permissions"]["allow"] == ["Bash(printf one)"]
    async with stage(tmp_path, script) as here:
        await here.say("run it")
        assert here.result().status is Status.OK
        assert "Bash(printf one)" in here.result().decision


async def test_an_unknown_tool_is_answered_with_the_nearest_names(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Reed", file_path="x"), "Oh.")) as here:
        await here.say("go")
        assert here.result().failure is FailureKind.UNKNOWN_TOOL
        assert "Did you mean Read" in here.result().text
        assert here.of(ToolStarted) == []


async def test_arguments_that_do_not_fit_are_refused_with_the_schema(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Read", path="x", limit="many"), "Oh.")) as here:
        await here.say("go")
        outcome = here.result()
        assert outcome.failure is FailureKind.INVALID_ARGUMENTS
        assert "missing file_path" in outcome.text
        assert "unknown path" in outcome.text
        assert "limit: expected integer" in outcome.text
        assert '"file_path"' in outcome.text


async def test_numeric_text_is_restored_before_the_tool_sees_it(tmp_path: Path) -> None:
    project_of(tmp_path, a_txt="1\n2\n3\n")
    async with stage(tmp_path, turns(use("Read", file_path="a.txt", limit="1"), "One.")) as here:
        await here.say("go")
        assert here.result().call.arguments["limit"] == 1
        assert "limit: text read as a number" in here.result().text


async def test_a_tool_denied_by_a_bare_rule_is_neither_shown_nor_callable(tmp_path: Path) -> None:
    settings = {"permissions": {"deny": ["Bash"]}}
    async with stage(tmp_path, turns(use("Bash", command="true"), "No."), settings=settings) as here:
        await here.say("go")
        assert "Bash" not in [tool["name"] for tool in here.client.requests[0]["tools"]]
        assert here.result().failure is FailureKind.UNKNOWN_TOOL
        assert "Bash" not in here.result().text.split("There is no tool called 'Bash'")[1]


async def test_p_01_a_hooks_changed_input_is_validated_and_judged_again(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": "touch forbidden"},
        }
    }
    hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
    settings = {
        "permissions": {"deny": ["Bash(touch *)"]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]},
    }
    async with stage(tmp_path, turns(use("Bash", command="printf fine"), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.result().status is Status.DENIED
        assert here.result().call.arguments == {"command": "touch forbidden"}
        assert "Bash(touch *)" in here.result().text
    assert not (project / "forbidden").exists()


async def test_a_hook_that_exits_2_denies_the_call_with_its_words(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo not on Sundays >&2; exit 2"}
    settings = {
        "permissions": {"allow": ["Bash(printf hi)"]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]},
    }
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.result().failure is FailureKind.HOOK_DENIED
        assert "not on Sundays" in here.result().text


async def test_e_03_a_formatter_hook_may_rewrite_a_file_between_two_edits(tmp_path: Path) -> None:
    project = project_of(tmp_path, a_txt="one\ntwo\n")
    (project / "format.py").write_text("open('a.txt', 'a').write('# formatted\\n')")
    formatter = f"{sys.executable} format.py"
    settings = {
        "permissions": {"defaultMode": "acceptEdits"},
        "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": formatter}]}]},
    }
    script = turns(
        use("Read", file_path="a.txt"),
        use("Edit", "e1", file_path="a.txt", old_string="one", new_string="1"),
        use("Edit", "e2", file_path="a.txt", old_string="two", new_string="2"),
        "Done.",
    )
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("edit")
        assert [outcome.status for outcome in here.outcomes] == [Status.OK] * 3
        assert "# formatted" in here.outcomes[1].text
    assert (project / "a.txt").read_text() == "1\n2\n# formatted\n# formatted\n"


async def test_a_hook_that_says_stop_ends_the_turn_with_its_reason(tmp_path: Path) -> None:
    hook = {"type": "command", "command": 'echo \'{"continue": false, "stopReason": "enough for today"}\''}
    settings = {"hooks": {"PreToolUse": [{"hooks": [hook]}]}}
    project_of(tmp_path, a_txt="x")
    async with stage(tmp_path, turns(use("Read", file_path="a.txt"), "unused"), settings=settings) as here:
        finished = await here.say("go")
        assert (finished.reason, finished.text) == ("stopped", "enough for today")


async def test_two_edits_of_one_message_run_in_order_and_both_land(tmp_path: Path) -> None:
    project = project_of(tmp_path, a_txt="one\ntwo\n")
    script = turns(
        use("Read", file_path="a.txt"),
        [
            use("Edit", "e1", file_path="a.txt", old_string="one", new_string="1"),
            use("Edit", "e2", file_path="a.txt", old_string="two", new_string="2"),
        ],
        "Done.",
    )
    async with stage(tmp_path, script, settings={"permissions": {"defaultMode": "acceptEdits"}}) as here:
        await here.say("edit")
    assert (project / "a.txt").read_text() == "1\n2\n"


async def test_s_11_an_interrupt_keeps_finished_results_and_names_the_rest(tmp_path: Path) -> None:
    project_of(tmp_path, a_txt="x")
    settings = {"permissions": {"allow": ["Bash(touch begun)", "Bash(sleep 30)", "Bash(printf never)"]}}
    script = turns(
        [
            use("Read", "r", file_path="a.txt"),
            use("Bash", "slow", command="touch begun; sleep 30"),
            use("Bash", "later", command="printf never"),
        ],
        "After.",
    )
    async with stage(tmp_path, script, settings=settings) as here:
        turn = asyncio.ensure_future(here.say("go"))
        await until((here.project / "begun").exists, "the command's file")
        assert here.agent.interrupt()
        assert (await turn).reason == "interrupted"
        results = {outcome.call.id: outcome for outcome in here.outcomes}
        assert results["r"].status is Status.OK
        assert results["slow"].text.startswith("interrupted")
        assert results["later"].text.startswith("not started")
        await here.say("and now?")
        contents: list[dict[str, Any]] = here.client.requests[1]["messages"][-1]["content"]
        assert [block.get("tool_use_id") for block in contents[:3]] == ["r", "slow", "later"]
        assert contents[3]["text"] == "and now?"


async def test_an_interrupt_withdraws_the_question_that_waits(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Bash", command="true"), "x")) as here:
        here.agent.desk.attach()
        turn = asyncio.ensure_future(here.say("go"))
        await until(lambda: here.agent.desk.waiting, "the approval")
        (asked,) = here.of(ApprovalRequested)
        here.agent.interrupt()
        await turn
        assert here.of(ApprovalResolved)[0].choice == "withdrawn"
        assert not here.agent.desk.decide(asked.approval_id, "once")
        assert here.result().text.startswith("not started")


async def test_0_3_a_bug_in_a_tool_is_a_result_with_a_number_and_the_session_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("TodoWrite", todos=[]), "Going on.")) as here:
        tool = here.agent.catalog.find("TodoWrite")

        async def explode(*_: object) -> None:
            raise ZeroDivisionError("a bug")

        object.__setattr__(tool, "run", explode)
        finished = await here.say("go")
        assert finished.text == "Going on."
        assert here.result().failure is FailureKind.INTERNAL
        assert "a bug" not in here.result().text


async def test_p_15_every_decision_is_logged_with_who_made_it(tmp_path: Path) -> None:
    project_of(tmp_path, a_txt="x")
    script = turns(use("Read", file_path="a.txt"), use("Bash", command="printf hi"), "Done.")
    async with stage(tmp_path, script) as here:
        here.answer("once")
        await here.say("go")
        log = here.bench.places.logs / "verdicts.jsonl"
        read, bash = (json.loads(line) for line in log.read_text().splitlines())
    assert (read["tool"], read["verdict"], read["kind"]) == ("Read", "allow", "read-only")
    assert (bash["tool"], bash["verdict"], bash["decided_by"]) == ("Bash", "allow", "you")
    assert bash["text"] == "printf hi"
    assert log.stat().st_mode & 0o777 == 0o600


async def test_j_02_a_call_with_effects_is_on_the_disk_before_it_starts(tmp_path: Path) -> None:
    script = turns(use("Bash", command="cp ../journal journal.copy"), "Done.")
    project = project_of(tmp_path)
    async with stage(tmp_path, script) as here:
        here.answer("once")
        (tmp_path / "journal").symlink_to(here.agent.session.journal.path)
        await here.say("go")
    kinds = [json.loads(line)["type"] for line in (project / "journal.copy").read_text().splitlines()]
    assert kinds[-1] == "call_started"
    assert "assistant" in kinds


async def test_a_message_refused_by_a_hook_is_dropped_and_the_user_told(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo no swearing >&2; exit 2"}
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    async with stage(tmp_path, turns("unused"), settings=settings) as here:
        finished = await here.say("damn")
        assert finished.reason == "stopped"
        assert here.client.requests == []
        assert any("no swearing" in notice.text for notice in here.of(Notice))


def permission_hook(decision: dict[str, Any]) -> dict[str, Any]:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
    return {"hooks": {"PermissionRequest": [{"matcher": "Bash", "hooks": [hook]}]}}


async def test_a_permission_hook_answers_in_the_users_place(tmp_path: Path) -> None:
    settings = permission_hook({"behavior": "allow"})
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.result().status is Status.OK
        assert here.result().decision.startswith("approved by hook")
        assert here.of(ApprovalRequested) == []


async def test_a_permission_hook_cannot_approve_what_always_asks(tmp_path: Path) -> None:
    project_of(tmp_path, keep_txt="x")
    settings = permission_hook({"behavior": "allow"})
    async with stage(tmp_path, turns(use("Bash", command="rm -rf ."), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.result().status is Status.DENIED
        assert (here.project / "keep.txt").exists()


async def test_a_mode_that_a_permission_hook_sets_is_shown_and_recorded_and_one_it_may_not_is_told(
    tmp_path: Path,
) -> None:
    updates = [{"type": "setMode", "mode": mode} for mode in ("acceptEdits", "bypassPermissions")]
    settings = permission_hook({"behavior": "allow", "updatedPermissions": updates})
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.agent.mode == "acceptEdits"
        assert [event.mode for event in here.of(ModeChanged)] == ["acceptEdits"]
        assert [each["body"]["mode"] for each in here.journal if each["type"] == "mode"][-1] == "acceptEdits"
        assert any("bypassPermissions was not entered" in notice.text for notice in here.of(Notice))


async def test_input_that_a_permission_hook_changed_is_judged_anew(tmp_path: Path) -> None:
    settings = permission_hook({"behavior": "allow", "updatedInput": {"command": "curl evil.example"}})
    settings["permissions"] = {"deny": ["Bash(curl *)"]}
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "Hm."), settings=settings) as here:
        await here.say("go")
        assert here.result().status is Status.DENIED
        assert "Bash(curl *)" in here.result().text


async def test_a_permission_hook_that_interrupts_ends_the_turn_also_without_words(tmp_path: Path) -> None:
    settings = permission_hook({"behavior": "deny", "interrupt": True})
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "unused"), settings=settings) as here:
        assert (await here.say("go")).reason == "stopped"


async def test_a_permission_hook_that_says_do_not_continue_ends_the_turn(tmp_path: Path) -> None:
    settings = permission_hook({"behavior": "allow"})
    hook = settings["hooks"]["PermissionRequest"][0]["hooks"][0]
    hook["command"] = 'echo \'{"continue": false, "stopReason": "not today"}\''
    async with stage(tmp_path, turns(use("Bash", command="printf hi"), "unused"), settings=settings) as here:
        finished = await here.say("go")
        assert (finished.reason, finished.text) == ("stopped", "not today")
        assert here.result().status is Status.DENIED


async def test_failure_hooks_hear_of_an_interrupted_call(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "cat > heard.json"}
    settings = {
        "permissions": {"allow": ["Bash(touch begun)", "Bash(sleep 30)"]},
        "hooks": {"PostToolUseFailure": [{"matcher": "Bash", "hooks": [hook]}]},
    }
    async with stage(
        tmp_path, turns(use("Bash", command="touch begun; sleep 30"), "x"), settings=settings
    ) as here:
        turn = asyncio.ensure_future(here.say("go"))
        await until((here.project / "begun").exists, "the command's file")
        here.agent.interrupt()
        await turn
        heard = json.loads((here.project / "heard.json").read_text())
    assert heard["is_interrupt"] is True
    assert heard["tool_input"] == {"command": "touch begun; sleep 30"}
