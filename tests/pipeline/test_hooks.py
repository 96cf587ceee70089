"""The user's hooks: real programs with every way to answer, to fail and to hang."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import Call, Origin
from mcode.config.settings import HookHandler, Source
from mcode.events import Event, EventBus, HookRan, HookStarted, Notice
from mcode.pipeline import hook_round
from mcode.pipeline.hook_reply import UNCHANGED
from mcode.pipeline.hook_text import TEXT_LIMIT
from mcode.pipeline.hook_verdicts import BeforeCall
from mcode.pipeline.hooks import HookRunner
from tests.children import no_process_left, open_descriptors, wait_until

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from mcode.jsontext import JsonObject


@pytest.fixture(autouse=True)
def _nothing_left() -> Generator[None]:
    with no_process_left():
        yield


@dataclass
class Context:
    """A session, as hooks are told of it."""

    project_directory: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    session_id: str = "s-1"
    transcript_path: Path = Path("/h/s-1.jsonl")
    permission_mode: str = "default"
    effort: str = ""


class Setting:
    """A project directory, hooks in it, and everything that was emitted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.context = Context(root, root)
        self.handlers: list[HookHandler] = []
        self.events: list[Event] = []
        self.spilled: list[str] = []
        self.asked: list[str] = []
        self.rules: dict[str, bool] = {}

    def hook(self, command: str, event: str = "PreToolUse", **changes: Any) -> HookHandler:
        """Add a hook; `changes` are fields of HookHandler."""
        source = Source("user", self.root / "settings.json", self.root, trusted=True)
        plain = HookHandler(event, "", command, None, None, None, False, "continue", "", False, source, None)
        self.handlers.append(replace(plain, **changes))
        return self.handlers[-1]

    def says(
        self, answer: JsonObject, event: str = "PreToolUse", code: int = 0, **changes: Any
    ) -> HookHandler:
        """Add a hook that prints JSON."""
        text = json.dumps(answer).replace("'", "'\\''")
        return self.hook(f"printf '%s' '{text}'; exit {code}", event, **changes)

    def specific(self, event: str = "PreToolUse", code: int = 0, **fields: Any) -> HookHandler:
        """Add a hook that prints `hookSpecificOutput`."""
        return self.says({"hookSpecificOutput": {"hookEventName": event, **fields}}, event, code)

    def script(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_text(text)
        return path

    def runner(self) -> HookRunner:
        bus = EventBus()
        bus.subscribe(self.events.append)
        return HookRunner(
            self.handlers,
            self.context,
            bus,
            matches_rule=self.matches,
            spill=self.spill,
            mask=lambda text: text.replace("hunter2", "[masked]"),
        )

    def matches(self, rule: str, call: Call) -> bool:
        self.asked.append(f"{rule} {call.tool}")
        return self.rules[rule]

    def spill(self, text: str) -> Path:
        self.spilled.append(text)
        return self.root / f"spilled-{len(self.spilled)}.txt"

    def told(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]

    def ran(self) -> list[HookRan]:
        return [event for event in self.events if isinstance(event, HookRan)]

    async def before(self, tool: str = "Bash", **arguments: Any) -> BeforeCall:
        return await self.runner().before_call(Call("toolu_1", tool, arguments or {"command": "ls"}))


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


CALL = Call("toolu_1", "Bash", {"command": "ls"})
HANGS = "sleep 60"


# --- which hooks run

MATCHERS = [
    ("Bash", {"Bash"}, {"BashOutput"}),
    ("Edit|Write", {"Edit", "Write"}, {"NotebookEdit"}),
    ("Edit,Write", {"Edit", "Write"}, {"NotebookEdit"}),
    ("Edit | Write", {"Edit", "Write"}, {"NotebookEdit"}),
    ("mcp__memory", set[str](), {"mcp__memory__add"}),
    ("mcp__memory__.*", {"mcp__memory__add"}, {"mcp__mem__x"}),
    ("^Note.*", {"NotebookEdit"}, {"Edit"}),
    ("Bash|mcp__x__.*", {"Bash", "BashOutput", "mcp__x__y"}, {"Edit"}),
    ("*", {"Bash", "anything"}, set[str]()),
    ("", {"Bash", "anything"}, set[str]()),
    ("ToolSearch", {"tool_search"}, {"Bash"}),
    ("^Tool", {"tool_search"}, {"Bash"}),
    ("tool_search", {"tool_search"}, {"Bash"}),
]


@pytest.mark.parametrize(
    ("matcher", "fires", "silent"), MATCHERS, ids=[case[0] or "empty" for case in MATCHERS]
)
async def test_matchers(matcher: str, fires: set[str], silent: set[str], setting: Setting) -> None:
    setting.hook("echo no >&2; exit 2", matcher=matcher)
    for tool in fires:
        assert (await setting.before(tool)).behavior == "deny", tool
    for tool in silent:
        assert await setting.before(tool) == BeforeCall(), tool


async def test_without_a_hook_that_is_meant_nothing_is_touched(setting: Setting) -> None:
    setting.hook("exit 2", matcher="Edit")
    setting.hook("exit 2", unsupported="type http")
    runner = setting.runner()
    assert await runner.before_call(CALL) == BeforeCall()
    assert await runner.permission_request(CALL, []) is None
    assert (await runner.after_call(CALL, None, 0.1)).replaced is UNCHANGED
    assert (await runner.prompt_submitted("hi")).blocked is None
    assert (await runner.session_started("startup", "m")).notes == ()
    assert (await runner.stop("done", active=False)).reason_to_continue is None
    await runner.session_ended("other")
    assert setting.events == []
    assert runner.last_runs == {}


async def test_the_source_of_a_session_and_the_reason_of_its_end_are_matched(setting: Setting) -> None:
    setting.hook("echo resumed", "SessionStart", matcher="resume|fork")
    setting.hook("touch cleared", "SessionEnd", matcher="clear")
    runner = setting.runner()
    assert (await runner.session_started("startup", "m")).notes == ()
    assert (await runner.session_started("resume", "m")).notes == ("resumed",)
    await runner.session_ended("other")
    assert not (setting.root / "cleared").exists()
    await runner.session_ended("clear")
    assert (setting.root / "cleared").exists()


async def test_prompts_and_stops_ignore_matchers(setting: Setting) -> None:
    setting.hook("echo context", "UserPromptSubmit", matcher="Nothing")
    setting.hook("echo more >&2; exit 2", "Stop", matcher="Nothing")
    runner = setting.runner()
    assert (await runner.prompt_submitted("hi")).notes == ("context",)
    assert (await runner.stop("done", active=False)).reason_to_continue == "more"


async def test_an_if_rule_is_asked_of_the_call(setting: Setting) -> None:
    setting.hook("exit 2", condition="Bash(rm *)")
    setting.rules["Bash(rm *)"] = False
    assert (await setting.before()).behavior is None
    setting.rules["Bash(rm *)"] = True
    assert (await setting.before()).behavior == "deny"
    assert setting.asked == ["Bash(rm *) Bash"] * 2


async def test_hooks_that_can_never_run_are_named(setting: Setting) -> None:
    setting.hook("exit 2", matcher="Bash(")
    setting.hook("exit 2", "Stop", condition="Bash(rm *)")
    runner = setting.runner()
    assert await runner.before_call(CALL) == BeforeCall()
    bad_pattern, bad_condition = runner.problems
    assert "'Bash('" in bad_pattern
    assert "not a valid pattern" in bad_pattern
    assert "`if`" in bad_condition


async def test_identical_hooks_run_once_and_a_once_hook_once_a_session(setting: Setting) -> None:
    setting.hook("echo a >> runs", matcher="Bash")
    setting.hook("echo a >> runs", matcher="B.*")
    setting.hook("echo b >> runs", once=True)
    runner = setting.runner()
    await runner.before_call(CALL)
    assert sorted((setting.root / "runs").read_text().split()) == ["a", "b"]
    await runner.before_call(CALL)
    assert sorted((setting.root / "runs").read_text().split()) == ["a", "a", "b"]


async def test_asking_which_hooks_will_run_after_a_call_spends_none(setting: Setting) -> None:
    setting.hook("echo a >> runs", "PostToolUse", once=True)
    setting.hook("echo b >> runs", "PostToolUse", matcher="Edit")
    runner = setting.runner()
    for _ in range(2):
        assert [handler.command for handler in runner.after(CALL)] == ["echo a >> runs"]
    await runner.after_call(CALL, {}, 0.0)
    assert (setting.root / "runs").read_text().split() == ["a"]
    assert not runner.after(CALL)


# --- what a hook gets


def recorder(setting: Setting, event: str, **changes: Any) -> None:
    setting.hook(f"cat > {event}.json", event, **changes)


def received(setting: Setting, event: str) -> JsonObject:
    return json.loads((setting.root / f"{event}.json").read_text())


COMMON = {"session_id": "s-1", "transcript_path": "/h/s-1.jsonl", "permission_mode": "default"}


async def test_what_the_hooks_of_a_call_are_told(setting: Setting) -> None:
    for event in ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"):
        recorder(setting, event)
    runner = setting.runner()
    arguments = {"command": "grün", "half": "\ud800"}
    call = Call("toolu_7", "Bash", arguments)
    suggestion: JsonObject = {"type": "addRules", "destination": "session"}
    await runner.before_call(call)
    await runner.permission_request(call, [suggestion])
    await runner.after_call(call, {"stdout": "x"}, 0.1234)
    await runner.after_failure(call, "broke", interrupted=True, duration=2)
    common = {**COMMON, "cwd": str(setting.root), "tool_name": "Bash", "tool_input": arguments}
    own = {**common, "tool_use_id": "toolu_7"}
    assert received(setting, "PreToolUse") == {**own, "hook_event_name": "PreToolUse"}
    assert received(setting, "PermissionRequest") == {
        **common,
        "hook_event_name": "PermissionRequest",
        "permission_suggestions": [suggestion],
    }
    assert received(setting, "PostToolUse") == {
        **own,
        "hook_event_name": "PostToolUse",
        "tool_response": {"stdout": "x"},
        "duration_ms": 123,
    }
    assert received(setting, "PostToolUseFailure") == {
        **own,
        "hook_event_name": "PostToolUseFailure",
        "error": "broke",
        "is_interrupt": True,
        "duration_ms": 2000,
    }


async def test_a_call_inside_a_program_carries_its_parent(setting: Setting) -> None:
    recorder(setting, "PreToolUse")
    call = Call("toolu_p1_3", "mcp__tickets__close", {"ids": [7]}, Origin.PROGRAM, parent="toolu_p1")
    await setting.runner().before_call(call)
    told = received(setting, "PreToolUse")
    assert (told["tool_name"], told["tool_use_id"]) == ("mcp__tickets__close", "toolu_p1_3")
    assert list(told)[-1] == "parent_tool_use_id"
    assert told["parent_tool_use_id"] == "toolu_p1"


async def test_what_the_hooks_of_a_session_are_told(setting: Setting) -> None:
    for event in ("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreCompact"):
        recorder(setting, event)
    runner = setting.runner()
    await runner.session_started("fork", "some-model")
    await runner.prompt_submitted("do it")
    await runner.stop("done", active=True)
    await runner.other("PreCompact", {"trigger": "manual", "custom_instructions": ""}, "manual")
    await runner.session_ended("logout")
    prompts: dict[str, str] = {}
    common = {**COMMON, "cwd": str(setting.root)}
    for event, fields in {
        "SessionStart": {"source": "fork", "model": "some-model"},
        "SessionEnd": {"reason": "logout"},
        "UserPromptSubmit": {"prompt": "do it"},
        "Stop": {"stop_hook_active": True, "last_assistant_message": "done"},
        "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    }.items():
        message = received(setting, event)
        prompts[event] = message.pop("prompt_id", "")
        assert message == {**common, "hook_event_name": event, **fields}
    assert prompts.pop("SessionStart") == "", "nothing had been sent yet"
    assert len(set(prompts.values())) == 1


async def test_where_hooks_run_and_what_they_inherit(setting: Setting) -> None:
    project = setting.root / "a project $(touch PWN)"
    (project / "sub").mkdir(parents=True)
    key = "key-" + "123"
    setting.context = Context(
        project,
        project / "sub",
        {**os.environ, "ANTHROPIC_API_KEY": key, "ANTHROPIC_AUTH_TOKEN": key, "MINE": "m"},
    )
    setting.hook(
        'env > "${CLAUDE_PROJECT_DIR}/env"; pwd > "${MCODE_PROJECT_DIR}/pwd"; cat > /dev/tty; exit 0'
    )
    await setting.before()
    variables = dict(line.split("=", 1) for line in (project / "env").read_text().splitlines() if "=" in line)
    assert variables["CLAUDE_PROJECT_DIR"] == variables["MCODE_PROJECT_DIR"] == str(project)
    assert variables["MINE"] == "m"
    assert key not in variables.values()
    assert (project / "pwd").read_text() == f"{project}/sub\n"
    assert "/dev/tty" in setting.ran()[0].stderr
    assert not list(setting.root.rglob("PWN"))


async def test_args_are_given_without_a_shell_and_with_the_project_filled_in(setting: Setting) -> None:
    setting.context.project_directory = setting.root / "a b"
    setting.context.project_directory.mkdir()
    script = setting.context.project_directory / "show.py"
    script.write_text("import sys, json; json.dump(sys.argv[1:], open('argv.json', 'w'))")
    arguments = ("${CLAUDE_PROJECT_DIR}/show.py", "$HOME; touch PWN", "x=${MCODE_PROJECT_DIR}", "*")
    setting.hook(sys.executable, args=arguments)
    await setting.before()
    given = json.loads((setting.root / "argv.json").read_text())
    assert given == ["$HOME; touch PWN", f"x={setting.root}/a b", "*"]


# --- PreToolUse: exit codes


async def test_vector_38_exit_2_denies_with_its_stderr_as_the_reason(setting: Setting) -> None:
    setting.hook("echo 'not here' >&2; exit 2")
    before = await setting.before()
    assert (before.behavior, before.reason) == ("deny", "not here")
    assert before.name.startswith("echo 'not here'")
    assert setting.ran()[0].outcome == "blocked"
    assert setting.told() == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            {"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "in JSON"}},
            "in JSON",
        ),
        ({"decision": "approve", "reason": "old style"}, "old style"),
        ({"hookSpecificOutput": {"permissionDecision": 7}}, "blocked by the hook"),
    ],
)
async def test_exit_2_blocks_whatever_the_json_says(
    answer: JsonObject, reason: str, setting: Setting
) -> None:
    setting.says(answer, code=2)
    before = await setting.before()
    assert before.behavior == "deny"
    assert before.reason.startswith(reason)


