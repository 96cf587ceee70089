"""Where the arguments go, and what of a file is a command."""

from __future__ import annotations

from mcode.agent.placeholders import Given, Text, filled, parts_of


def made(body: str, arguments: str, *names: str, dialect: str = "claude") -> str:
    given = Given(arguments, names, {"SKILL_DIR": "/s"})
    parts = filled(list(parts_of(body, dialect)), given, dialect)
    return "".join(part.text if isinstance(part, Text) else f"<{part.command}>" for part in parts)


def test_the_vectors_of_arguments() -> None:
    body = r"$ARGUMENTS|$0|$1|$2|$ARGUMENTS[1]|\$1"
    assert made(body, '"a b" c') == '"a b" c|a b|c|$2|c|$1'
    assert made("no placeholder", '"a b" c') == 'no placeholder\n\nARGUMENTS: "a b" c'
    assert made("no placeholder", "") == "no placeholder"


def test_a_file_with_dollar_one_and_no_dollar_zero_counts_from_one() -> None:
    assert made("fix $1 in $2", "bug main.py") == "fix bug in main.py"
    assert made("$1 of $0", "area 5") == "5 of area"
    assert made("$1", "x", dialect="codex") == "x"


def test_names_and_facts_have_their_values_and_a_missing_name_is_empty() -> None:
    assert (
        made("${CLAUDE_SKILL_DIR}/x ${MCODE_SKILL_DIR} $who.$what $else", "me", "who", "what")
        == "/s/x /s me. $else"
    )


def test_an_argument_can_bring_in_no_command_and_no_placeholder() -> None:
    assert made("say $ARGUMENTS", "!`rm x` $1") == "say !`rm x` $1"


def test_commands_stand_behind_white_space_or_in_a_fence() -> None:
    assert made("now: !`git log -5` x!`no`", "") == "now: <git log -5> x!`no`"
    assert made("```!\nls\npwd\n```\nend", "") == "<ls\npwd>\nend"


def test_the_form_of_gemini() -> None:
    assert made("say {{args}} !{git log {a}} @{x y}", "hi", dialect="gemini") == 'say hi <git log {a}> @"x y"'
