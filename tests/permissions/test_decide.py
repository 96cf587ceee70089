"""The order of a decision: hooks, deny, ask, allow, grants, mode; and what each mode does."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcode.call import Call, Origin
from mcode.config.settings import Settings
from mcode.errors import UsageError
from mcode.permissions import book
from mcode.permissions.modes import Mode, bypass_refusal, in_sandbox, next_mode, parse_mode, resumed_mode
from mcode.permissions.shell import tree
from mcode.permissions.verdict import Behavior
from tests.permissions.conftest import STRENGTH, TOOLS, House

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.decide import Policy

READ, EDIT, WRITE = "Read /w/src/a.py", "Edit /w/src/a.py", "Write /w/src/new.py"
OUTSIDE, SECRET, RUN = "Edit /h/other/a", "Read /w/.env", "Bash(make test)"
FETCH, MCP = "WebFetch(https://example.com/)", "mcp__gh__get_issue {}"

TABLE = {
    Mode.DEFAULT: {
        READ: "allow",
        EDIT: "ask",
        WRITE: "ask",
        OUTSIDE: "ask",
        SECRET: "ask",
        RUN: "ask",
        FETCH: "ask",
        MCP: "ask",
    },
    Mode.ACCEPT_EDITS: {
        READ: "allow",
        EDIT: "allow",
        WRITE: "allow",
        OUTSIDE: "ask",
        SECRET: "ask",
        RUN: "ask",
        FETCH: "ask",
        MCP: "ask",
    },
    Mode.PLAN: {
        READ: "allow",
        EDIT: "deny",
        WRITE: "deny",
        OUTSIDE: "deny",
        SECRET: "ask",
        RUN: "deny",
        FETCH: "ask",
        MCP: "ask",
    },
    Mode.DONT_ASK: {
        READ: "allow",
        EDIT: "deny",
        WRITE: "deny",
        OUTSIDE: "deny",
        SECRET: "deny",
        RUN: "deny",
        FETCH: "deny",
        MCP: "deny",
    },
    Mode.BYPASS: {
        READ: "allow",
        EDIT: "allow",
        WRITE: "allow",
        OUTSIDE: "allow",
        SECRET: "allow",
        RUN: "allow",
        FETCH: "allow",
        MCP: "allow",
    },
}


@pytest.mark.parametrize("mode", list(Mode))
def test_each_mode_without_rules(house: House, mode: Mode) -> None:
    assert {call: house.outcome((), call, mode=mode) for call in TABLE[mode]} == TABLE[mode]


@pytest.mark.parametrize("mode", list(Mode))
def test_tools_that_only_touch_the_session_always_run_unless_a_rule_says_otherwise(
    house: House, mode: Mode
) -> None:
    for call in ("TodoWrite {}", "AskUserQuestion {}"):
        assert house.outcome((), call, mode=mode) == "allow"
    assert house.outcome(("deny TodoWrite",), "TodoWrite {}", mode=mode) == "deny"
    assert house.outcome(("ask TodoWrite",), "TodoWrite {}", mode=mode) == (
        "deny" if mode is Mode.DONT_ASK else "ask"
    )


def test_plan_mode_sends_the_model_to_its_plan_and_no_rule_or_hook_lifts_it(house: House) -> None:
    verdict = house.decide(("allow Edit(**)",), EDIT, mode=Mode.PLAN, hook=Behavior.ALLOW)
    assert (verdict.behavior, verdict.kind) == (Behavior.DENY, "mode")
    assert "present your plan" in verdict.reason
    assert house.outcome(("allow Bash(make)",), "Bash(make)", mode=Mode.PLAN) == "deny"


def test_plan_mode_runs_commands_that_only_read_and_names_the_one_that_does_more(house: House) -> None:
    for line in ("ls", "grep -rn x src | head -5", "cd src && cat a.py; git log -n 3"):
        assert house.outcome((), f"Bash({line})", mode=Mode.PLAN) == "allow", line
        assert house.outcome(("ask Bash(*)",), f"Bash({line})", mode=Mode.PLAN) == "ask"
        assert house.outcome(("deny Bash(*)",), f"Bash({line})", mode=Mode.PLAN) == "deny"
    for line in ("ls && touch x", "ls > x", "echo $(date)", "cat /etc/hostname", "npm test"):
        assert house.outcome(("allow Bash",), f"Bash({line})", mode=Mode.PLAN) == "deny", line
    reason = house.decide((), "Bash(ls && touch x)", mode=Mode.PLAN).reason
    assert "`touch x` is not in the list of reading commands" in reason
    assert "present your plan" in reason


def test_no_rule_and_no_hook_lets_a_tool_of_a_server_run_in_mode_plan(house: House) -> None:
    for rules in ((), ("allow mcp__gh",), ("allow mcp__gh__get_issue", "allow mcp__gh__get_*")):
        verdict = house.decide(rules, "mcp__gh__get_issue {}", mode=Mode.PLAN, hook=Behavior.ALLOW)
        assert (verdict.behavior, verdict.kind) == (Behavior.ASK, "mode")
        assert "mcp__gh__get_issue of the MCP server gh" in verdict.reason
    assert house.outcome(("deny mcp__gh",), "mcp__gh__get_issue {}", mode=Mode.PLAN) == "deny"
    nobody = Settings(deny_instead_of_prompting=True)
    policy = house.policy("allow mcp__gh", mode=Mode.PLAN, settings=nobody)
    assert policy.decide(*house.call("mcp__gh__get_issue {}")).behavior is Behavior.DENY


def test_only_the_answer_given_in_mode_plan_holds_for_a_tool_of_a_server_there(house: House) -> None:
    policy = house.policy(mode=Mode.PLAN)
    asked = policy.decide(*house.call("mcp__gh__get_issue {}"))
    (proposal,) = asked.proposals
    assert (proposal.rule, proposal.destination) == ("mcp__gh__get_issue", "session")
    policy.grant(proposal.rule)  # as it is given outside of the mode
    assert policy.decide(*house.call("mcp__gh__get_issue {}")).behavior is Behavior.ASK
    policy.grant(proposal.rule, in_plan=proposal.in_plan)
    assert policy.decide(*house.call("mcp__gh__get_issue {}")).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("mcp__gh__close_issue {}")).behavior is Behavior.ASK
    assert [rule.place for rule in policy.grants] == ["this session", "this session, mode plan too"]
    helper = house.policy(mode=Mode.PLAN).beside(house.workspace(), Mode.ACCEPT_EDITS)
    assert helper.decide(*house.call("mcp__gh__get_issue {}")).behavior is Behavior.ASK


ACCEPTED = (
    "mkdir -p src/new/dir",
    "touch a.txt",
    "rm a.txt",
    "rm -rf src",
    "rmdir a",
    "mv a.txt src/b.txt",
    "cp -r src copy",
    "touch a.txt; ls",
    "touch a.txt && touch b.txt",
    "touch 'a b'",
    "rm\ta.txt",
    "touch x\n",
    "cd src && touch x.py",
    "sed -i s/a/b/ a.txt",
    "sed -n '1,40p' a.txt",
    "sed -E -i -e 's|x/y|z|g' src/a.py a.txt",
    "sed -n '/^def /,/^$/p' src/a.py",
)
NOT_ACCEPTED = (
    "mkdir /h/x",
    "rm ../x",
    "rm -rf .",
    "rm *",
    "cp a.txt ~/x",
    "cp a.txt $X",
    "touch a.txt; make",
    "touch a.txt && touch ../b.txt",
    "touch *.txt",
    "cd src && touch ../../x.py",
    "cd .. && touch x.py",
    "NODE_ENV=x touch a",
    "sed -i.bak s/a/b/ a.txt",
    "sed -f s.sed a.txt",
    "sed 's/a/b/w PWN' a.txt",
    "sed 's/a/b/e' a.txt",
    "sed '1e touch PWN' a.txt",
    "sed 'w PWN' a.txt",
    "sed 'r /etc/passwd' a.txt",
    "sed -n '1{w PWN\n}' a.txt",
    "sed -e p -e 'w PWN' a.txt",
    "sed 's/[/]w PWN/x/' a.txt",
    "sed s/a/b/ ../a.txt",
    "sed s/a/b/ .env",
    "sed -i s/a/b/",
    "mv .git x",
    "mv x .mcp.json",
    "rm .env",
    "touch out/x",
    "touch nested/.git/x",
    "rm -rf nested",
    "cp -r nested elsewhere",
    "cp a.txt drop",
    "cp -r src copied",
    "cp -r src/x drop",
    "cp -rT a b",
    "mv -t a b",
    "cp src/. b",
    "cp -r src/ b",
    "mkdir -m 777 x",
    "rm",
    "rm -rf",
    "/bin/rm a.txt",
)


def judged(house: House, line: str, mode: Mode) -> Behavior:
    call = Call("c", "Bash", {"command": line})
    access = TOOLS["Bash"].access(call.arguments, house.workspace())
    return house.policy(mode=mode).decide(call, TOOLS["Bash"], access).behavior


@pytest.mark.parametrize("line", ACCEPTED)
def test_accept_edits_runs_plain_file_commands_inside_the_workspace(house: House, line: str) -> None:
    assert judged(house, line, Mode.ACCEPT_EDITS) is Behavior.ALLOW
    assert judged(house, line, Mode.DEFAULT) is Behavior.ASK


@pytest.mark.parametrize("line", NOT_ACCEPTED)
def test_accept_edits_asks_about_every_other_command(house: House, line: str) -> None:
    (house.start / "out").symlink_to(house.home / "other")
    (house.start / "nested/.git").mkdir(parents=True)
    (house.start / "drop").mkdir()
    (house.start / "drop/a.txt").symlink_to(house.home / "other/x")
    (house.start / "drop/x").mkdir()
    (house.start / "copied/src").mkdir(parents=True)
    assert judged(house, line, Mode.ACCEPT_EDITS) is Behavior.ASK


def test_accept_edits_keeps_to_the_rules_about_files(house: House) -> None:
    rules = ("deny Edit(/src/**)", "ask Edit(/docs/**)", "deny Read(*.key)", "deny Edit(/vendor/p/src)")
    for line, outcome in {
        "rm src/a": "deny",
        "touch src/a": "deny",
        "mv src/a b": "deny",
        "cp a src/b": "deny",
        "cp src/a b": "ask",
        "cp x.key b": "deny",
        "mv x.key b": "deny",
        "mkdir docs/new": "ask",
        "rm -r a": "allow",
        "rm -r vendor": "ask",
    }.items():
        assert house.outcome(rules, f"Bash({line})", mode=Mode.ACCEPT_EDITS) == outcome, line


def test_accept_edits_asks_about_a_directory_too_large_to_look_through(house: House) -> None:
    large = house.start / "large"
    large.mkdir()
    for number in range(1_001):
        (large / str(number)).touch()
    assert house.outcome((), "Bash(rm -r large)", mode=Mode.ACCEPT_EDITS) == "ask"
    (large / "0").unlink()
    assert house.outcome((), "Bash(rm -r large)", mode=Mode.ACCEPT_EDITS) == "allow"


def test_accept_edits_does_not_trust_a_program_that_lies_in_the_workspace(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = house.start / "bin/touch"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    assert house.outcome((), "Bash(touch a.txt)", mode=Mode.ACCEPT_EDITS) == "ask"


def test_deny_wins_over_ask_and_ask_over_allow_wherever_they_stand(house: House) -> None:
    allow, ask, deny = "allow Edit(src/**)", "ask Edit(src/*.py)", "deny Edit(src/a.py)"
    assert house.outcome((allow, ask, deny), EDIT) == "deny"
    assert house.outcome((allow, ask), EDIT) == "ask"
    assert house.outcome((allow,), EDIT) == "allow"
    assert [str(rule.behavior) for rule in house.policy(allow, ask, deny).rules] == ["deny", "ask", "allow"]


def test_an_ask_rule_asks_in_every_mode_and_nothing_is_offered_to_remember(house: House) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS):
        verdict = house.decide(("ask Edit",), EDIT, mode=mode, hook=Behavior.ALLOW)
        assert (verdict.behavior, verdict.kind, verdict.proposals) == (Behavior.ASK, "rule", ())


def test_every_reason_names_the_rule_and_its_place(house: House) -> None:
    place = f"{house.start}/settings.json, line 3"
    for rule, call in (("deny Edit(src/**)", EDIT), ("ask Edit(src/**)", EDIT), ("allow Edit(src/**)", EDIT)):
        verdict = house.decide((rule,), call)
        assert f"`Edit(src/**)` ({place})" in verdict.reason
        assert verdict.rule is not None
        assert verdict.rule.line == 3


def test_p_02_without_the_parser_only_rules_without_a_wildcard_let_commands_run_and_that_is_said(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_parser", lambda: "no module named tree_sitter")
    monkeypatch.setattr(book, "is_installed", lambda: False)
    policy = house.policy("allow Bash(npm *)", "allow Bash", "allow Bash(ls)")
    (problem,) = policy.problems
    assert problem.severity == "info"
    assert "Bash(npm *), Bash" in problem.text
    assert "not by `Bash(npm *)`" in policy.decide(*house.call("Bash(npm unseen)")).reason
    assert "not by `Bash`" in policy.decide(*house.call("Bash(make unseen)")).reason
    assert "parser of shell lines cannot be loaded" in policy.decide(*house.call("Bash(make unseen)")).reason
    policy.set_mode(Mode.PLAN)
    assert policy.decide(*house.call("Bash(ls unseen)")).behavior is Behavior.DENY
    policy.set_mode(Mode.DEFAULT)
    assert policy.decide(*house.call("Bash(ls)")).behavior is Behavior.ALLOW


def test_rules_of_the_command_line_say_so(house: House) -> None:
    verdict = house.policy(house.rule("allow Edit(src/**)", "cli")).decide(*house.call(EDIT))
    assert verdict.reason == "allowed by the rule `Edit(src/**)` (the command line)"


@pytest.mark.parametrize(
    ("hook", "rules", "call", "outcome"),
    [
        (Behavior.ALLOW, (), EDIT, "allow"),
        (Behavior.ALLOW, ("ask Edit",), EDIT, "ask"),
        (Behavior.ALLOW, ("deny Edit(src/**)",), EDIT, "deny"),
        (Behavior.ALLOW, (), "Edit /w/.git/config", "ask"),
        (Behavior.ALLOW, (), "Bash(rm -rf /)", "ask"),
        (Behavior.ASK, ("allow Edit(src/**)",), EDIT, "ask"),
        (Behavior.ASK, ("deny Edit(src/**)",), EDIT, "deny"),
        (Behavior.ASK, (), READ, "ask"),
        (Behavior.DENY, ("allow Edit(src/**)",), EDIT, "deny"),
        (Behavior.DENY, (), READ, "deny"),
        (None, ("allow Edit(src/**)",), EDIT, "allow"),
    ],
)
def test_p_16_a_hook_saves_the_question_and_lifts_nothing(
    house: House, hook: Behavior | None, rules: Sequence[str], call: str, outcome: str
) -> None:
    assert house.outcome(rules, call, hook=hook) == outcome


def test_a_hooks_question_is_put_in_bypass_mode_too(house: House) -> None:
    assert house.outcome((), EDIT, mode=Mode.BYPASS, hook=Behavior.ASK) == "ask"
    assert house.outcome((), EDIT, mode=Mode.DONT_ASK, hook=Behavior.ALLOW) == "allow"


def test_what_a_tool_itself_demands_is_asked_in_every_mode(house: House) -> None:
    call, tool, access = house.call(MCP)
    tool = copy(tool)
    tool.always_asks = "the server demands an answer"
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS):
        verdict = house.policy("allow mcp__gh", mode=mode).decide(call, tool, access, hook=Behavior.ALLOW)
        assert (verdict.behavior, verdict.reason) == (Behavior.ASK, "the server demands an answer")
        assert verdict.proposals == ()
    denied = house.policy("allow mcp__gh", mode=Mode.DONT_ASK).decide(call, tool, access)
    assert denied.behavior is Behavior.DENY
    assert denied.reason.startswith("the server demands an answer; mode dontAsk denies")


def test_what_the_user_typed_runs_unless_a_deny_rule_or_a_hook_forbids_it(house: House) -> None:
    verdict = house.typed(("ask Bash(git push *)",), "!git push", mode=Mode.PLAN)
    assert (verdict.behavior, verdict.reason, verdict.kind) == (Behavior.ALLOW, "you typed it", "user")
    assert house.typed(("deny Bash(git push *)",), "!git push").behavior is Behavior.DENY
    call = house.call("!ls", origin=Origin.USER)
    assert house.policy().decide(*call, hook=Behavior.DENY, hook_reason="no").reason == "no"


def test_deny_instead_of_prompting_denies_what_would_be_asked(house: House) -> None:
    policy = house.policy(settings=replace(Settings(), deny_instead_of_prompting=True))
    verdict = policy.decide(*house.call(RUN))
    assert verdict.behavior is Behavior.DENY
    assert "denyInsteadOfPrompting" in verdict.reason
    assert policy.decide(*house.call(READ)).behavior is Behavior.ALLOW


def test_a_grant_counts_until_it_is_taken_back(house: House) -> None:
    policy = house.policy("ask Edit(/docs/**)")
    policy.grant("Edit(/src/**)")
    verdict = policy.decide(*house.call(EDIT))
    assert (verdict.behavior, verdict.kind) == (Behavior.ALLOW, "grant")
    assert verdict.reason == "allowed by your answer: `Edit(/src/**)` (this session)"
    assert [rule.text for rule in policy.grants] == ["Edit(/src/**)"]
    policy.grant("Edit(/docs/**)")
    assert policy.decide(*house.call("Edit /w/docs/a")).behavior is Behavior.ASK
    assert policy.remove_rule("Edit(/src/**)", Behavior.ALLOW)
    assert policy.decide(*house.call(EDIT)).behavior is Behavior.ASK
    assert not policy.remove_rule("Edit(/src/**)", Behavior.ALLOW)


def test_a_grant_to_a_program_covers_its_calls_alone_until_it_ends(house: House) -> None:
    policy = house.policy()
    rule = policy.grant("Edit(/src/**)", program="prog")
    beside = policy.beside(house.workspace(), None)

    def outcome(parent: str | None, of: Policy = policy) -> str:
        return str(of.decide(*house.call(EDIT, parent=parent)).behavior)

    assert (outcome("prog"), outcome(None), outcome("other"), outcome("agent", beside)) == (
        "allow", "ask", "ask", "ask",
    )  # fmt: skip
    assert rule.place == "this program"
    assert policy.rules == (rule,)
    assert policy.grants == ()
    assert "rules that match: none" in policy.explain(*house.call(EDIT))
    policy.end_program("other")
    policy.grant("Edit(/src/**)", program="other")
    policy.end_program("other")
    assert (outcome("prog"), outcome("other")) == ("allow", "ask")
    policy.grant("Edit(/src/**)")
    policy.end_program("prog")
    assert (outcome("prog"), outcome(None)) == ("allow", "allow")  # the one of the session outlives it


def test_what_a_turn_allows_is_for_its_own_calls_and_what_it_denies_for_all_until_it_ends(
    house: House,
) -> None:
    policy = house.policy()
    rule = policy.add_rule("Edit(/src/**)", Behavior.ALLOW, turn=2)
    policy.add_rule("Read(/docs/**)", Behavior.DENY, turn=2)

    def outcomes(call: str) -> list[str]:
        return [str(policy.decide(*house.call(call, turn=turn)).behavior) for turn in (1, 2)]

    assert outcomes(EDIT) == ["ask", "allow"]
    assert outcomes("Read /w/docs/a") == ["deny", "deny"]
    assert (rule.place, policy.grants) == ("this turn", ())
    policy.grant("Edit(/src/**)")
    policy.end_turn()
    assert outcomes(EDIT) == ["allow", "allow"]  # what the user granted for the session stays
    assert outcomes("Read /w/docs/a") == ["allow", "allow"]


def test_a_secret_that_a_program_was_let_read_is_in_nobody_elses_search(house: House) -> None:
    policy = house.policy()
    policy.grant(f"Read(/{house.start}/.env)", program="prog")
    assert not policy.shows(house.start / ".env")


def test_a_grant_that_is_kept_in_a_file_names_the_file(house: House) -> None:
    policy = house.policy()
    rule = policy.grant("Bash(make test)", kept_in=house.start / ".mcode/settings.local.json")
    assert rule.place == f"{house.start}/.mcode/settings.local.json"
    assert policy.decide(*house.call(RUN)).behavior is Behavior.ALLOW


def test_a_grant_that_means_nothing_is_refused(house: House) -> None:
    for text in ("Bash(x", "*", "Write(src/**)"):
        with pytest.raises(ValueError, match="rule"):
            house.policy().grant(text)


def test_bypass_is_entered_only_where_it_was_enabled_at_the_start(house: House) -> None:
    house.can_bypass = False
    policy = house.policy(mode=Mode.BYPASS)
    assert policy.mode is Mode.DEFAULT
    assert "--dangerously-skip-permissions" in policy.problems[-1].text
    policy.set_mode(Mode.PLAN)
    with pytest.raises(UsageError, match="The mode stays plan"):
        policy.set_mode(Mode.BYPASS)
    house.can_bypass = True
    forbidden = house.policy(settings=replace(Settings(), disable_bypass=True))
    with pytest.raises(UsageError, match="disableBypassPermissionsMode"):
        forbidden.set_mode(Mode.BYPASS)


def test_bypass_is_refused_for_root_outside_a_sandbox() -> None:
    refusal = bypass_refusal(disabled=False, user_id=0, sandboxed=False)
    assert refusal is not None
    assert "IS_SANDBOX=1" in refusal
    assert bypass_refusal(disabled=False, user_id=0, sandboxed=True) is None
    assert bypass_refusal(disabled=False, user_id=1000, sandboxed=False) is None
    assert "disableBypassPermissionsMode" in (
        bypass_refusal(disabled=True, user_id=1000, sandboxed=True) or ""
    )
    assert in_sandbox({"IS_SANDBOX": "1"})
    assert not in_sandbox({"IS_SANDBOX": "0"})


def test_names_of_modes() -> None:
    assert parse_mode("manual") == (Mode.DEFAULT, None)
    assert parse_mode(" AcceptEdits ") == (Mode.ACCEPT_EDITS, None)
    mode, notice = parse_mode("auto")
    assert mode is Mode.DEFAULT
    assert notice is not None
    assert parse_mode("ask") == (Mode.DEFAULT, None)  # the word of the status line
    with pytest.raises(ValueError, match="acceptEdits"):
        parse_mode("yolo")
    with pytest.raises(ValueError, match="Did you mean plan"):
        parse_mode("pln")


def test_the_cycle_of_modes() -> None:
    def cycle(*, can_bypass: bool) -> list[Mode]:
        modes = [Mode.DEFAULT]
        while len(modes) < 5:
            modes.append(next_mode(modes[-1], can_bypass=can_bypass))
        return modes

    assert cycle(can_bypass=False)[1:4] == [Mode.ACCEPT_EDITS, Mode.PLAN, Mode.DEFAULT]
    assert cycle(can_bypass=True)[1:] == [Mode.ACCEPT_EDITS, Mode.PLAN, Mode.BYPASS, Mode.DEFAULT]
    assert next_mode(Mode.DONT_ASK, can_bypass=True) is Mode.DEFAULT
    assert [resumed_mode(mode) for mode in Mode] == [
        Mode.DEFAULT,
        Mode.ACCEPT_EDITS,
        Mode.DEFAULT,
        Mode.DONT_ASK,
        Mode.DEFAULT,
    ]


def test_a_hooks_condition_is_a_rule_and_counts_where_it_cannot_be_read(house: House) -> None:
    policy = house.policy()
    call = house.call("Bash(cd x && git push)")
    assert policy.matches(house.rule("ask Bash(git push *)"), *call)
    assert not policy.matches(house.rule("ask Bash(git pull *)"), *call)
    assert policy.matches(house.rule("ask Bash(git pull"), *call)
    assert policy.matches(house.rule("ask "), *call)
    assert not policy.matches(house.rule("ask Edit"), *call)


@pytest.mark.parametrize("line", ["echo $((", "if true; then", "echo 'unclosed", "x" * 10_001, "ls \u200b"])
def test_a_hooks_condition_counts_for_a_line_that_cannot_be_read(house: House, line: str) -> None:
    call = house.call(f"Bash({line})")
    assert house.policy().matches(house.rule("ask Bash(git push *)"), *call)
    assert not house.policy().matches(house.rule("ask Edit(src/**)"), *call)
    assert not house.policy().matches(house.rule("ask Bash(git push *)"), *house.call("Bash(echo $HOME)"))


RULES = st.sampled_from(
    [
        f"{behavior} {rule}"
        for behavior in ("allow", "ask", "deny")
        for rule in (
            "Bash",
            "Bash(rm *)",
            "Bash(ls)",
            "Bash(git push *)",
            "Bash(rm",
            "Edit",
            "Edit(src/**)",
            "Edit(**)",
            "Edit(/docs/**)",
            "Read",
            "Read(.env)",
            "Read(~/notes/*)",
            "Write(src/**)",
            "mcp__gh",
            "mcp__gh__get_*",
            "mcp__*",
            "*",
            "WebFetch(domain:*.com)",
            "Bash(run_in_background:true)",
            "",
            "(",
            "nonsense here",
            "TodoWrite",
        )
    ]
)
CALLS = st.sampled_from(
    [
        READ,
        EDIT,
        WRITE,
        OUTSIDE,
        SECRET,
        RUN,
        FETCH,
        MCP,
        "TodoWrite {}",
        "Bash(ls)",
        "Bash(rm x; ls)",
        "Bash(rm -rf /)",
        "Edit /w/.git/x",
        "Edit /w/docs/a",
        "Read /h/notes/a",
        f"Bash(echo {'x' * 10_001})",
        "Bash(cat .env)",
    ]
)
ORIGINS = st.sampled_from(list(Origin))
HOOKS = st.sampled_from([None, *Behavior])


@settings(
    max_examples=200,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(RULES, max_size=5), RULES, CALLS, st.sampled_from(list(Mode)), ORIGINS, HOOKS)
def test_p_10_adding_a_deny_rule_never_makes_a_verdict_weaker(
    house: House, rules: list[str], added: str, text: str, mode: Mode, origin: Origin, hook: Behavior | None
) -> None:
    call: tuple[Any, ...] = house.call(text, origin=origin)
    deny = f"deny {added.partition(' ')[2]}"
    before = house.policy(*rules, mode=mode).decide(*call, hook=hook)
    after = house.policy(*rules, deny, mode=mode).decide(*call, hook=hook)
    assert STRENGTH[after.behavior] >= STRENGTH[before.behavior], (before, after)
    ask = f"ask {added.partition(' ')[2]}"
    asked = house.policy(*rules, ask, mode=mode).decide(*call, hook=hook)
    assert STRENGTH[asked.behavior] >= STRENGTH[before.behavior], (before, asked)


@settings(
    max_examples=200,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(RULES, max_size=6), CALLS, st.sampled_from(list(Mode)), HOOKS)
def test_every_verdict_has_a_reason_and_the_same_question_gets_the_same_answer(
    house: House, rules: list[str], text: str, mode: Mode, hook: Behavior | None
) -> None:
    policy = house.policy(*rules, mode=mode)
    verdict = policy.decide(*house.call(text), hook=hook)
    assert verdict.reason
    assert policy.decide(*house.call(text), hook=hook) == verdict
    assert mode is not Mode.DONT_ASK or verdict.behavior is not Behavior.ASK


def test_reading_in_the_workspace_is_decided_quickly(house: House) -> None:
    """Thousands of calls come from one program; the limit is ten times what it takes on a slow machine."""
    import time

    rules = [f"deny Read(secret{number}/**)" for number in range(20)]
    rules += [f"allow Bash(command{number} *)" for number in range(20)]
    policy = house.policy(*rules)
    policy.prepare()
    call = house.call(READ)
    policy.decide(*call)
    began = time.process_time()
    for _ in range(200):
        policy.decide(*call)
    assert (time.process_time() - began) / 200 < 0.003