async def test_vector_37_an_allowing_hook_only_says_so(setting: Setting) -> None:
    setting.specific(permissionDecision="allow", permissionDecisionReason="known good")
    before = await setting.before()
    assert (before.behavior, before.reason, before.arguments) == ("allow", "known good", None)


FAILURES: list[tuple[str, JsonObject, str]] = [
    ("echo first >&2; echo second >&2; exit 1", {}, "exit code 1: first."),
    ("exit 3", {}, "exit code 3."),
    ("no-such-command-here", {}, "exit code 127"),
    (HANGS, {"timeout": 0.2}, "it timed out after 0.2 s"),
    ("kill -9 $$", {}, "it was killed by SIGKILL"),
    ("echo '{broken'", {}, "its output is not what a PreToolUse hook may print"),
    ('echo \'{"continue": "no"}\'', {}, "continue must be true or false, is text"),
    ("/no/such/script", {"args": ()}, "it cannot be started: /no/such/script: No such file"),
    ("yes | head -c 1000000", {}, "it printed 1,000,000 bytes"),
    (
        """echo '{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "allow"}}'""",
        {},
        "hookEventName is 'Stop'",
    ),
    (
        """echo '{"hookSpecificOutput": {"permissionDecision": "maybe"}}'""",
        {},
        "permissionDecision is 'maybe', not one of allow, deny, ask, defer",
    ),
    ("""echo '{"hookSpecificOutput": {"updatedInput": [1]}}'""", {}, "updatedInput must be an object"),
]


