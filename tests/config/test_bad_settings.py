"""Settings files with faults: each is said, and costs no more than what is wrong."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from mcode.config.report import lines_of
from tests.config.conftest import messages, texts

if TYPE_CHECKING:
    from tests.config.conftest import World

USER, USER_CLAUDE = "home/.mcode/settings.json", "home/.claude/settings.json"
PROJECT = "home/src/app/.mcode/settings.json"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            '{\n  "model": "x",\n  "env" {}\n}',
            "is not valid JSON: Expecting ':' delimiter in line 3, column 9",
        ),
        ('{"model": "x",}', "is not valid JSON: "),
        ("// a comment\n{}", "is not valid JSON: Expecting value in line 1, column 1"),
        ('{"cleanupPeriodDays": NaN}', "is not valid JSON: NaN is not JSON"),
        ("[1, 2]", "is an array, expected an object"),
        ("null", "is null, expected an object"),
        ("[" * 100_000, "is nested too deep"),
    ],
)
def test_a_file_that_is_no_json_object_is_skipped_and_all_others_count(
    world: World, text: str, fault: str
) -> None:
    world.write(PROJECT, text)
    world.write(USER, {"permissions": {"deny": ["Bash(rm *)"]}})
    settings = world.load()
    assert texts(settings, "deny") == {"Bash(rm *)"}
    (problem,) = settings.problems
    assert problem.path == world.root / PROJECT
    assert fault in problem.text
    assert "it is skipped, all other files count" in problem.text
    assert problem.severity == "error"


def test_an_empty_file_is_a_file_without_settings(world: World) -> None:
    world.write(USER, " \n")
    assert world.load().problems == ()


def test_a_byte_order_mark_does_not_matter(world: World) -> None:
    path = world.write(USER, "")
    path.write_bytes(b'\xef\xbb\xbf{"model": "x"}')
    assert world.load().model == "x"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b'{"model": "\xff"}', "is not UTF-8 text (byte 11)"),
        (b'{"model": "' + b"x" * 1_000_001 + b'"}', "is larger than 1,000,000 bytes"),
    ],
)
def test_bytes_that_are_no_settings_are_skipped(world: World, data: bytes, fault: str) -> None:
    world.write(USER, "").write_bytes(data)
    assert fault in messages(world.load(), "error")


def test_a_pipe_in_place_of_a_file_does_not_hold_up_the_start(world: World) -> None:
    path = world.root / PROJECT
    path.parent.mkdir()
    os.mkfifo(path)
    assert "cannot be read (not a plain file)" in messages(world.load(), "error")


def test_a_device_or_a_directory_in_place_of_a_file_is_said(world: World) -> None:
    path = world.root / PROJECT
    path.parent.mkdir()
    path.symlink_to("/dev/zero")
    (world.root / USER).mkdir(parents=True)
    settings = world.load()
    assert "not a plain file" in messages(settings)
    assert len(settings.problems) == 2


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_said(world: World) -> None:
    world.write(USER, {"model": "x"}).chmod(0)
    assert "cannot be read (Permission denied)" in messages(world.load(), "error")


@pytest.mark.parametrize(
    ("content", "key", "text", "severity"),
    [
        ({"model": 5}, "model", "expected text, got the number 5; the value is ignored", "warning"),
        ({"permissions": []}, "permissions", "expected an object, got an array; it is ignored", "error"),
        (
            {"permissions": {"deny": "Bash(rm *)"}},
            "permissions.deny",
            'expected a list of text, got the text "Bash(rm *)"; the value is ignored',
            "error",
        ),
        (
            {"permissions": {"ask": ["x", None]}},
            "permissions.ask[1]",
            "expected text, got null; this entry is ignored",
            "error",
        ),
        (
            {"permissions": {"allow": [True]}},
            "permissions.allow[0]",
            "expected text, got true; this entry is ignored",
            "warning",
        ),
        (
            {"permissions": {"blockReadsOutsideWorkingDirectories": "true"}},
            "permissions.blockReadsOutsideWorkingDirectories",
            'expected true or false, got the text "true"; the value is ignored',
            "error",
        ),
        (
            {"permissions": {"defaultMode": "yolo"}},
            "permissions.defaultMode",
            'expected one of "default", "manual", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", got',
            "warning",
        ),
        (
            {"cleanupPeriodDays": 0},
            "cleanupPeriodDays",
            "expected a whole number from 1, got the number 0; the value is ignored",
            "warning",
        ),
        (
            {"cleanupPeriodDays": True},
            "cleanupPeriodDays",
            "expected a whole number from 1, got true; the value is ignored",
            "warning",
        ),
        ({"env": {"A": []}}, "env.A", "expected text, got an array; it is ignored", "warning"),
        ({"env": {"A B": "x"}}, "env.A B", "this is no name of a variable; it is ignored", "warning"),
        ({"env": "x"}, "env", 'expected an object of variable names and text, got the text "x"', "warning"),
        ({"statusLine": {"type": "x"}}, "statusLine", 'expected an object {"type": "command"', "warning"),
        ({"mcode": 1}, "mcode", "expected an object, got the number 1; it is ignored", "error"),
        (
            {"mcode": {"baseUrl": "file:///x"}},
            "mcode.baseUrl",
            "expected a URL that begins with https://",
            "warning",
        ),
        (
            {"mcode": {"prices": {"m": {"input": 1}}}},
            "mcode.prices",
            "expected for each model an object",
            "warning",
        ),
        (
            {"mcode": {"ui": {"armDelay": 0.1}}},
            "mcode.ui.armDelay",
            "expected a number from 0.3 to 60",
            "warning",
        ),
        ({"mcode": {"window": 1e400}}, "mcode.window", "expected a whole number from 1000", "warning"),
    ],
)
def test_a_wrong_value_is_ignored_alone(
    world: World, content: dict[str, object], key: str, text: str, severity: str
) -> None:
    world.write(USER, json.dumps({"outputStyle": "terse", **content}).replace("Infinity", "1e400"))
    settings = world.load()
    assert settings.output_style == "terse"
    (problem,) = settings.problems
    assert (problem.path, problem.key, problem.severity) == (world.root / USER, key, severity)
    assert problem.text.startswith(text)


def test_the_right_entries_of_a_list_count_with_their_own_lines(world: World) -> None:
    world.write(USER, '{"permissions": {"deny": [\n1,\n"Bash(rm *)",\n{},\n"Read(.env)"]}}')
    settings = world.load()
    assert [(rule.text, rule.line) for rule in settings.rules] == [("Bash(rm *)", 3), ("Read(.env)", 5)]
    assert [(problem.key, problem.line) for problem in settings.problems] == [
        ("permissions.deny[0]", 2),
        ("permissions.deny[2]", 4),
    ]


def test_a_problem_says_file_line_and_key(world: World) -> None:
    world.write(USER, '{\n\n "model": 1}')
    assert messages(world.load()) == (
        f"{world.root / USER}, line 3: model: expected text, got the number 1; the value is ignored"
    )


def test_an_unknown_key_of_our_own_file_is_said_with_what_was_meant(world: World) -> None:
    world.write(USER, {"modle": "x", "permissions": {"alow": []}, "toolSearch": "auto", "qqqq": 1})
    said = messages(world.load(), "warning")
    assert 'modle: mcode does not know this key and ignores it; did you mean "model"?' in said
    assert (
        'permissions.alow: mcode does not know this key and ignores it; did you mean "permissions.allow"?'
        in said
    )
    assert 'toolSearch: mcode does not know this key and ignores it; did you mean "mcode.toolSearch"?' in said
    assert "qqqq: mcode does not know this key and ignores it" in said


def test_unknown_keys_of_another_agents_file_are_quiet_but_not_under_mcode(world: World) -> None:
    world.write(USER_CLAUDE, {"includeSomething": True, "permissions": {"other": 1}, "mcode": {"windwo": 1}})
    settings = world.load()
    assert [(problem.key, problem.severity) for problem in settings.problems] == [
        ("includeSomething", "info"),
        ("permissions.other", "info"),
        ("mcode.windwo", "warning"),
    ]


def test_a_key_that_stands_twice_counts_once_and_is_said(world: World) -> None:
    world.write(USER, '{"permissions": {"deny": ["a"]}, "permissions": {"deny": ["b"]}}')
    settings = world.load()
    assert texts(settings, "deny") == {"b"}
    assert "permissions: this key stands twice in one object; the last one counts" in messages(
        settings, "error"
    )


def test_lines_are_found_whatever_the_text_holds() -> None:
    text = '{\n"a": {"b": [1,\n{"c": "x,\\"]}\\\\"}, [\n]\n,null]},\n"\\u0064": "e"}'
    assert lines_of(text) == {
        "a": 2,
        "a.b": 2,
        "a.b[0]": 2,
        "a.b[1]": 3,
        "a.b[1].c": 3,
        "a.b[2]": 3,
        "a.b[3]": 5,
        "d": 6,
    }
