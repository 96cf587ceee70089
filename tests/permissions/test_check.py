"""`mcode permissions check`, and the same words in `/permissions explain`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mcode.permissions.check import as_text, shell_call
from mcode.permissions.modes import Mode
from tests.e2e.binary import PATIENCE, Ran
from tests.e2e.nursery import Order, nursery

if TYPE_CHECKING:
    from pathlib import Path

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