@pytest.mark.parametrize(("command", "changes", "said"), FAILURES, ids=[case[0][:30] for case in FAILURES])
async def test_vector_39_p_16_a_failing_hook_decides_nothing_or_blocks(
    command: str, changes: JsonObject, said: str, setting: Setting
) -> None:
    setting.hook(command, **changes)
    assert await setting.before() == BeforeCall()
    (notice,) = setting.told()
    assert said in notice
    assert "the call goes on to the permission check" in notice
    assert setting.ran()[0].outcome == "failed"

    setting.handlers = [replace(setting.handlers[0], on_failure="block")]
    setting.events.clear()
    before = await setting.before()
    assert before.behavior == "deny"
    assert said.rstrip(".") in before.reason
    assert "is set to block" in before.reason
    assert setting.ran()[0].outcome == "blocked"


async def test_p_16_a_permission_printed_by_a_failing_hook_counts_only_without_on_failure_block(
    setting: Setting,
) -> None:
    hook = setting.specific(code=1, permissionDecision="allow")
    assert (await setting.before()).behavior == "allow"
    assert "Its output was understood and counts" in setting.told()[0]
    setting.handlers = [replace(hook, on_failure="block")]
    assert (await setting.before()).behavior == "deny"


async def test_plain_output_of_a_good_hook_means_nothing_here(setting: Setting) -> None:
    setting.hook("echo hello; echo world >&2", on_failure="block")
    assert await setting.before() == BeforeCall()
    assert setting.told() == []
    assert (setting.ran()[0].stdout, setting.ran()[0].stderr) == ("hello\n", "world\n")


