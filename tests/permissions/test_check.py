"""`mcode permissions check`, and the same words in `/permissions explain`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from mcode.permissions.check import as_text, judged_line, shell_call
from mcode.permissions.modes import Mode
from mcode.subcommands.permissions import main
from tests.e2e.binary import PATIENCE, Ran
from tests.e2e.nursery import Order, nursery

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.permissions.decide import Policy
    from tests.permissions.conftest import House


def check(directory: Path, *arguments: str, given: str = "") -> Ran:
    """Run the subcommand in a folder with a home of its own."""
    environment = {"HOME": str(directory / "h"), "PATH": "/usr/bin:/bin"}
    order = Order(["permissions", "check", *arguments], directory / "w", environment)
    return Ran(*nursery().run(order, given.encode(), PATIENCE))


def test_a_line_is_judged_part_by_part_and_nothing_runs(house: House) -> None:
    (house.home / ".mcode").mkdir(exist_ok=True)
    rules = {"permissions": {"allow": ["Bash(npm *)"], "deny": ["Bash(curl *)"]}}
    (house.home / ".mcode/settings.json").write_text(json.dumps(rules))
    ran = check(house.root, "--json", "--", "ls && npm test; touch PWN")
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    assert (found["decision"], found["runs_as"]) == ("ask", None)
    assert [part["allowed"] for part in found["parts"]] == [True, True, False]
    assert found["parts"][1]["rule"] == "Bash(npm *)"
    assert found["could_be_remembered"][0] == ["Bash(touch PWN)"]
    assert not (house.start / "PWN").exists()
    ran = check(house.root, "--stdin", "--json", given="ls\ncurl x\n\necho $(date)\n")
    decisions = [json.loads(line)["decision"] for line in ran.out.splitlines()]
    assert decisions == ["allow", "deny", "ask"]
    ran = check(house.root, "--mode", "plan", "--", "touch", "a b")
    assert ran.out.startswith("is denied: touch 'a b'")
    assert "present your plan" in ran.out


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("rm -rf /", "it removes /, a critical path"),
        ("rm -r ~", "it removes ~, a critical path"),
        ("rmdir ..", "it removes .., a critical path"),
        ('rm -rf "$X"/*', "it removes $X/*, which may turn out to be a critical path"),
        ("ls | xargs rm -r", "it removes whatever xargs is given, which may turn out to be a critical path"),
    ],
)
def test_the_reason_says_plainly_what_would_be_removed(house: House, line: str, why: str) -> None:
    verdict = house.policy("allow Bash(rm *)", mode=Mode.ACCEPT_EDITS).decide(*shell_call(line))
    assert as_text(line, verdict).split("\n")[:2] == [
        f"asks first: {line}",
        f"  why: {why}; that is asked about in every mode, and no rule lifts it",
    ]


def parts(policy: Policy, line: str) -> list[tuple[str, str, str]]:
    """Each part of a line as the check shows it: its mark, the command, the reason."""
    found = [re.fullmatch(r"  (ok|no|ask) +(.*?)  \((.*)\)", shown) for shown in _shown(policy, line)]
    return [(each[1], each[2], each[3]) for each in found if each is not None]


def _shown(policy: Policy, line: str) -> list[str]:
    return as_text(line, judged_line(policy, line)).split("\n")[2:]


def test_a_line_with_a_critical_removal_shows_its_parts(house: House) -> None:
    critical = "it removes {}, a critical path; that is asked about in every mode, and no rule lifts it"
    policy = house.policy("allow Bash(rm *)")
    first, second, third = parts(policy, "git status && rm -rf / | tee x")
    assert (first[1], second) == ("git status", ("ask", "rm -rf /", critical.format("/")))
    assert third == ("ask", "tee x", "no rule allows mcode to run `tee x`, and mode default asks")
    assert parts(policy, "rm -rf ~ && ls") == [
        ("ask", "rm -rf ~", critical.format("~")),
        ("ok", "ls", "reads in the workspace"),
    ]


def test_a_line_that_a_rule_denies_or_a_mode_decides_shows_its_parts(house: House) -> None:
    denied = parts(house.policy("deny Bash(curl *)"), "curl x; ls")
    assert [mark for mark, _, _ in denied] == ["no", "ok"]
    assert "denied by the rule `Bash(curl *)`" in denied[0][2]
    plan = parts(house.policy("allow Bash(npm *)", mode=Mode.PLAN), "ls && npm ci")
    assert [mark for mark, _, _ in plan] == ["ok", "no"]
    bypass = parts(house.policy(mode=Mode.BYPASS), "ls && npm ci")
    assert [mark for mark, _, _ in bypass] == ["ok", "ok"]


def test_a_line_that_cannot_be_read_has_no_parts(house: House) -> None:
    assert judged_line(house.policy(), "for").parts == ()


def test_a_part_that_is_only_roughly_read_is_never_shown_as_allowed_unasked(house: House) -> None:
    policy = house.policy()
    assert [mark for mark, _, _ in parts(policy, "rm -rf ~ && cd ~ && ls")] == ["ask", "ask", "ask"]
    assert [mark for mark, _, _ in parts(policy, "rm -rf ~; ls > x; echo 'a b'")] == ["ask", "ask", "ask"]
    assert [mark for mark, _, _ in parts(policy, "rm -rf ~; PATH=/x ls; ls")] == ["ask", "ask", "ok"]


@pytest.fixture
def untrusted(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """A folder whose own file allows something, and that nobody has trusted."""
    (house.start / ".mcode").mkdir()
    rules = {"permissions": {"allow": ["Bash(make deploy)"]}}
    (house.start / ".mcode/settings.json").write_text(json.dumps(rules))
    monkeypatch.chdir(house.start)
    monkeypatch.setenv("HOME", str(house.home))
    monkeypatch.delenv("MCODE_CONFIG_DIR", raising=False)
    return house


def test_a_rule_of_an_untrusted_project_that_would_allow_a_part_is_named_as_waiting(
    untrusted: House, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--", "make deploy"]) == 0
    told = capfd.readouterr().out
    assert told.startswith("asks first: make deploy")
    assert "waits for your trust in this folder: the rule `Bash(make deploy)` (" in told
    assert "/trust in a session shows what waits" in told
    assert main(["check", "--json", "--", "touch x && make deploy"]) == 0
    found = json.loads(capfd.readouterr().out)
    place = f"{untrusted.start}/.mcode/settings.json, line 1"
    assert found["decision"] == "ask"
    assert found["waits_for_trust"] == [{"rule": "Bash(make deploy)", "rule_from": place}]
    assert main(["check", "--", "touch x"]) == 0
    assert "trust" not in capfd.readouterr().out


def test_wrong_use_is_said_in_one_line(house: House) -> None:
    for arguments in ((), ("--stdin", "--", "ls"), ("--mode", "wild", "--", "ls"), ("--what",)):
        ran = check(house.root, *arguments)
        assert ran.code == 2
        assert "Nothing was judged" in ran.err
        assert ran.out == ""


def test_an_explanation_shows_each_part_and_the_line_that_would_run(house: House) -> None:
    text = house.policy("allow Bash(npm *)").explain(*house.call("Bash(ls  && npm ci)"))
    assert "ok   ls  (reads in the workspace)" in text
    assert "ok   npm ci  (allowed by the rule `Bash(npm *)`" in text
    assert "would run as: ls && npm ci" in text
