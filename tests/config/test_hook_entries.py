"""Hooks as settings files write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.config.conftest import messages, of_severity

if TYPE_CHECKING:
    from mcode.config.settings import HookHandler
    from tests.config.conftest import World

USER, USER_CLAUDE = "home/.mcode/settings.json", "home/.claude/settings.json"
MANAGED = "etc/mcode/managed-settings.json"


def one(world: World, handler: object, event: str = "PreToolUse", **group: object) -> HookHandler:
    """The handler that comes out of a file with just this one."""
    world.write(USER, {"hooks": {event: [{**group, "hooks": [handler]}]}})
    (parsed,) = world.load().hooks
    return parsed


def test_every_field_of_a_handler_arrives(world: World) -> None:
    handler = one(
        world,
        {
            "type": "command",
            "command": "guard",
            "args": ["a", "b c"],
            "timeout": 2.5,
            "if": "Bash(git *)",
            "async": True,
            "statusMessage": "checking",
            "shell": "bash",
            "once": True,
            "onFailure": "block",
        },
        matcher="Bash",
    )
    assert (handler.event, handler.matcher, handler.command, handler.args) == (
        "PreToolUse",
        "Bash",
        "guard",
        ("a", "b c"),
    )
    assert (handler.timeout, handler.condition, handler.run_async) == (2.5, "Bash(git *)", True)
    assert (handler.status_message, handler.shell, handler.once, handler.on_failure) == (
        "checking",
        "bash",
        True,
        "block",
    )
    assert handler.unsupported is None
    assert handler.source.path == world.root / USER
    assert world.load().problems == ()


def test_what_is_not_given_has_its_usual_value(world: World) -> None:
    handler = one(world, {"command": "guard"})
    assert (handler.matcher, handler.args, handler.timeout, handler.condition) == ("", None, None, None)
    assert (handler.run_async, handler.once, handler.on_failure, handler.shell) == (
        False,
        False,
        "continue",
        None,
    )
    assert handler.unsupported is None


def test_an_empty_list_of_arguments_is_not_the_same_as_none(world: World) -> None:
    assert one(world, {"command": "guard", "args": []}).args == ()


def test_the_flat_form_is_understood(world: World) -> None:
    flat = {"name": "guard", "matcher": "^bash$", "command": "./guard.sh", "timeout": 5}
    world.write(USER, {"hooks": {"PreToolUse": [flat, {"command": "always"}]}})
    settings = world.load()
    found = [
        (handler.matcher, handler.command, handler.timeout, handler.unsupported) for handler in settings.hooks
    ]
    assert found == [("^bash$", "./guard.sh", 5, None), ("", "always", None, None)]
    assert settings.problems == ()


@pytest.mark.parametrize("kind", ["http", "mcp_tool", "prompt", "agent", "wasm", 5])
def test_a_type_that_is_not_run_is_listed_and_said(world: World, kind: object) -> None:
    handler = one(world, {"type": kind, "url": "https://hooks.example"})
    assert handler.unsupported is not None
    assert 'mcode runs hooks of type "command" only' in handler.unsupported
    assert handler.command == "https://hooks.example"
    assert "this hook never runs" in messages(world.load(), "warning")


def test_events_of_other_agents_are_listed_quietly(world: World) -> None:
    handler = one(world, {"command": "x"}, event="WorktreeCreate")
    assert handler.unsupported == "mcode does not have the event WorktreeCreate: it makes no worktrees"
    assert [problem.severity for problem in world.load().problems] == ["info"]


def test_a_mistyped_event_is_said_aloud(world: World) -> None:
    handler = one(world, {"command": "x"}, event="PreTooluse")
    assert handler.unsupported is not None
    assert 'PreTooluse; did you mean "PreToolUse"?' in messages(world.load(), "warning")


@pytest.mark.parametrize(
    ("handler", "fault"),
    [
        ({"type": "command"}, 'expected "command" to be text, got null'),
        ({"type": "command", "command": " "}, 'expected "command" to be text'),
        ({"type": "command", "command": 5}, 'expected "command" to be text, got the number 5'),
        ({"command": "rm", "args": "-rf x"}, 'expected "args" to be a list of text'),
        ({"command": "rm", "args": [1]}, 'expected "args" to be a list of text'),
        ({"command": "x", "shell": "powershell"}, 'with bash, not with the text "powershell"'),
    ],
)
def test_a_handler_that_cannot_run_is_listed_with_the_reason(
    world: World, handler: dict[str, object], fault: str
) -> None:
    parsed = one(world, handler)
    assert parsed.unsupported is not None
    assert fault in parsed.unsupported
    assert fault in messages(world.load(), "error")


@pytest.mark.parametrize("matcher", ["Bash(", "*a", 5, ["Bash"]])
def test_a_matcher_that_matches_nothing_stops_its_hooks_and_is_said(world: World, matcher: object) -> None:
    assert one(world, {"command": "x"}, matcher=matcher).unsupported is not None
    assert "hooks.PreToolUse[0].matcher" in messages(world.load(), "error")


@pytest.mark.parametrize(
    "matcher", ["", None, "*", "Bash", "Edit|Write", "Edit, Write", "mcp__memory__.*", "^Note"]
)
def test_matchers_of_every_usual_form_are_fine(world: World, matcher: object) -> None:
    assert one(world, {"command": "x"}, matcher=matcher).unsupported is None
    assert world.load().problems == ()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("timeout", -1, "seconds, more than 0"),
        ("timeout", "5", "seconds, more than 0"),
        ("if", 5, "text"),
        ("async", "yes", "true or false"),
        ("once", 1, "true or false"),
        ("onFailure", "Block", 'one of "continue", "block"'),
    ],
)
def test_a_wrong_field_is_said_and_the_hook_runs_without_it(
    world: World, name: str, value: object, expected: str
) -> None:
    parsed = one(world, {"command": "x", name: value})
    assert parsed.unsupported is None
    assert f"hooks.PreToolUse[0].hooks[0].{name}: expected {expected}" in messages(world.load(), "error")


def test_an_unknown_field_disables_nothing(world: World) -> None:
    assert one(world, {"command": "x", "retries": 3}, note="why").unsupported is None
    said = messages(world.load())
    assert "hooks[0].retries: mcode does not know this field and ignores it" in said
    assert "hooks.PreToolUse[0].note" in said


def test_a_hook_that_wakes_the_model_runs_in_the_background(world: World) -> None:
    handler = one(world, {"command": "x", "asyncRewake": True})
    assert handler.run_async
    assert handler.rewakes
    assert messages(world.load()) == ""


def test_hooks_of_sub_agents_run(world: World) -> None:
    assert one(world, {"command": "x"}, event="SubagentStop").unsupported is None


@pytest.mark.parametrize("value", ["[]", '"x"', '{"Stop": {}}', '{"Stop": ["x"]}', '{"Stop": [{}]}'])
def test_hooks_of_a_wrong_shape_are_said_and_the_rest_of_the_file_counts(world: World, value: str) -> None:
    world.write(USER, f'{{"hooks": {value}, "model": "x"}}')
    settings = world.load()
    assert settings.hooks == ()
    assert settings.model == "x"
    assert len(settings.problems) == 1


def test_hooks_of_all_files_add_up_and_identical_ones_run_once(world: World) -> None:
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard", "timeout": 5}]}
    world.write(USER, {"hooks": {"PreToolUse": [guard, guard]}})
    world.write(USER_CLAUDE, {"hooks": {"PreToolUse": [guard, other], "Stop": [guard]}})
    found = [(handler.event, handler.timeout, handler.source.path) for handler in world.load().hooks]
    assert found == [
        ("PreToolUse", None, world.root / USER),
        ("PreToolUse", 5, world.root / USER_CLAUDE),
        ("Stop", None, world.root / USER_CLAUDE),
    ]


def test_the_user_cannot_switch_off_the_administrators_hooks(world: World) -> None:
    entry = {"hooks": {"PreToolUse": [{"hooks": [{"command": "managed"}]}]}}
    world.write(USER, {"disableAllHooks": True, "hooks": {"PreToolUse": [{"hooks": [{"command": "mine"}]}]}})
    assert world.load().disable_all_hooks
    world.write(MANAGED, entry)
    settings = world.load()
    assert not settings.disable_all_hooks
    managed, mine = settings.hooks
    assert managed.unsupported is None
    assert mine.unsupported == f"disableAllHooks is set in {world.root / USER}"
    world.write(MANAGED, entry | {"disableAllHooks": True})
    assert world.load().disable_all_hooks


def test_severities_are_the_three_that_there_are(world: World) -> None:
    one(world, {"type": "http", "x": 1, "timeout": -1})
    settings = world.load()
    counted = sum(len(of_severity(settings, severity)) for severity in ("error", "warning", "info"))
    assert counted == len(settings.problems) == 3