# --- PreToolUse: JSON


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        (["allow", "ask", "deny"], "deny"),
        (["deny", "allow"], "deny"),
        (["allow", "ask"], "ask"),
        (["ask", "allow", "allow"], "ask"),
        (["allow", "allow"], "allow"),
        (["defer", "allow"], "ask"),
        (["defer", "deny"], "deny"),
    ],
)
async def test_of_several_hooks_the_strictest_wins(
    decisions: list[str], expected: str, setting: Setting
) -> None:
    for number, decision in enumerate(decisions):
        setting.specific(permissionDecision=decision, permissionDecisionReason=f"{decision} {number}")
    before = await setting.before()
    assert before.behavior == expected
    assert before.reason.split()[0] in {expected, "defer"}


async def test_old_spellings_are_understood(setting: Setting) -> None:
    setting.says({"decision": "approve", "reason": "fine"})
    assert (await setting.before()).behavior == "allow"
    setting.says({"decision": "block", "reason": "no"})
    before = await setting.before()
    assert (before.behavior, before.reason) == ("deny", "no")


async def test_a_new_input_replaces_the_whole_one_and_the_last_wins(setting: Setting) -> None:
    setting.specific(updatedInput={"command": "ls -l", "timeout": 5})
    assert (await setting.before()).arguments == {"command": "ls -l", "timeout": 5}
    assert (await setting.before()).behavior is None
    setting.specific(updatedInput={"command": "pwd"}, permissionDecision="allow")
    before = await setting.before()
    assert (before.behavior, before.arguments) == ("allow", {"command": "pwd"})
    setting.hook("exit 2")
    assert (await setting.before()).arguments is None


