"""Reading rules: their grammar, their names, and what becomes of a rule that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.config.settings import Problem
from mcode.permissions.rules import Rule, parse_rule, read_rule, split_rule_list
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from tests.permissions.conftest import House


def rule_of(house: House, text: str) -> Rule:
    rule = parse_rule(house.rule(text))
    assert isinstance(rule, Rule), rule
    return rule


@pytest.mark.parametrize(
    ("text", "tool", "specifier"),
    [
        ("allow Bash", "Bash", None),
        ("allow Bash(npm test *)", "Bash", "npm test *"),
        ("allow Bash(echo (a) b)", "Bash", "echo (a) b"),
        ("deny mcp__gh__*", "mcp__gh__*", None),
        ("deny *", "*", None),
        ("allow  Read(~/notes/*) ", "Read", "~/notes/*"),
        ("allow bash(ls)", "Bash", "ls"),
        ("allow read", "Read", None),
        ("allow edit(a.py)", "Edit", "a.py"),
        ("deny Task(writer)", "Agent", "writer"),
        ("deny ToolSearch", "tool_search", None),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_specifier(
    house: House, text: str, tool: str, specifier: str | None
) -> None:
    rule = rule_of(house, text)
    assert (rule.tool, rule.specifier) == (tool, specifier)


def test_a_rule_knows_where_it_stands(house: House) -> None:
    rule = rule_of(house, "deny Bash(curl *)")
    assert rule.place == f"{house.start}/settings.json, line 3"
    assert rule.cited == f"`Bash(curl *)` ({house.start}/settings.json, line 3)"


MALFORMED = {
    "Bash(rm": "the parenthesis is not closed",
    "Bash(rm) x": "text follows the last `)`",
    "Bash()": "there is nothing between the parentheses",
    "Bash (rm x)": "a blank stands between `Bash` and `(`",
    "Read(/a[b)": "a `[` in the pattern is never closed",
    "Read(!x)": "a pattern cannot be negated",
    "Read(../x)": "a pattern cannot contain `.` or `..`",
    "Read(a\\)": "the pattern ends with a single backslash",
    "Read(~bob/x)": "other users' homes are not expanded",
    "WebFetch(example.com)": "WebFetch(domain:example.com)",
    "TodoWrite(x)": "TodoWrite takes no specifier",
    "Bsh(x)": "no tool is called `Bsh`; do you mean Bash?",
}


@pytest.mark.parametrize(("text", "fault"), MALFORMED.items())
def test_a_malformed_allow_rule_is_named_and_not_in_force(house: House, text: str, fault: str) -> None:
    rule, problems = read_rule(house.rule(f"allow {text}"))
    assert rule is None
    (problem,) = problems
    assert fault in problem.text
    assert f"`{text}`" in problem.text
    assert "not in force" in problem.text
    assert problem.message.startswith(f"{house.start}/settings.json, line 3: permissions.allow: ")


@pytest.mark.parametrize("behavior", ["deny", "ask"])
@pytest.mark.parametrize(("text", "fault"), MALFORMED.items())
def test_a_malformed_deny_or_ask_rule_counts_for_the_whole_tool_and_says_so(
    house: House, text: str, fault: str, behavior: str
) -> None:
    rule, (problem,) = read_rule(house.rule(f"{behavior} {text}"))
    assert rule is not None
    assert rule.malformed
    assert fault in problem.text
    assert "not in force as written: until it is mended, every call of" in problem.text
    assert problem.severity == "error"


def test_a_malformed_deny_rule_denies_and_says_why_but_does_not_hide_the_tool(house: House) -> None:
    verdict = house.decide(("deny Bash(rm",), "Bash(ls)")
    assert verdict.behavior is Behavior.DENY
    assert "malformed" in verdict.reason
    assert house.policy("deny Bash(rm").hides("Bash") is None


def test_a_command_without_its_parentheses_is_taken_for_a_command_in_deny(house: House) -> None:
    policy = house.policy("deny rm -rf *")
    assert "it is taken for Bash(rm -rf *)" in policy.problems[0].text
    assert policy.decide(*house.call("Bash(rm -rf x)")).behavior is Behavior.DENY
    assert policy.decide(*house.call("Bash(rmdir x)")).behavior is Behavior.ASK


def test_a_rule_without_a_tool_is_an_error_even_in_deny(house: House) -> None:
    for text in ("", "(x)", "§"):
        problem = parse_rule(house.rule(f"deny {text}"))
        assert isinstance(problem, Problem)
        assert problem.severity == "error"


def test_an_argument_may_be_tested_in_deny_and_ask_only(house: House) -> None:
    bash, tool, access = house.call('Bash {"command": "sleep 9", "run_in_background": true}')
    assert house.policy("ask Bash(run_in_background:true)").decide(bash, tool, access).kind == "rule"
    assert (
        house.policy("deny Bash(run_in_background:t*)").decide(bash, tool, access).behavior is Behavior.DENY
    )
    assert house.policy("deny Bash(run_in_background:false)").decide(bash, tool, access).kind == "default"
    assert house.outcome(("deny Bash(run_in_background:*)",), "Bash(sleep 9)") == "ask"
    problem = parse_rule(house.rule("allow Bash(run_in_background:true)"))
    assert isinstance(problem, Problem)
    assert "can only deny or ask" in problem.text


def test_numbers_of_arguments_are_compared_as_they_are_written(house: House) -> None:
    call = house.call('mcp__gh__get_issue {"number": 12, "draft": null}')
    assert house.policy("deny mcp__gh__get_issue(number:12)").decide(*call).behavior is Behavior.DENY
    assert house.policy("deny mcp__gh__*(number:1*)").decide(*call).behavior is Behavior.DENY
    assert house.policy("deny mcp__gh__get_issue(number:1)").decide(*call).behavior is Behavior.ASK
    assert house.policy("deny mcp__gh__get_issue(absent:*)").decide(*call).behavior is Behavior.ASK


@pytest.mark.parametrize(
    "text", ["Bash(command:rm *)", "Read(file_path:x)", "WebFetch(url:https://x)", "Grep(path:src)"]
)
def test_what_a_call_is_about_cannot_be_tested_as_an_argument(house: House, text: str) -> None:
    problem = parse_rule(house.rule(f"deny {text}"))
    assert isinstance(problem, Problem)
    assert "no effect" in problem.text
    assert problem.severity == "error"


def test_a_colon_in_a_command_is_no_argument(house: House) -> None:
    assert house.outcome(("allow Bash(npm run test:unit)",), "Bash(npm run test:unit)") == "allow"
    assert house.outcome(("deny Bash(npm run test:*)",), "Bash(npm run test --x)") == "deny"
    assert house.outcome(("deny Bash(timeout:*)",), "Bash(timeout 5 ls)") == "deny"


def test_names_of_agents_and_skills(house: House) -> None:
    agent = 'Agent {"subagent_type": "writer", "model": "opus"}'
    assert house.outcome(("allow Agent(writer)",), agent) == "allow"
    assert house.outcome(("allow Agent(write)",), agent) == "ask"
    assert house.outcome(("deny Agent(writer)", "allow Agent"), agent) == "deny"
    assert house.outcome(("deny Agent(model:opus)", "allow Agent"), agent) == "deny"
    assert house.outcome(("deny Agent(model:haiku)", "allow Agent"), agent) == "allow"
    assert house.outcome(("allow Skill(review:*)",), 'Skill {"skill": "review"}') == "allow"
    assert house.outcome(("deny Skill(re*)",), 'Skill {"skill": "review"}') == "deny"


@pytest.mark.parametrize(
    ("pattern", "host", "covered"),
    [
        ("example.com", "EXAMPLE.com", True),
        ("Example.COM", "example.com", True),
        ("example.com", "example.com.", True),
        ("example.com", "example.com:8443", True),
        ("example.com", "notexample.com", False),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "example.com.evil.org", False),
        ("api-*.example.com", "api-1.example.com", True),
        ("api-*.example.com", "api-1.x.example.com", False),
        ("example.*", "example.org", True),
        ("example.*", "example.co.uk", False),
        ("bücher.example", "xn--bcher-kva.example", True),
    ],
)
def test_domains(house: House, pattern: str, host: str, covered: bool) -> None:
    call = f"WebFetch(https://{host}/x)"
    assert house.outcome((f"allow WebFetch(domain:{pattern})",), call) == ("allow" if covered else "ask")
    assert house.outcome((f"deny WebFetch(domain:{pattern})",), call) == ("deny" if covered else "ask")


def test_a_star_for_all_domains_denies_all_and_allows_one_label(house: House) -> None:
    assert house.outcome(("deny WebFetch(domain:*)",), "WebFetch(https://a.example.com/)") == "deny"
    assert house.outcome(("allow WebFetch(domain:*)",), "WebFetch(https://a.example.com/)") == "ask"


def test_a_bare_server_means_all_its_tools_and_no_other_server(house: House) -> None:
    assert house.outcome(("allow mcp__gh",), "mcp__gh__get_issue {}") == "allow"
    assert house.outcome(("allow mcp__g",), "mcp__gh__get_issue {}") == "ask"
    # The server of this tool is called `gh__x`; a rule for `gh` must not reach it.
    assert house.outcome(("allow mcp__gh",), "mcp__gh__x__y {}") == "ask"
    assert house.outcome(("deny mcp__gh",), "mcp__gh__x__y {}") == "deny"


def test_globs_over_names_deny_anywhere(house: House) -> None:
    assert house.policy("deny mcp__*__close_*").hides("mcp__gh__close_issue") is not None
    assert house.policy("deny mcp__*__close_*").hides("mcp__gh__get_issue") is None
    assert house.outcome(("ask *",), "TodoWrite {}") == "ask"
    assert house.outcome(("allow mcp__g*__get_issue",), "mcp__gh__get_issue {}") == "ask"


def test_a_bare_deny_hides_the_tool_and_one_with_a_specifier_does_not(house: House) -> None:
    for text in ("deny Bash", "deny Bash(*)", "deny bash"):
        assert house.policy(text).hides("Bash") is not None
    for text in ("deny Bash(rm *)", "ask Bash", "allow Bash"):
        assert house.policy(text).hides("Bash") is None
    assert house.policy("deny Edit").hides("Write") is not None
    assert house.policy("deny Read(*)").hides("Grep") is not None


def test_deny_and_ask_rules_for_unknown_tools_are_named(house: House) -> None:
    (problem,) = house.policy("deny Wriet").problems
    assert problem.text.endswith("no tool is called `Wriet`; do you mean Write?")
    assert house.policy("allow Wriet", "deny some_tool*", "deny mcp__a__b").problems == ()


def test_names_of_other_agents_get_a_hint(house: House) -> None:
    (problem,) = house.policy("allow mcp_github_get_issue").problems
    assert "mcp__github__get_issue" in problem.text
    (problem,) = house.policy("deny github_get_issue").problems
    assert "mcp__server__tool" in problem.text


def test_a_deny_rule_about_write_protects_though_a_warning_says_how_to_write_it(house: House) -> None:
    policy = house.policy("deny Write(src/**)")
    assert "counts as Edit(src/**)" in policy.problems[0].text
    assert policy.decide(*house.call("Edit /w/src/a")).behavior is Behavior.DENY


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Read Edit", ("Read", "Edit")),
        ("Read,Edit, Bash", ("Read", "Edit", "Bash")),
        ("Bash(git log *) Read", ("Bash(git log *)", "Read")),
        ("Bash(git log *),Bash(ls -a, -b)", ("Bash(git log *)", "Bash(ls -a, -b)")),
        ('"Bash(git log *)" "Read"', ("Bash(git log *)", "Read")),
        ("'Bash(a b)',Edit", ("Bash(a b)", "Edit")),
        ("Bash(echo don't),Bash(say it's)", ("Bash(echo don't)", "Bash(say it's)")),
        ("Bash(echo (a, b))", ("Bash(echo (a, b))",)),
        ('Bash(git commit -m "a, b")', ('Bash(git commit -m "a, b")',)),
        ("Bash (git log *)", ("Bash (git log *)",)),
        ("Bash(unclosed, Read", ("Bash(unclosed, Read",)),
        (" , ,", ()),
        ("", ()),
    ],
)
def test_a_list_is_split_at_commas_and_blanks_that_nothing_protects(
    text: str, rules: tuple[str, ...]
) -> None:
    assert split_rule_list(text) == rules


def test_a_blank_before_the_parenthesis_never_allows_the_whole_tool(house: House) -> None:
    (text,) = split_rule_list("mcp__gh (x)")
    assert isinstance(parse_rule(house.rule(f"allow {text}")), Problem)


def test_allow_rules_of_a_source_that_may_not_grant_are_not_in_force(house: House) -> None:
    from dataclasses import replace

    text = house.rule("allow Edit(src/**)")
    untrusted = replace(text, source=replace(text.source, trusted=False))
    assert house.policy(untrusted).rules == ()
    denied = replace(house.rule("deny Edit(src/**)"), source=untrusted.source)
    assert len(house.policy(denied).rules) == 1
