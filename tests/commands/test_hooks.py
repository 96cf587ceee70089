"""/hooks tells how each hook ran last, and what became of its call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.commands.typing import typed
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path


def hook(command: str, **more: str) -> dict[str, Any]:
    return {"matcher": "Bash", "hooks": [{"type": "command", "command": command, **more}]}


async def test_the_last_run_of_a_hook_is_told_with_its_output_and_what_it_meant_for_the_call(
    tmp_path: Path,
) -> None:
    before = [hook("echo broken >&2; exit 1"), hook("exit 0")]
    settings = {
        "hooks": {"PreToolUse": before, "PostToolUse": [hook("exit 0")]},
        "permissions": {"allow": ["Bash(true)"]},
    }
    async with stage(tmp_path, turns(use("Bash", command="true"), "Done."), settings=settings) as session:
        fresh = (await typed(session, "/hooks")).data["hooks"]
        assert [each["last_outcome"] for each in fresh] == ["", "", ""]
        await session.say("go")
        result = await typed(session, "/hooks")
        failed, fine, after = result.data["hooks"]
        assert (failed["last_outcome"], failed["last_effect"]) == (
            "FAIL (exit 1)",
            "the call went on without it",
        )
        assert failed["last_output"] == "exit code 1: broken"
        assert failed["last_run"].count(":") == 2
        assert (fine["last_outcome"], fine["last_effect"]) == ("ok", "the call went on")
        assert after["last_outcome"] == "ok"
        assert "FAIL (exit 1): the call went on without it" in result.text
        assert "      it said: exit code 1: broken" in result.text.splitlines()


async def test_a_refusal_by_a_hook_is_told_as_one(tmp_path: Path) -> None:
    settings = {"hooks": {"PreToolUse": [hook("echo not here >&2; exit 2")]}}
    async with stage(tmp_path, turns(use("Bash", command="true"), "Done."), settings=settings) as session:
        await session.say("go")
        (told,) = (await typed(session, "/hooks")).data["hooks"]
        assert (told["last_outcome"], told["last_effect"]) == ("blocked (exit 2)", "the call was refused")
        assert told["last_output"] == "not here"


async def test_an_end_of_the_turn_and_a_question_by_a_hook_are_told_as_such(tmp_path: Path) -> None:
    end = hook('echo \'{"continue": false, "stopReason": "enough"}\'')
    verdict = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'
    settings = {
        "hooks": {"PreToolUse": [end, hook(f"echo '{verdict}'")], "PostToolUseFailure": [end]},
    }
    async with stage(tmp_path, turns(use("Bash", command="true"), "Done."), settings=settings) as session:
        await session.say("go")
        told = (await typed(session, "/hooks")).data["hooks"]
        assert [each["last_effect"] for each in told] == [
            "the call was refused, and the turn ended",
            "the call was to be asked about",
            "",
        ]


async def test_what_a_hook_said_is_shown_without_secrets(tmp_path: Path) -> None:
    secret = "sk-" + "ant-api03-" + "aB3dE5fG7h" * 9
    script = tmp_path / "hook"
    script.write_text(f"echo 'the token {secret}' >&2; exit 1")
    settings = {"hooks": {"PreToolUse": [hook(f"sh {script}")]}}
    async with stage(tmp_path, turns(use("Bash", command="true"), "Done."), settings=settings) as session:
        await session.say("go")
        result = await typed(session, "/hooks")
    assert "it said: exit code 1: the token \u2039secret:" in result.text
    assert secret not in f"{result.text}{result.data}"