async def test_context_goes_to_the_model_and_messages_to_the_user(setting: Setting) -> None:
    setting.specific(additionalContext="mind the gap")
    setting.says({"systemMessage": "look out", "suppressOutput": True})
    before = await setting.before()
    assert before.notes == ("mind the gap",)
    assert before.behavior is None
    assert [text.rpartition(": ")[2] for text in setting.told()] == ["look out"]


@pytest.mark.parametrize(("fields", "reason"), [({"stopReason": "lunch"}, "lunch"), ({}, "stopped the turn")])
async def test_continue_false_ends_the_turn_and_the_call(
    fields: JsonObject, reason: str, setting: Setting
) -> None:
    setting.says({"continue": False, **fields})
    setting.specific(permissionDecision="allow")
    before = await setting.before()
    assert before.behavior == "deny"
    assert before.stop is not None
    assert before.stop.endswith(reason)
    assert before.reason == before.stop


async def test_hooks_run_at_the_same_time(setting: Setting) -> None:
    for number in range(3):
        wait = f"for i in $(seq 500); do [ $(ls started-* | wc -l) = 3 ] && exit 0; sleep 0.01; done; exit {number}"
        setting.hook(f"touch started-{number}; {wait}", on_failure="block")
    assert await setting.before() == BeforeCall()


async def test_long_texts_are_cut_and_kept_in_a_file(setting: Setting) -> None:
    setting.specific(additionalContext="x" * 10_000)
    setting.specific(additionalContext="begin " + "y" * 20_000)
    setting.hook("printf 'z%.0s' $(seq 12000) >&2; exit 2")
    before = await setting.before()
    assert before.notes[0] == "x" * 10_000
    assert all(len(text) <= TEXT_LIMIT for text in (*before.notes, before.reason))
    assert before.notes[1].startswith("begin yyy")
    assert f"20,006 characters in all; the whole text is in {setting.root}/spilled-" in before.notes[1]
    assert before.reason.startswith("zzz")
    assert sorted(map(len, setting.spilled)) == [12_000, 20_006]


async def test_t_01_control_sequences_of_hooks_reach_nobody(setting: Setting) -> None:
    setting.hook(r"printf '\033]0;x\007bad\033[2J' >&2; exit 2")
    setting.specific(additionalContext="a\x1b[31mb\u202e")
    before = await setting.before()
    assert (before.reason, before.notes) == ("bad", ("ab",))


# --- PermissionRequest


async def test_a_hook_can_answer_for_the_user(setting: Setting) -> None:
    update: JsonObject = {"type": "setMode", "mode": "plan", "destination": "session"}
    decision = {
        "behavior": "allow",
        "updatedInput": {"command": "pwd"},
        "updatedPermissions": [update],
    }
    setting.specific("PermissionRequest", decision=decision)
    answer = await setting.runner().permission_request(CALL, [])
    assert answer is not None
    assert (answer.behavior, answer.arguments) == ("allow", {"command": "pwd"})
    assert answer.updated_permissions == [update]
    setting.specific(
        "PermissionRequest", decision={"behavior": "deny", "message": "never", "interrupt": True}
    )
    answer = await setting.runner().permission_request(CALL, [])
    assert answer is not None
    assert (answer.behavior, answer.message, answer.interrupt) == ("deny", "never", True)


@pytest.mark.parametrize(
    "command",
    [
        "exit 2",
        """echo '{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}'; exit 2""",
        """echo '{"hookSpecificOutput": {"decision": {"behavior": "perhaps"}}}'""",
        """echo '{"hookSpecificOutput": {"decision": {"message": "x"}}}'""",
        """echo '{"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedPermissions": {}}}}'""",
        """echo '{"hookSpecificOutput": {"decision": "allow"}}'""",
        "echo yes",
        "exit 1",
    ],
)
@pytest.mark.parametrize("on_failure", ["continue", "block"])
async def test_p_16_anything_but_a_clear_answer_leaves_the_question_to_the_user(
    command: str, on_failure: str, setting: Setting
) -> None:
    setting.hook(command, "PermissionRequest", on_failure=on_failure)
    assert await setting.runner().permission_request(CALL, []) is None


# --- after a call


async def test_objections_after_a_call_go_to_the_model(setting: Setting) -> None:
    setting.hook("echo 'tests fail' >&2; exit 2", "PostToolUse")
    setting.says({"decision": "block", "reason": "style"}, "PostToolUse")
    setting.hook("exit 2", "PostToolUse")
    after = await setting.runner().after_call(CALL, {}, 0)
    first, second, third = after.feedback
    assert (first, second) == ("tests fail", "style")
    assert "no reason was given" in third
    assert after.replaced is UNCHANGED


async def test_a_result_can_be_replaced_by_anything_even_null(setting: Setting) -> None:
    setting.specific("PostToolUse", updatedToolOutput={"stdout": "gone"}, additionalContext="was secret")
    after = await setting.runner().after_call(CALL, {}, 0)
    assert after.replaced == {"stdout": "gone"}
    assert after.notes == ("was secret",)
    setting.specific("PostToolUse", updatedToolOutput=None)
    assert (await setting.runner().after_call(CALL, {}, 0)).replaced is None


async def test_the_older_name_of_a_replaced_result_counts_for_mcp_tools_only(setting: Setting) -> None:
    setting.specific("PostToolUse", updatedMCPToolOutput="new")
    runner = setting.runner()
    assert (await runner.after_call(CALL, {}, 0)).replaced is UNCHANGED
    assert (await runner.after_call(Call("t", "mcp__a__b", {}), {}, 0)).replaced == "new"


async def test_a_failed_call_has_hooks_of_its_own(setting: Setting) -> None:
    setting.hook("exit 2", "PostToolUse")
    setting.says(
        {"continue": False, "stopReason": "enough", "decision": "block", "reason": "broken"},
        "PostToolUseFailure",
    )
    after = await setting.runner().after_failure(CALL, "it broke", interrupted=False, duration=0)
    assert (after.feedback, after.stop) == (("broken",), "enough")


async def test_on_failure_block_after_a_call_tells_the_model(setting: Setting) -> None:
    setting.hook("exit 1", "PostToolUse", on_failure="block")
    (feedback,) = (await setting.runner().after_call(CALL, {}, 0)).feedback
    assert "exit code 1" in feedback


# --- prompts, starts, ends and stops


@pytest.mark.parametrize("json_style", [False, True])
async def test_a_prompt_can_be_refused(json_style: bool, setting: Setting) -> None:
    if json_style:
        setting.says({"decision": "block", "reason": "no secrets"}, "UserPromptSubmit")
    else:
        setting.hook("echo 'no secrets' >&2; exit 2", "UserPromptSubmit")
    verdict = await setting.runner().prompt_submitted("my password")
    assert (verdict.blocked, verdict.notes) == ("no secrets", ())


async def test_context_for_a_prompt_is_plain_text_or_json(setting: Setting) -> None:
    setting.hook("echo 'branch: main'", "UserPromptSubmit")
    setting.specific("UserPromptSubmit", additionalContext="from JSON")
    setting.hook("echo 'not this'; exit 1", "UserPromptSubmit")
    setting.says({"continue": False, "stopReason": "off"}, "UserPromptSubmit")
    verdict = await setting.runner().prompt_submitted("hi")
    assert verdict.notes == ("branch: main", "from JSON")
    assert (verdict.blocked, verdict.stop) == (None, "off")


async def test_a_session_gets_context_a_title_and_a_first_message(setting: Setting) -> None:
    setting.hook("echo plain", "SessionStart")
    setting.specific("SessionStart", additionalContext="more", sessionTitle="T", initialUserMessage="go")
    setting.hook("echo ignored >&2; exit 2", "SessionStart")
    context = await setting.runner().session_started("startup", "m")
    assert context.notes == ("plain", "more")
    assert (context.title, context.initial_message) == ("T", "go")
    assert "has no effect: ignored" in setting.told()[0]


@pytest.mark.parametrize("json_style", [False, True])
async def test_a_stop_hook_sends_the_model_back_to_work(json_style: bool, setting: Setting) -> None:
    if json_style:
        setting.says({"decision": "block", "reason": "run the tests"}, "Stop")
    else:
        setting.hook("echo 'run the tests' >&2; exit 2", "Stop")
    assert (await setting.runner().stop("done", active=False)).reason_to_continue == "run the tests"


async def test_p_16_on_failure_block_cannot_keep_the_model_from_stopping(setting: Setting) -> None:
    setting.hook("exit 1", "Stop", on_failure="block")
    verdict = await setting.runner().stop("done", active=False)
    assert verdict.reason_to_continue is None
    assert "exit code 1" in setting.told()[0]


async def test_session_end_hooks_have_little_time(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_round, "_END_TIME", 0.5)
    setting.hook("sleep 60; touch late", "SessionEnd")
    await setting.runner().session_ended("other")
    assert "timed out after 0.5 s" in setting.told()[0]


async def test_session_end_hooks_have_the_time_that_one_of_them_asks_for(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_round, "_END_TIME", 0.1)
    monkeypatch.setattr(hook_round, "_END_TIME_MAXIMUM", 30.0)
    setting.hook("sleep 0.3; touch in-time", "SessionEnd", timeout=20)
    setting.hook("sleep 0.3; touch without-a-wish", "SessionEnd")
    await setting.runner().session_ended("other")
    assert (setting.root / "in-time").exists()
    assert (setting.root / "without-a-wish").exists()
    monkeypatch.setattr(hook_round, "_END_TIME_MAXIMUM", 0.6)
    setting.handlers = []
    setting.hook("sleep 60", "SessionEnd", timeout=30)
    await setting.runner().session_ended("other")
    assert "timed out after 0.6 s" in setting.told()[0]


async def test_other_points_can_block_too(setting: Setting) -> None:
    setting.hook("echo keep >&2; exit 2", "PreCompact", matcher="auto")
    runner = setting.runner()
    assert (await runner.other("PreCompact", {"trigger": "auto"}, "auto")).blocked == "keep"
    assert (await runner.other("PreCompact", {"trigger": "manual"}, "manual")).blocked is None


# --- in the background, interrupted, shown


async def test_a_background_hook_decides_nothing_and_delays_nothing(setting: Setting) -> None:
    wait = "until [ -e go ]; do sleep 0.02; done"
    setting.hook(f"{wait}; touch done; exit 2", run_async=True, on_failure="block")
    runner = setting.runner()
    assert await runner.before_call(CALL) == BeforeCall()
    assert not (setting.root / "done").exists()
    assert setting.ran() == []
    (setting.root / "go").touch()
    assert await asyncio.to_thread(wait_until, lambda: bool(setting.ran()))
    assert (setting.root / "done").exists()


async def test_background_hooks_end_with_the_session(setting: Setting) -> None:
    setting.hook(HANGS, run_async=True)
    runner = setting.runner()
    await runner.before_call(CALL)
    await asyncio.sleep(0.1)
    await runner.session_ended("other")
    assert [run.outcome for run in setting.ran()] == ["cancelled"]


