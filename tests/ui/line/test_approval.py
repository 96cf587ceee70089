"""What an approval shows, and which words decide it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mcode.call import Call, Origin
from mcode.events import ApprovalChoice, ApprovalPart, ApprovalRequested
from mcode.text import cell_width
from mcode.tool import Preview
from mcode.ui.line.approval import Decision, approval_lines, could_decide, read_decision
from mcode.ui.look import Look

CHOICES = (
    ApprovalChoice("once", "Allow once"),
    ApprovalChoice("session", "Allow `pytest *` for this session", "Bash(pytest *)", "session"),
    ApprovalChoice("always", "Always allow `pytest *`", "Bash(pytest *)", "local"),
    ApprovalChoice("deny", "Deny, and tell the agent why"),
)
PLAIN = Look(color=False)


def request(preview: Preview, **arguments: object) -> ApprovalRequested:
    call = Call("c1", "Bash", dict(arguments), Origin.PROGRAM, parent="toolu_p1")
    return ApprovalRequested("a1", call, preview, "no rule allows `pytest`", CHOICES, "/home/ada/project")


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("once", Decision("once")),
        ("  ALWAYS  ", Decision("always")),
        ("deny", Decision("deny")),
        ("deny use the other file", Decision("deny", "use the other file")),
        ("show", Decision("show")),
    ],
)
def test_the_words_decide(line: str, decision: Decision) -> None:
    assert read_decision(line, CHOICES) == decision


@pytest.mark.parametrize(
    "line", ["y", "yes", "1", "o", "onc", "ok", "allow", "once please", "session 2", "stop", ""]
)
def test_nothing_else_decides(line: str) -> None:
    answer = read_decision(line, CHOICES)
    assert isinstance(answer, str)
    assert "nothing was decided" in answer


@given(some.text("onceysdal w1", max_size=12))
def test_p_13_no_line_decides_that_was_not_taken_for_a_decision_at_every_key(line: str) -> None:
    if isinstance(read_decision(line, CHOICES), Decision):
        assert all(could_decide(line[:length], CHOICES) for length in range(1, len(line) + 1))


@pytest.mark.parametrize("line", ["y", "1", "so ", "once m", "sessions", "always!", "denying", "x once"])
def test_a_line_that_cannot_become_a_decision_is_noticed_at_once(line: str) -> None:
    assert not could_decide(line, CHOICES)


@pytest.mark.parametrize(
    "line", ["", "o", "onc", "once", "once ", " se", "deny", "deny b", "deny because of it", "SH"]
)
def test_a_line_that_may_become_one_stays(line: str) -> None:
    assert could_decide(line, CHOICES)


def test_the_block_shows_tool_directory_reason_origin_subject_and_the_rules_with_their_place() -> None:
    body = "pytest -q tests/test_repl.py"
    lines = approval_lines(request(Preview(body, body)), "1 of 2", PLAIN, 100)
    assert lines[0] == "Approval: Bash waits for you (1 of 2)"
    text = "\n".join(lines)
    for expected in (
        "  in        /home/ada/project",
        "  because   no rule allows `pytest`",
        "  asked by  a program (call toolu_p1)",
        "  | pytest -q tests/test_repl.py",
        "  session   Allow `pytest *` for this session   rule: Bash(pytest *)",
        "  always    Always allow `pytest *`   rule: Bash(pytest *) in .mcode/settings.local.json",
    ):
        assert expected in text


def test_nothing_is_said_twice_and_what_goes_without_saying_not_at_all() -> None:
    call = Call("c1", "Bash", {"command": "pytest -q", "description": "Run the tests"})
    preview = Preview("pytest -q", "pytest -q")
    asked = ApprovalRequested("a1", call, preview, "no rule allows `pytest`", CHOICES, "/home/ada/project")
    assert approval_lines(asked, "1 of 1", PLAIN, 100, start="/home/ada/project") == [
        "Approval: Bash waits for you (1 of 1)",
        "  says      Run the tests",
        "  because   no rule allows `pytest`",
        "  | pytest -q",
        "  once      Allow once",
        "  session   Allow `pytest *` for this session   rule: Bash(pytest *)",
        "  always    Always allow `pytest *`   rule: Bash(pytest *) in .mcode/settings.local.json",
        "  deny      Deny, and tell the agent why (your reason may follow the word)",
        "  show      Print it again, with the raw arguments; decides nothing",
    ]
    narrow = approval_lines(asked, "1 of 1", PLAIN, 60, start="/home/ada/project")
    assert "            rule: Bash(pytest *) in" in narrow
    assert "            .mcode/settings.local.json" in narrow
    assert all(cell_width(line) <= 60 for line in narrow)


def test_the_first_line_of_a_long_command_is_not_repeated_and_the_path_of_a_change_is_kept() -> None:
    several = approval_lines(request(Preview("cd a \u2026", "cd a\nls")), "1 of 1", PLAIN, 100)
    assert not any(line.startswith("  on ") for line in several)
    preview = Preview("a.py", body="a.py", diff="--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+y\n")
    assert "  on        a.py" in approval_lines(request(preview), "1 of 1", PLAIN, 100)


def test_scenario_8_hidden_characters_of_the_subject_are_visible_and_in_their_order() -> None:
    lines = approval_lines(request(Preview("x", "echo \u202ea\x1b[2J\nrm x ")), "1 of 1", PLAIN, 100)
    assert "  | echo \u2039U+202E\u203aa\u2039U+001B\u203a[2J" in lines
    assert "  | rm x\u00b7" in lines


def test_a_long_subject_is_printed_in_full_and_each_of_its_rows_is_marked_as_quoted() -> None:
    body = "\n".join(f"line {number}" for number in range(500)) + "\n" + "x" * 1000 + "  once      Allow once"
    lines = approval_lines(request(Preview("x", body)), "1 of 1", PLAIN, 60)
    quoted = [line for line in lines if line.startswith(("  | ", "  \\ "))]
    assert "".join(line[4:] for line in quoted if "line" not in line) == "x" * 1000 + "  once      Allow once"
    assert sum("line" in line for line in quoted) == 500
    assert all(cell_width(line) <= 60 for line in quoted)
    assert sum(line.startswith("  once") for line in lines) == 1


def test_a_diff_stands_for_the_body_until_everything_is_asked_for() -> None:
    preview = Preview("a.py", body="the arguments", diff="--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+y\n")
    short = approval_lines(request(preview, path="a.py"), "1 of 1", PLAIN, 100)
    assert "  |      1 - x" in short
    assert "  | the arguments" not in short
    whole = approval_lines(request(preview, path="a.py"), "1 of 1", PLAIN, 100, everything=True)
    assert "  | the arguments" in whole
    assert '  |   "path": "a.py"' in whole


def test_a_call_without_a_preview_shows_its_arguments_as_json() -> None:
    lines = approval_lines(request(Preview("x"), ids=[1, 2]), "1 of 1", PLAIN, 100)
    assert '  |   "ids": [' in lines


def test_a_line_break_in_a_rule_cannot_add_a_choice() -> None:
    choice = ApprovalChoice("session", "Allow it\n  once      safe", "Bash(x\n  deny)", "session")
    asked = request(Preview("x", "x"))
    lines = approval_lines(
        ApprovalRequested("a", asked.call, asked.preview, "why", (choice,)), "1 of 1", PLAIN, 100
    )
    assert sum(line.startswith("  once") for line in lines) == 0
    assert any("\u2039U+000A\u203a" in line for line in lines)


def test_p_13_each_command_of_a_line_is_marked_with_what_decides_about_it() -> None:
    parts = (
        ApprovalPart("git status", True, "reads in the workspace"),
        ApprovalPart("npm i \u202ex", False, "no rule allows mcode to run `npm i`"),
    )
    asked = replace(request(Preview("git status", "git status && npm i x")), parts=parts)
    shown = "\n".join(approval_lines(asked, "1 of 1", PLAIN, 200))
    assert "of it     allowed: git status   (reads in the workspace)" in shown
    assert "needs approval: npm i \u2039U+202E\u203ax   (no rule allows mcode to run `npm i`)" in shown


def test_p_13_a_sandbox_is_named_where_there_is_one() -> None:
    confined = replace(request(Preview("ls", "ls")), sandbox="Landlock: network off")
    assert "confined  Landlock: network off" in "\n".join(approval_lines(confined, "1 of 1", PLAIN, 200))
    assert "confined" not in "\n".join(approval_lines(request(Preview("ls", "ls")), "1 of 1", PLAIN, 200))
