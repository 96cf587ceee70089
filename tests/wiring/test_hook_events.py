"""Hooks in whole sessions: every event that can happen, told to real programs."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from mcode.events import HookStarted, Notice, TurnFinished
from tests.commands.typing import typed
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path


def hooks(event: str, command: str, matcher: str = "", **fields: Any) -> dict[str, Any]:
    """User settings with one hook."""
    handler = {"type": "command", "command": command, **fields}
    return {"hooks": {event: [{"matcher": matcher, "hooks": [handler]}]}}


def keeps(directory: Path, then: str = "") -> str:
    """A command that keeps what it is told."""
    return f"line=$(cat); printf '%s\\n' \"$line\" >> {directory}/told; {then}"


async def told(directory: Path, count: int = 1) -> list[dict[str, Any]]:
    """What the hook was told so far; waits for it."""
    path = directory / "told"
    lines: list[str] = []
    for _ in range(3_000):
        written = path.read_text().rpartition("\n")[0] if path.exists() else ""  # whole lines alone
        lines = written.splitlines()
        lines = [line for line in lines if line]
        if len(lines) >= count:
            break
        await asyncio.sleep(0.01)
    return [json.loads(line) for line in lines]


def notices(opened: Stage) -> str:
    return "\n".join(notice.text for notice in opened.of(Notice))


TWO_CALLS = [use("Glob", "a", pattern="*.txt"), use("Read", "b", file_path="gone.txt")]


async def test_a_batch_is_told_of_all_calls_of_a_message_before_the_model_goes_on(tmp_path: Path) -> None:
    reply = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": "mind it"}}
    )
    settings = hooks("PostToolBatch", keeps(tmp_path, f"echo '{reply}'"))
    async with stage(tmp_path, turns(TWO_CALLS, "done"), settings=settings) as opened:
        assert (await opened.say("go")).reason == "end"
        (message,) = await told(tmp_path)
        first, second = message["tool_calls"]
        assert (first["tool_name"], first["tool_use_id"], first["tool_input"]["pattern"]) == (
            "Glob",
            "a",
            "*.txt",
        )
        assert "tool_response" in first
        assert "gone.txt" in second["error"]
        assert "mind it" in json.dumps(opened.client.requests[-1])


async def test_a_batch_hook_that_blocks_ends_the_turn(tmp_path: Path) -> None:
    settings = hooks("PostToolBatch", "echo enough >&2; exit 2")
    async with stage(tmp_path, turns(TWO_CALLS, "never said"), settings=settings) as opened:
        finished = await opened.say("go")
        assert (finished.reason, finished.text) == ("stopped", "enough")
        assert len(opened.client.requests) == 1


@pytest.mark.parametrize(("matcher", "count"), [("permission_prompt", 1), ("idle_prompt", 0)])
async def test_a_question_notifies_those_who_want_to_know(tmp_path: Path, matcher: str, count: int) -> None:
    settings = hooks("Notification", keeps(tmp_path), matcher)
    async with stage(tmp_path, turns(use("Bash", command="touch x"), "done"), settings=settings) as opened:
        opened.answer("once")
        await opened.say("go")
        messages = await told(tmp_path, count)
        assert [message["notification_type"] for message in messages] == ["permission_prompt"] * count


async def test_a_denial_a_new_directory_and_instructions_are_told(tmp_path: Path) -> None:
    settings = {
        "permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(mkdir *)", "Bash(cd *)"]},
        "hooks": {
            event: [{"hooks": [{"type": "command", "command": keeps(tmp_path)}]}]
            for event in ("PermissionDenied", "CwdChanged", "InstructionsLoaded")
        },
    }
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "AGENTS.md").write_text("Be kind.")
    calls = [use("Bash", "a", command="rm x"), use("Bash", "b", command="cd sub")]
    async with stage(tmp_path, turns(calls, "done"), settings=settings) as opened:
        await opened.say("go")
        messages = {message["hook_event_name"]: message for message in await told(tmp_path, 3)}
        denied = messages["PermissionDenied"]
        assert (denied["tool_name"], denied["tool_use_id"]) == ("Bash", "a")
        assert "Bash(rm *)" in denied["reason"]
        assert messages["CwdChanged"]["new_cwd"] == str(opened.project / "sub")
        assert messages["CwdChanged"]["old_cwd"] == str(opened.project)
        loaded = messages["InstructionsLoaded"]
        assert loaded["file_path"] == str(opened.project / "AGENTS.md")
        assert (loaded["memory_type"], loaded["load_reason"]) == ("Project", "session_start")


FAILURES = [
    (400, "invalid_request_error", "invalid_request"),
    (401, "authentication_error", "authentication_failed"),
    (403, "permission_error", "authentication_failed"),
    (402, "billing_error", "billing_error"),
    (429, "insufficient_quota", "billing_error"),
    (404, "not_found_error", "invalid_request"),
]


@pytest.mark.parametrize(("status", "kind", "word"), FAILURES)
async def test_a_turn_that_fails_is_told_with_the_kind_of_failure(
    tmp_path: Path, status: int, kind: str, word: str
) -> None:
    script = {"turns": [{"reply": {"error": {"status": status, "type": kind, "message": "no"}}}]}
    async with stage(tmp_path, script, settings=hooks("StopFailure", keeps(tmp_path), word)) as opened:
        assert (await opened.say("go")).reason == "error"
        (message,) = await told(tmp_path)
        assert message["error"] == word
        assert "no" in message["error_details"]


async def test_an_answer_cut_at_the_output_limit_again_and_again_is_told_as_that(tmp_path: Path) -> None:
    cut = {"blocks": [{"type": "text", "text": "so"}], "stop_reason": "max_tokens"}
    settings = hooks("StopFailure", keeps(tmp_path), "max_output_tokens")
    async with stage(tmp_path, turns(cut, cut, cut), settings=settings) as opened:
        assert (await opened.say("go")).reason == "error"
        (message,) = await told(tmp_path)
        assert message["error"] == "max_output_tokens"


async def test_a_hook_for_another_kind_of_failure_stays_silent(tmp_path: Path) -> None:
    script = {
        "turns": [{"reply": {"error": {"status": 401, "type": "authentication_error", "message": "no"}}}]
    }
    settings = hooks("StopFailure", keeps(tmp_path))
    other = hooks("StopFailure", f"touch {tmp_path}/other", "rate_limit|server_error")
    settings["hooks"]["StopFailure"] += other["hooks"]["StopFailure"]
    async with stage(tmp_path, script, settings=settings) as opened:
        assert (await opened.say("go")).reason == "error"
        assert len(await told(tmp_path)) == 1
        assert len(opened.of(HookStarted)) == 1


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        ({"type": "prompt", "prompt": "safe?"}, 'hooks of type "command" only'),
        ({"type": "command", "command": "true", "matcher": "Bash("}, "no valid regular expression"),
        ({"type": "command", "command": "true", "shell": "powershell"}, "powershell"),
        ({"type": "command", "command": "./gone", "args": []}, "cannot be started"),
    ],
)
async def test_p_16_a_guard_that_cannot_run_lets_nothing_pass(
    tmp_path: Path, handler: dict[str, Any], why: str
) -> None:
    matcher = handler.pop("matcher", "Bash")
    guard = {"matcher": matcher, "hooks": [{**handler, "onFailure": "block"}]}
    settings = {"hooks": {"PreToolUse": [guard]}, "permissions": {"allow": ["Bash(touch *)"]}}
    async with stage(tmp_path, turns(use("Bash", command="touch x"), "done"), settings=settings) as opened:
        await opened.say("go")
        assert why in opened.result().text
        assert opened.result().is_error
        assert not (opened.project / "x").exists()


async def test_p_16_a_guard_that_is_switched_off_blocks_nothing(tmp_path: Path) -> None:
    settings = {
        **hooks("PreToolUse", "exit 2", type="prompt", prompt="safe?", onFailure="block"),
        "disableAllHooks": True,
        "permissions": {"allow": ["Bash(touch *)"]},
    }
    async with stage(tmp_path, turns(use("Bash", command="touch x"), "done"), settings=settings) as opened:
        await opened.say("go")
        assert (opened.project / "x").exists()


async def test_a_hook_in_the_background_wakes_the_model(tmp_path: Path) -> None:
    settings = hooks("SessionStart", "sleep 0.1; echo the build broke >&2; exit 2", asyncRewake=True)
    async with stage(tmp_path, turns("I shall look."), settings=settings) as opened:
        for _ in range(3_000):
            if opened.of(TurnFinished):
                break
            await asyncio.sleep(0.01)
        assert [finished.text for finished in opened.of(TurnFinished)] == ["I shall look."]
        assert "the build broke" in json.dumps(opened.client.requests[0])


async def test_a_hook_that_never_runs_is_said_at_the_start(tmp_path: Path) -> None:
    settings = hooks("Stop", "true", **{"if": "Bash(rm *)"})
    async with stage(tmp_path, turns("hi"), settings=settings) as opened:
        assert "`if` can only be true of a call" in notices(opened)


def every(command: str, *events: str, **fields: Any) -> dict[str, Any]:
    """User settings with the same hook for several events."""
    handler = {"type": "command", "command": command, **fields}
    return {"hooks": {event: [{"hooks": [handler]}] for event in events}}


async def test_another_model_and_another_directory_are_told(tmp_path: Path) -> None:
    settings = every(keeps(tmp_path), "PreModelSwitch", "PostModelSwitch", "DirectoryAdded")
    (tmp_path / "lib").mkdir()
    async with stage(tmp_path, turns("hi"), settings=settings) as opened:
        before = opened.agent.model
        await typed(opened, "/model other-1")
        await typed(opened, f"/add-dir {tmp_path / 'lib'}")
        messages = {message["hook_event_name"]: message for message in await told(tmp_path, 3)}
        for event in ("PreModelSwitch", "PostModelSwitch"):
            said = messages[event]
            assert (said["from_model"], said["to_model"], said["source"]) == (before, "other-1", "command")
        added = messages["DirectoryAdded"]
        assert (added["directory"], added["source"]) == (str(tmp_path.resolve() / "lib"), "slash_command")


async def test_a_hook_keeps_the_model_as_it_is(tmp_path: Path) -> None:
    settings = hooks("PreModelSwitch", "echo too dear >&2; exit 2", "big-.*")
    async with stage(tmp_path, turns("hi"), settings=settings) as opened:
        before = opened.agent.model
        answer = await typed(opened, "/model big-1")
        assert f"too dear. The model is still {before}" in answer.text
        assert opened.agent.model == before
        await typed(opened, "/model small-1")
        assert opened.agent.model == "small-1"


@pytest.mark.parametrize("objects", [False, True])
async def test_a_command_file_is_shown_to_hooks_before_it_is_sent(tmp_path: Path, objects: bool) -> None:
    commands = tmp_path / "project" / ".mcode" / "commands"
    commands.mkdir(parents=True)
    (commands / "triage.md").write_text("Triage $ARGUMENTS.\n")
    reply = {"hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "be quick"}}
    then = "echo not today >&2; exit 2" if objects else f"echo '{json.dumps(reply)}'"
    settings = hooks("UserPromptExpansion", keeps(tmp_path, then), "triage")
    async with stage(tmp_path, turns("done"), settings=settings) as opened:
        finished = await asyncio.wait_for(opened.agent.submit("/triage two", invokes=True), 30)
        (message,) = await told(tmp_path)
        assert (message["expansion_type"], message["command_name"]) == ("slash_command", "triage")
        assert (message["command_args"], message["prompt"]) == ("two", "/triage two")
        assert message["command_source"] == str(commands.resolve() / "triage.md")
        if objects:
            assert (finished.reason, opened.client.requests) == ("error", [])
            assert "/triage was not sent, since a hook objects: not today" in finished.text
        else:
            assert "Triage two.\\n\\nbe quick" in json.dumps(opened.client.requests[0])


async def test_changed_files_and_settings_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcode.wiring.file_watch.PAUSE", 0.02)
    settings = every(keeps(tmp_path), "ConfigChange")
    settings["hooks"] |= hooks("FileChanged", keeps(tmp_path), ".env|Makefile")["hooks"]
    async with stage(tmp_path, turns("hi"), settings=settings) as opened:
        await opened.say("begin")
        (opened.project / "other.txt").write_text("A=1\n")
        (opened.project / "other.txt").rename(opened.project / ".env")  # there at once, and with its content
        (opened.project / "other.txt").write_text("not named\n")
        assert [(each["file_path"], each["event"]) for each in await told(tmp_path)] == [
            (str(opened.project / ".env"), "add")
        ]
        (opened.project / ".env").unlink()
        assert (await told(tmp_path, 2))[1]["event"] == "unlink"
        (opened.project / ".mcode").mkdir(exist_ok=True)
        (opened.project / ".mcode" / "settings.local.json").write_text("{}")
        change = (await told(tmp_path, 3))[2]
        assert (change["hook_event_name"], change["source"]) == ("ConfigChange", "local_settings")
        assert change["file_path"] == str(opened.project / ".mcode" / "settings.local.json")
