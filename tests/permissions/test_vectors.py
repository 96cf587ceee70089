"""The forty test vectors of the rules that users bring from elsewhere, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from mcode.call import Call
from mcode.permissions.modes import Mode
from mcode.permissions.verdict import Behavior
from tests.permissions.conftest import TOOLS

if TYPE_CHECKING:
    from tests.permissions.conftest import House


@dataclass(frozen=True)
class Vector:
    number: str
    rules: tuple[str, ...]
    call: str
    outcome: str
    mode: Mode = Mode.DEFAULT
    hook: Behavior | None = None
    hook_reason: str = ""


TEST = ("allow Bash(npm test *)",)
ANY_MODE = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS)

VECTORS = (
    Vector("1", TEST, "Bash(npm test)", "allow"),
    Vector("2", TEST, "Bash(npm test -- --watch)", "allow"),
    Vector("3", TEST, "Bash(npm testify)", "ask"),
    Vector("4", ("allow Bash(ls*)",), "Bash(lsof -i)", "allow"),
    Vector("5", ("allow Bash(git diff:*)",), "Bash(git diff HEAD~1)", "allow"),
    Vector("6", ("allow Bash(npm run build)",), "Bash(npm run build --prod)", "ask"),
    Vector("6 exact", ("allow Bash(npm run build)",), "Bash(npm run build)", "allow"),
    Vector("7", TEST, "Bash(npm test && rm -rf out)", "ask"),
    Vector("8", (*TEST, "allow Bash(rm *)"), "Bash(npm test && rm -rf out)", "allow"),
    *(Vector(f"9a {mode}", ("allow Bash(rm *)",), "Bash(rm -rf /)", "ask", mode=mode) for mode in ANY_MODE),
    *(
        Vector(f"9b {mode}", ("allow Bash(rm *)",), 'Bash(rm -rf "$X"/*)', "ask", mode=mode)
        for mode in ANY_MODE
    ),
    Vector("10", ("deny Bash(rm *)",), "Bash(ls; FOO=1 rm x)", "deny"),
    Vector("11", TEST, "Bash(NODE_ENV=test npm test)", "allow"),
    Vector("12", TEST, "Bash(LD_PRELOAD=x npm test)", "ask"),
    Vector("13", TEST, "Bash(timeout 30 npm test)", "allow"),
    Vector("14", ("allow Bash(grep *)",), "Bash(xargs -n1 grep x)", "ask"),
    Vector("15", ("allow Bash(watch *)",), "Bash(watch ls)", "ask"),
    Vector("16", ("allow Bash(find *)",), "Bash(find . -name x -delete)", "ask"),
    Vector("17a", (), "Bash(git status)", "allow"),
    Vector("17b", (), "Bash(ls | wc -l)", "allow"),
    Vector("18", (), "Bash(ls > out.txt)", "ask"),
    Vector("19", (), "Bash(echo $(rm x))", "ask"),
    Vector("20", ("ask Bash(git push *)", "allow Bash(git *)"), "Bash(git push)", "ask"),
    Vector(
        "21",
        ("deny Bash(git push *)", "allow Bash(git push origin dev)"),
        "Bash(git push origin dev)",
        "deny",
    ),
    Vector("22", ("allow mcp__gh",), "mcp__gh__close_issue {}", "allow"),
    Vector("23a", ("allow mcp__gh__get_*",), "mcp__gh__get_issue {}", "allow"),
    Vector("23b", ("allow mcp__gh__get_*",), "mcp__gh__close_issue {}", "ask"),
    Vector("24", ("allow mcp__*",), "mcp__gh__get_issue {}", "ask"),
    Vector("25", ("deny mcp__*",), "mcp__gh__get_issue {}", "deny"),
    Vector("26a", ("deny Read(.env)",), "Read(/w/a/.env)", "deny"),
    Vector("26b", ("deny Read(.env)",), "Edit(/w/.env)", "deny"),
    Vector("26c", ("deny Read(.env)",), "Bash(cat .env)", "deny"),
    Vector("27a", ("allow Edit(src/**)",), "Edit(/w/src/a.ts)", "allow"),
    Vector("27b", ("allow Edit(src/**)",), "Edit(/w/vendor/p/src/b.js)", "ask"),
    Vector("28a", ("deny Edit(src/**)",), "Edit(/w/src/a.ts)", "deny"),
    Vector("28b", ("deny Edit(src/**)",), "Edit(/w/vendor/p/src/b.js)", "deny"),
    Vector("29a", ("allow Edit(/docs/**)",), "Edit(/w/docs/a.md)", "allow"),
    Vector("29b", ("allow Edit(/docs/**)",), "Edit(/docs/a.md)", "ask"),
    Vector("30a", ("allow Read(~/notes/*)",), "Read(/h/notes/a)", "allow"),
    Vector("30b", ("allow Read(~/notes/*)",), "Read(/h/other/a)", "ask"),
    Vector("31a", ("allow Edit(**)",), "Edit(/w/.git/config)", "ask"),
    Vector("31b", ("allow Edit(**)",), "Edit(/w/.mcp.json)", "ask"),
    Vector("32", ("allow Edit(src/**)",), "Edit(/w/src/l)", "ask"),
    Vector("33", ("allow Write(src/**)",), "Write(/w/src/a)", "ask"),
    Vector("34a", ("allow WebFetch(domain:*.example.com)",), "WebFetch(https://a.example.com/x)", "allow"),
    Vector("34b", ("allow WebFetch(domain:*.example.com)",), "WebFetch(https://example.com/x)", "ask"),
    Vector("35", (), "Bash(npm test)", "deny", mode=Mode.DONT_ASK),
    Vector("36", ("allow Edit(src/**)",), "Edit(/w/src/a)", "deny", mode=Mode.PLAN),
    Vector("37", ("deny Bash(rm *)",), "Bash(rm x)", "deny", hook=Behavior.ALLOW),
    Vector("38", ("allow Bash",), "Bash(ls)", "deny", hook=Behavior.DENY, hook_reason="not on a Friday"),
    Vector("39a", ("allow Bash(npm *)",), "Bash(npm ci)", "allow"),
    Vector("39b", ("allow Bash(npm *)",), "Bash(npm ci)", "deny", hook=Behavior.DENY),
    Vector("40a", ("allow Bash(npm *)",), "Bash(npm ci)", "allow"),
    Vector("40b", ("allow Bash(npm *)",), "Bash(rm x)", "ask"),
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.number)
def test_the_vector_has_its_outcome(house: House, vector: Vector) -> None:
    (house.start / "src/l").symlink_to("/etc/x")
    verdict = house.decide(
        vector.rules, vector.call, mode=vector.mode, hook=vector.hook, hook_reason=vector.hook_reason
    )
    assert str(verdict.behavior) == vector.outcome, verdict.reason
    assert verdict.reason


def test_the_table_holds_all_forty_vectors() -> None:
    assert {int("".join(filter(str.isdigit, vector.number))) for vector in VECTORS} == set(range(1, 41))


def test_vector_24_the_unanchored_allow_glob_is_named_in_a_warning(house: House) -> None:
    (problem,) = house.policy("allow mcp__*").problems
    assert "allow mcp__*" not in problem.text
    assert "`mcp__*`" in problem.text
    assert "no effect" in problem.text
    assert problem.severity == "warning"


def test_vector_25_a_denied_tool_is_not_visible(house: House) -> None:
    policy = house.policy("deny mcp__*")
    assert policy.hides("mcp__gh__get_issue") is not None
    assert policy.hides("Read") is None


def test_vector_33_the_rule_about_write_is_named_in_a_warning(house: House) -> None:
    (problem,) = house.policy("allow Write(src/**)").problems
    assert "Edit(src/**)" in problem.text
    assert problem.line == 3


def test_vector_38_the_reason_is_what_the_hook_said(house: House) -> None:
    verdict = house.decide(("allow Bash",), "Bash(ls)", hook=Behavior.DENY, hook_reason="not on a Friday")
    assert (verdict.reason, verdict.kind) == ("not on a Friday", "hook")


def test_vector_40_a_call_inside_a_program_is_judged_as_any_other(house: House) -> None:
    policy = house.policy("allow Bash(npm ci)")
    for parent in (None, "program-1"):
        call = Call("call-2", "Bash", {"command": "npm ci"}, parent=parent)
        access = TOOLS["Bash"].access(call.arguments, house.workspace())
        assert policy.decide(call, TOOLS["Bash"], access).behavior is Behavior.ALLOW


@dataclass(frozen=True)
class Stricter:
    """Where mcode asks though the rules as others read them would let a call run."""

    vector: str
    """The vector that it stands beside, or the section of the rules."""
    requirement: str
    """The requirement that is stricter, by its number."""
    rules: tuple[str, ...]
    call: str
    mode: Mode = Mode.DEFAULT

    @override
    def __str__(self) -> str:
        return f"{self.vector}: {self.requirement}"


STRICTER = (
    Stricter("1", "P-10.4, no wildcard covers an expansion", TEST, "Bash(npm test $HOME)"),
    Stricter("1", "P-10.4, nor a here-document", TEST, "Bash(npm test <<< x)"),
    Stricter("4", "P-10.4, even where it covers the whole line", ("allow Bash(*)",), "Bash(ls $HOME)"),
    Stricter("11", "P-10.4, eight variables and no others", TEST, "Bash(NODE_OPTIONS=x npm test)"),
    Stricter("13", "P-10.5, a wrapper never reaches the built-in table", (), "Bash(timeout 5 ls)"),
    Stricter("17", "P-11, listed options only", (), "Bash(grep -R x .)"),
    Stricter("17", "P-12, an output file is none", (), "Bash(git log --output=x)"),
    Stricter("17", "F-05, reading outside", (), "Bash(cat /etc/hostname)"),
    Stricter(
        "18",
        "P-08, a redirection even where its target may be edited",
        ("allow Edit(**)",),
        "Bash(ls > out.txt)",
    ),
    Stricter("26", "K-04, files of secrets without any rule", (), "Read(/w/.env)"),
    Stricter("26", "K-04, by a command as well", (), "Bash(cat .env)"),
    Stricter(
        "31", "F-03, also where nothing else asks", ("allow Edit(**)",), "Edit(/w/.git/config)", Mode.BYPASS
    ),
    Stricter("31", "F-03, also names that mcode adds", ("allow Edit(**)",), "Edit(/w/.mcode/x)", Mode.BYPASS),
)


@pytest.mark.parametrize("case", STRICTER, ids=str)
def test_where_the_requirement_is_stricter_it_stands(house: House, case: Stricter) -> None:
    (house.start / ".env").write_text("A=1\n")
    verdict = house.decide(case.rules, case.call, mode=case.mode)
    assert verdict.behavior is Behavior.ASK, verdict.reason
    assert house.decide(case.rules, case.call, mode=Mode.DONT_ASK).behavior is Behavior.DENY


def test_vector_17_p_12_git_runs_unasked_only_with_nothing_of_its_own_configured(house: House) -> None:
    assert house.outcome((), "Bash(git status)") == "allow"
    git = house.start / ".git"
    git.mkdir(exist_ok=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\tfsmonitor = ./x\n")
    verdict = house.decide((), "Bash(git status)")
    assert verdict.behavior is Behavior.ASK
    assert "core.fsmonitor" in verdict.reason


TRAPS = (
    "env rm x",
    "nohup rm x",
    "timeout 5 rm x",
    "nice rm x",
    "ls\nrm x",
    "ls & rm x",
    "git branch -D main",
    "git tag -d v1",
    "sort -o f f",
)


@pytest.mark.parametrize("line", TRAPS)
def test_without_rules_a_line_that_only_looks_safe_asks(house: House, line: str) -> None:
    assert house.outcome((), f"Bash({line})") == "ask"
    assert house.outcome((), f"Bash({line})", mode=Mode.DONT_ASK) == "deny"