async def test_an_interrupt_ends_every_hook_of_the_call(setting: Setting) -> None:
    before = open_descriptors()
    setting.hook("touch one; sleep 60")
    setting.hook("touch two; sleep 61")
    task = asyncio.create_task(setting.before())
    started = (setting.root / "one", setting.root / "two")
    assert await asyncio.to_thread(wait_until, lambda: all(file.exists() for file in started))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [run.outcome for run in setting.ran()] == ["cancelled", "cancelled"]
    assert open_descriptors() <= before + 1


async def test_each_run_is_emitted_masked_and_remembered(setting: Setting) -> None:
    password = "hunter" + "2"
    hook = setting.hook(f"echo {password}; echo '{password} again' >&2; exit 1; # {'long ' * 40}")
    runner = setting.runner()
    await runner.before_call(CALL)
    started, ran, notice = setting.events
    assert isinstance(started, HookStarted)
    assert isinstance(ran, HookRan)
    assert isinstance(notice, Notice)
    assert started.hook_id == ran.hook_id
    assert (ran.event, ran.outcome, ran.call_id, ran.exit_code) == ("PreToolUse", "failed", "toolu_1", 1)
    assert (ran.stdout, ran.stderr) == ("[masked]\n", "[masked] again\n")
    assert len(ran.name) <= 80
    assert password not in repr(setting.events)
    last = runner.last_runs[hook]
    assert last.ran is ran
    assert last.problem.startswith("exit code 1")
    assert abs(last.at - time.time()) < 60


async def test_the_message_for_the_time_a_hook_runs_is_emitted_masked_as_it_starts(setting: Setting) -> None:
    setting.hook("true", status_message="asking\n  hunter" + "2")
    setting.hook("exit 0")
    await setting.before()
    started = [event.status for event in setting.events if isinstance(event, HookStarted)]
    assert started == ["asking [masked]", ""]


# --- complete examples


GUARD = """
import json, sys
event = json.load(sys.stdin)
ids = event["tool_input"].get("ids", [])
if event["tool_name"] == "mcp__tickets__close_ticket" and len(ids) > 1:
    sys.exit("refused") if "--loud" in sys.argv else print("only one ticket at a time", file=sys.stderr)
    raise SystemExit(2)
"""

TRIMMER = """
import json, sys
event = json.load(sys.stdin)
answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "trimmed",
          "updatedInput": {"ids": event["tool_input"]["ids"][:1]}}
print(json.dumps({"hookSpecificOutput": answer}))
"""


async def test_a_guard_script_refuses_the_same_from_the_model_and_from_a_program(setting: Setting) -> None:
    setting.script("guard.py", GUARD)
    setting.hook(
        sys.executable,
        matcher="Bash|mcp__tickets__.*",
        args=("${CLAUDE_PROJECT_DIR}/guard.py",),
        timeout=10.0,
        on_failure="block",
    )
    runner = setting.runner()
    for origin, parent in ((Origin.MODEL, None), (Origin.PROGRAM, "toolu_p1")):
        several = Call("a", "mcp__tickets__close_ticket", {"ids": [1, 2]}, origin, parent)
        before = await runner.before_call(several)
        assert (before.behavior, before.reason) == ("deny", "only one ticket at a time")
        assert await runner.before_call(replace(several, arguments={"ids": [1]})) == BeforeCall()
    assert await runner.before_call(CALL) == BeforeCall()
    (setting.root / "guard.py").write_text("import nothing_of_this_name")
    broken = await runner.before_call(CALL)
    assert broken.behavior == "deny"
    assert "exit code 1: Traceback" in broken.reason


async def test_a_script_that_changes_the_input_and_allows_it(setting: Setting) -> None:
    path = setting.script("trim.py", TRIMMER)
    setting.hook(f"{sys.executable} {path}", matcher="mcp__tickets__close_ticket")
    before = await setting.before("mcp__tickets__close_ticket", ids=[4, 5])
    assert before.behavior == "allow"
    assert before.arguments == {"ids": [4]}
    assert before.reason == "trimmed"


async def test_a_formatter_after_edits_is_silent(setting: Setting) -> None:
    setting.hook("echo formatted > log", "PostToolUse", matcher="Edit|Write")
    runner = setting.runner()
    assert (await runner.after_call(CALL, {}, 0)).feedback == ()
    assert not (setting.root / "log").exists()
    after = await runner.after_call(Call("e", "Edit", {"file_path": "/w/a"}), {}, 0)
    assert (after.feedback, after.notes, after.stop) == ((), (), None)
    assert (setting.root / "log").read_text() == "formatted\n"
