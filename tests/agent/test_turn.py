"""A turn's ways: limits, refusals, cut answers, hooks that send the model back, messages that wait."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from mcode.agent.replies import CONTINUATIONS
from mcode.agent.turn import STOP_HOOK_LIMIT
from mcode.call import FailureKind, Status
from mcode.events import (
    ApprovalRequested,
    AssistantMessage,
    Notice,
    QueueChanged,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.wiring.options import Options
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


GATE = "sh gate.sh"


def put_gate(directory: Path) -> None:
    """A command that runs until a file named `open` is there."""
    (directory / "project").mkdir()
    (directory / "project/gate.sh").write_text("until [ -e open ]; do sleep 0.02; done\n")


async def test_messages_sent_while_a_turn_runs_are_sent_in_order_each_once(tmp_path: Path) -> None:
    put_gate(tmp_path)
    settings = {"permissions": {"allow": [f"Bash({GATE})"]}}
    script = turns(use("Bash", command=GATE), "One.", "Two.", "Three.")
    async with stage(tmp_path, script, settings=settings) as here:
        first = asyncio.ensure_future(here.say("one"))
        await here.until(ToolStarted)
        rest = [asyncio.ensure_future(here.say(text)) for text in ("two", "three")]
        await until(lambda: here.of(QueueChanged) and len(here.of(QueueChanged)[-1].waiting) == 2)
        (here.project / "open").touch()
        ends = await asyncio.gather(first, *rest)
        assert [end.text for end in ends] == ["One.", "Two.", "Three."]
        assert [event.text for event in here.of(TurnStarted)] == ["one", "two", "three"]
        assert here.of(QueueChanged)[-1].waiting == ()


async def test_the_last_queued_message_can_be_taken_back(tmp_path: Path) -> None:
    put_gate(tmp_path)
    settings = {"permissions": {"allow": [f"Bash({GATE})"]}}
    async with stage(tmp_path, turns(use("Bash", command=GATE), "One."), settings=settings) as here:
        turn = asyncio.ensure_future(here.say("one"))
        await here.until(ToolStarted)
        here.agent.queue("two")
        assert here.agent.take_back() == "two"
        assert here.agent.take_back() is None
        (here.project / "open").touch()
        await turn
        assert len(here.of(TurnStarted)) == 1


async def test_an_answer_cut_at_the_output_limit_goes_on_with_more_room(tmp_path: Path) -> None:
    cut = {"blocks": ["The first half", use("Bash", command="touch PWN")], "stop_reason": "max_tokens"}
    async with stage(tmp_path, turns(cut, "and the second.")) as here:
        finished = await here.say("write a lot")
        assert finished.text == "and the second."
        assert here.outcomes == []
        first, second = here.client.requests
        assert second["max_tokens"] == 2 * first["max_tokens"]
        assert "no call of it ran" in second["messages"][-1]["content"][-1]["text"]
        assert not here.of(AssistantMessage)[0].complete


async def test_an_answer_that_is_cut_again_and_again_ends_the_turn(tmp_path: Path) -> None:
    cut = {"text": "and on", "stop_reason": "max_tokens"}
    async with stage(tmp_path, turns(*[cut] * (CONTINUATIONS + 1), "Fine now.")) as here:
        finished = await here.say("write a lot")
        assert finished.reason == "error"
        assert "maxTokens" in finished.text
        assert (await here.say("shorter")).text == "Fine now."


async def test_a_refused_message_is_told_and_not_sent_again(tmp_path: Path) -> None:
    refusal: dict[str, Any] = {
        "blocks": [],
        "stop_reason": "refusal",
        "stop_details": {"category": "cyber", "explanation": "not this one"},
    }
    async with stage(tmp_path, turns(refusal, "With pleasure.")) as here:
        refused = await here.say("something bad")
        assert refused.reason == "refusal"
        assert "not this one" in refused.text
        assert (await here.say("something good")).text == "With pleasure."
        assert "something bad" not in str(here.client.requests[1]["messages"])
        here.client.requests.clear()  # the refused turn was taken out on purpose: a new prefix


async def test_s_02_a_message_without_a_proper_end_runs_nothing_and_the_next_one_works(
    tmp_path: Path,
) -> None:
    broken = {"blocks": ["I will", use("Bash", command="touch PWN")], "stop_reason": "something_new"}
    async with stage(tmp_path, turns(broken, "Better.")) as here:
        finished = await here.say("go")
        assert finished.reason == "error"
        assert "something_new" in finished.text
        assert here.outcomes == []
        assert (await here.say("again")).text == "Better."
        kept: list[dict[str, Any]] = here.client.requests[1]["messages"][1]["content"]
        assert kept[0]["text"] == "I will"
        assert not any(block["type"] == "tool_use" for block in kept)


async def test_stop_hooks_send_the_model_back_to_work_but_not_for_ever(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo the tests are missing >&2; exit 2"}
    settings = {"hooks": {"Stop": [{"hooks": [hook]}]}}
    async with stage(tmp_path, turns(*["Done."] * (STOP_HOOK_LIMIT + 1)), settings=settings) as here:
        finished = await here.say("go")
        assert finished.reason == "end"
        assert finished.requests == STOP_HOOK_LIMIT + 1
        assert "the tests are missing" in str(here.client.requests[1]["messages"][-1])


async def test_the_request_limit_ends_the_turn_and_the_next_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("x")
    script = turns(use("Read", "r1", file_path="a.txt"), "Now I know.")
    async with stage(tmp_path, script, options=Options(max_turns=1)) as here:
        assert (await here.say("read")).reason == "limit"
        assert (await here.say("go on")).text == "Now I know."
        assert [event.reason for event in here.of(TurnFinished)] == ["limit", "end"]


async def test_a_shell_command_of_the_users_runs_unasked_and_the_model_sees_it(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("I see one.")) as here:
        outcome = await here.agent.shell("echo one; touch made")
        assert outcome.decision == "you typed it"
        assert (here.project / "made").exists()
        sent = here.client.requests[0]["messages"][0]["content"][-1]["text"]
        assert "$ echo one; touch made" in sent
        assert "one" in sent


async def test_with_the_setting_a_shell_command_waits_for_the_next_message(tmp_path: Path) -> None:
    settings = {"respondToBashCommands": False, "permissions": {"deny": ["Bash(rm *)"]}}
    async with stage(tmp_path, turns("Two things."), settings=settings) as here:
        await here.agent.shell("echo one")
        denied = await here.agent.shell("rm made")
        assert here.client.requests == []
        assert "Bash(rm *)" in denied.text
        await here.say("well?")
        assert "$ echo one" in str(here.client.requests[0]["messages"][0])


async def test_a_change_of_model_begins_a_new_prefix_and_is_recorded(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("One.", "Two.")) as here:
        await here.say("one")
        here.agent.set_model("another")
        await here.say("two")
        assert [body["model"] for body in here.client.requests] == ["scripted-1", "another"]
        reasons = [record["body"].get("reason") for record in here.journal if record["type"] == "prefix"]
        assert reasons == ["start", "model"]
        here.client.requests.clear()  # begun on purpose


async def test_the_users_problems_are_told_when_the_session_starts(tmp_path: Path) -> None:
    settings = {"permisions": {}, "permissions": {"allow": ["Bash(unclosed"]}}
    async with stage(tmp_path, turns("x"), settings=settings) as here:
        told = "\n".join(notice.text for notice in here.of(Notice))
        assert "permissions" in told
        assert "Bash(unclosed" in told


async def test_k_02_the_model_sees_what_a_file_holds_while_the_session_file_has_it_masked(
    tmp_path: Path,
) -> None:
    secret = "ghp_" + "a1B2" * 9
    (tmp_path / "project").mkdir()
    (tmp_path / "project/config.ini").write_text(f"token = {secret}\nport = 1\n")
    settings = {"permissions": {"defaultMode": "acceptEdits"}}
    script = turns(
        use("Read", file_path="config.ini"),
        use(
            "Edit",
            file_path="config.ini",
            old_string=f"token = {secret}\nport = 1",
            new_string=f"token = {secret}\nport = 2",
        ),
        "Done.",
    )
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("raise the port")
        assert secret in str(here.client.requests[1])
        assert [outcome.is_error for outcome in here.outcomes] == [False, False]
        assert secret not in here.agent.session.journal.path.read_text()
        session = here.agent.session.id
    assert (tmp_path / "project/config.ini").read_text() == f"token = {secret}\nport = 2\n"
    async with stage(tmp_path, turns("Hello again."), source="resume", reference=session) as here:
        await here.say("hello")
        assert secret not in str(here.client.requests[0])
        assert "secret:" in str(here.client.requests[0])


async def test_an_interrupt_holds_the_queue_until_the_next_message(tmp_path: Path) -> None:
    settings = {"permissions": {"allow": ["Bash(sleep 30)"]}}
    script = turns(use("Bash", command="sleep 30"), "To the first.", "To the second.")
    async with stage(tmp_path, script, settings=settings) as here:
        turn = asyncio.ensure_future(here.say("go"))
        await here.until(ToolStarted)
        here.agent.queue("first")
        here.agent.interrupt()
        assert (await turn).reason == "interrupted"
        await asyncio.sleep(0.1)
        assert [event.text for event in here.of(TurnStarted)] == ["go"]
        assert here.of(QueueChanged)[-1].waiting == ("first",)
        await here.say("second")
        assert [event.text for event in here.of(TurnStarted)] == ["go", "first", "second"]


async def test_a_message_that_is_sent_before_an_interrupted_turn_has_ended_is_the_next_one(
    tmp_path: Path,
) -> None:
    settings = {"permissions": {"allow": ["Bash(sleep 60)"]}}
    script = turns(use("Bash", command="sleep 60"), "To the first.", "To the second.")
    async with stage(tmp_path, script, settings=settings) as here:
        turn = asyncio.ensure_future(here.say("go"))
        await here.until(ToolStarted)
        here.agent.queue("first")
        here.agent.interrupt()
        assert here.agent.busy
        await here.say("second")
        assert (await turn).reason == "interrupted"
        assert [event.text for event in here.of(TurnStarted)] == ["go", "first", "second"]


async def test_nobody_is_asked_about_a_change_that_must_fail(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("precious")
    async with stage(tmp_path, turns(use("Write", file_path="a.txt", content="x"), "Oh.")) as here:
        here.answer("once")
        await here.say("overwrite it")
        assert here.of(ApprovalRequested) == []
        assert "has not been read" in here.result().text


async def test_what_was_not_typed_mentions_nothing_and_secrets_are_asked_about(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/README").write_text("see @secret.pem\n")
    (tmp_path / "project/secret.pem").write_text("the private words\n")
    async with stage(tmp_path, turns("One.", "Two.", "Three.")) as here:
        await here.agent.shell("cat README")
        await here.agent.submit("piped text: see @secret.pem", typed=False)
        await here.say("see @secret.pem")  # typed or pasted: asked about, and here is nobody to ask
        assert "the private words" not in str(here.client.requests)
        assert here.result().status is Status.DENIED


async def test_an_endpoint_that_refuses_more_room_does_not_lock_the_session(tmp_path: Path) -> None:
    cut = {"text": "half", "stop_reason": "max_tokens"}
    refused = {"error": {"status": 400, "type": "invalid_request_error", "message": "max_tokens: too large"}}
    async with stage(tmp_path, turns(cut, refused, "Fine.")) as here:
        assert (await here.say("write")).reason == "error"
        assert (await here.say("go on")).text == "Fine."
        rooms = [body["max_tokens"] for body in here.client.requests]
        assert rooms == [rooms[0], 2 * rooms[0], rooms[0]]


async def test_the_settings_choose_plan_mode_and_a_resumed_session_does_not_keep_it(tmp_path: Path) -> None:
    settings = {"permissions": {"defaultMode": "plan"}}
    async with stage(tmp_path, turns("x"), settings=settings) as here:
        assert here.agent.mode == "plan"
        await here.say("hello")
        session = here.agent.session.id
    async with stage(tmp_path, turns("x"), source="resume", reference=session) as here:
        assert here.agent.mode == "default"


async def test_a_resumed_session_keeps_the_model_and_the_mode_of_its_flags(tmp_path: Path) -> None:
    options = Options(model="chosen", mode="acceptEdits")
    async with stage(tmp_path, turns("x"), options=options) as here:
        await here.say("hello")
        session = here.agent.session.id
    async with stage(tmp_path, turns("y"), source="resume", reference=session) as here:
        assert (here.agent.model, here.agent.mode) == ("chosen", "acceptEdits")
        await here.say("again")
        assert [record["type"] for record in here.journal].count("prefix") == 1


async def test_an_interrupt_before_the_first_word_leaves_what_was_sent_as_it_was(tmp_path: Path) -> None:
    slow = {"text": "late", "delay": 30}
    async with stage(tmp_path, turns(slow, "Now.")) as here:
        turn = asyncio.ensure_future(here.say("one"))
        await until(lambda: here.client.requests)
        here.agent.interrupt()
        assert (await turn).reason == "interrupted"
        assert (await here.say("two")).text == "Now."
    # leaving the block has checked that the second request extends the first


async def test_an_error_inside_mcode_costs_one_call_and_not_the_session(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("x")
    async with stage(tmp_path, turns(use("Read", file_path="a.txt"), "Going on.")) as here:
        tool = here.agent.catalog.find("Read")

        async def explode(*_: object) -> None:
            raise ZeroDivisionError("a bug in a preview")

        object.__setattr__(tool, "preview", explode)
        assert (await here.say("go")).text == "Going on."
        assert here.result().failure is FailureKind.INTERNAL
        assert "Nothing was done" in here.result().text


async def test_s_11_a_call_that_had_ended_keeps_its_result_when_its_hook_is_interrupted(
    tmp_path: Path,
) -> None:
    hook = {"type": "command", "command": "touch hooked; sleep 30"}
    settings = {
        "permissions": {"defaultMode": "acceptEdits"},
        "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]},
    }
    script = turns(use("Write", file_path="a.txt", content="x"), "After.")
    async with stage(tmp_path, script, settings=settings) as here:
        turn = asyncio.ensure_future(here.say("go"))
        await until((here.project / "hooked").exists, "the hook's file")
        here.agent.interrupt()
        await turn
        assert here.result().status is Status.OK


async def test_a_refused_message_that_joined_another_is_taken_out_alone(tmp_path: Path) -> None:
    settings = {"respondToBashCommands": False}
    refusal: dict[str, Any] = {"blocks": [], "stop_reason": "refusal"}
    async with stage(tmp_path, turns(refusal, "Fine."), settings=settings) as here:
        await here.agent.shell("echo kept")
        await here.say("something bad")
        await here.say("something good")
        sent = str(here.client.requests[1]["messages"])
        assert "echo kept" in sent
        assert "something bad" not in sent
        here.client.requests.clear()  # taken out on purpose


async def test_what_a_stop_hook_says_is_the_end_of_the_turn(tmp_path: Path) -> None:
    answer = '{"continue": false, "stopReason": "lunch"}'
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"echo '{answer}'"}]}]}}
    async with stage(tmp_path, turns("Done."), settings=settings) as here:
        finished = await here.say("go")
        assert (finished.reason, finished.text) == ("stopped", "lunch")


async def test_instruction_files_are_not_brought_in_again_after_a_resume(tmp_path: Path) -> None:
    lib = tmp_path / "project/lib"
    lib.mkdir(parents=True)
    (lib / "AGENTS.md").write_text("Here use blanks.")
    (lib / "a.txt").write_text("x")
    async with stage(tmp_path, turns(use("Read", "r1", file_path="lib/a.txt"), "So.")) as here:
        await here.say("look")
        session = here.agent.session.id
    script = turns(use("Read", "r2", file_path="lib/a.txt"), "So again.")
    async with stage(tmp_path, script, source="resume", reference=session) as here:
        await here.say("look again")
        assert str(here.client.requests[1]["messages"]).count("Here use blanks.") == 1


@pytest.mark.parametrize(("options", "times"), [(Options(), 1), (Options(print=True), 0)])
async def test_j_05_two_sessions_in_one_folder_tell_each_other_once_and_nobody_is_told_headless(
    tmp_path: Path, options: Options, times: int
) -> None:
    async with stage(tmp_path, turns("One.", "Two."), options=options) as here:
        await here.say("one")
        code = (
            "import sys, time; from pathlib import Path; from mcode.masking import Masker; "
            "from mcode.session.store import SessionStore; "
            "SessionStore(Path(sys.argv[1]), Masker({})).create(); print('open', flush=True); time.sleep(60)"
        )
        directory = str(here.agent.session.journal.path.parent)
        other = subprocess.Popen([sys.executable, "-c", code, directory], stdout=subprocess.PIPE)
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"open\n"
            await here.say("two")
            told = [notice.text for notice in here.of(Notice) if "Another session" in notice.text]
            assert len(told) == times
            assert all(f"process {other.pid}" in text for text in told)
        finally:
            other.kill()
            other.wait()
