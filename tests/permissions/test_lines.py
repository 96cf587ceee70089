"""The listed lines: hostile ones never run unasked, everyday ones do."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from mcode.permissions.modes import Mode
from mcode.permissions.verdict import Behavior
from tools.guard_cases import Scratch, cases

if TYPE_CHECKING:
    from tools.guard_cases import Case

EVERYDAY_RULES = ("Bash(ls *)", "Bash(cat *)", "Bash(echo *)", "Bash(cd *)", "Bash(grep *)")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("lines"))


def test_the_lists_are_whole() -> None:
    assert (len(cases("hostile")), len(cases("everyday"))) == (131, 40)


@pytest.mark.parametrize("rules", [(), EVERYDAY_RULES], ids=["no rules", "rules"])
@pytest.mark.parametrize("case", cases("hostile"), ids=lambda case: case.id)
def test_p_10_a_hostile_line_never_runs_unasked(scratch: Scratch, case: Case, rules: tuple[str, ...]) -> None:
    with scratch.after(case.setup):
        verdict = scratch.judge(case.line, scratch.policy(rules))
        assert verdict.behavior is Behavior.ASK, verdict.reason
        assert verdict.reason
        assert scratch.judge(case.line, scratch.policy(rules, Mode.DONT_ASK)).behavior is Behavior.DENY
        assert scratch.judge(case.line, scratch.policy(rules, Mode.PLAN)).behavior is Behavior.DENY


EDITS = frozenset(("SH001", "SH002", "SH004", "SH029", "SH043", "SH109", "SH111", "SH112"))
"""Hostile by their marker alone: what they do is `touch` on a path of the workspace, which acceptEdits runs."""


@pytest.mark.parametrize("case", cases("hostile"), ids=lambda case: case.id)
def test_accept_edits_runs_of_the_hostile_lines_only_plain_edits(scratch: Scratch, case: Case) -> None:
    with scratch.after(case.setup):
        allowed = scratch.judge(case.line, scratch.policy(mode=Mode.ACCEPT_EDITS)).behavior is Behavior.ALLOW
        assert allowed == (case.id in EDITS)


@pytest.mark.parametrize("case", cases("everyday"), ids=lambda case: case.id)
def test_p_11_an_everyday_line_runs_unasked_and_means_the_same(scratch: Scratch, case: Case) -> None:
    verdict = scratch.judge(case.line, scratch.policy(case.rules))
    assert verdict.behavior is Behavior.ALLOW, verdict.reason
    assert verdict.run_as is not None or f"Bash({case.line})" in case.rules
    if verdict.run_as is not None and not case.rules and "git " not in case.line:
        assert _output(scratch, verdict.run_as) == _output(scratch, case.line)


def _output(scratch: Scratch, line: str) -> tuple[int, str]:
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", line],
        cwd=scratch.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout
