"""/permissions, /mode, /hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.commands.typing import typed
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path

RULES: dict[str, Any] = {
    "permissions": {
        "allow": ["Bash(sort names.txt)"],
        "ask": ["Bash(git push *)"],
        "deny": ["Read(.env)", "Bash(curl *)"],
    }
}


async def test_rules_stand_in_order_of_precedence_with_file_and_line(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x"), settings=RULES) as session:
        result = await typed(session, "/permissions")
        assert [(rule["behavior"], rule["rule"]) for rule in result.data["rules"]] == [
            ("deny", "Read(.env)"),
            ("deny", "Bash(curl *)"),
            ("ask", "Bash(git push *)"),
            ("allow", "Bash(sort names.txt)"),
        ]
        file = session.bench.places.settings_file
        assert all(rule["path"] == str(file) and rule["line"] == 1 for rule in result.data["rules"])
        assert f"{file}, line 1" in result.text


async def test_a_grant_of_the_session_is_listed_as_one(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        session.agent.policy.grant("Bash(make test)")
        result = await typed(session, "/permissions")
        assert result.data["grants"] == ["Bash(make test)"]
        assert "this session" in result.text


async def test_explain_says_what_decides_and_why_without_running_anything(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x"), settings=RULES) as session:
        for call, behavior in (
            ("Bash(curl https://example.org)", "deny"),
            ("Bash(git push origin main)", "ask"),
            ("Bash(sort names.txt)", "allow"),
            ("Bash touch made", "ask"),
            ('Read {"file_path": ".env"}', "deny"),
            ("read(a.py)", "allow"),
            ('Read{"file_path": ".env"}', "deny"),
            ("!curl https://example.org", "deny"),
            ("WebFetch(domain:example.org)", "ask"),
            ("Edit a.py", "ask"),
        ):
            result = await typed(session, f"/permissions explain {call}")
            assert result.data["behavior"] == behavior, call
            assert result.data["reason"]
            assert result.text
        assert not (session.project / "made").exists()
        assert not session.outcomes


async def test_explain_takes_a_text_as_the_first_argument_that_a_tool_requires(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/permissions explain TaskStop(work-1)")
        assert result.data["arguments"] == {"task_id": "work-1"}


async def test_explain_names_what_it_does_not_understand(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        for line, expected in (
            ("/permissions explain", "Which call?"),
            ("/permissions explain Bsh(ls)", "Did you mean Bash"),
            ("/permissions explain Read {broken", "not a JSON object"),
            ("/permissions explain (ls)", "is not a call"),
            ("/permissions erase", "has no `erase`"),
        ):
            result = await typed(session, line)
            assert result.failed, line
            assert expected in result.text


async def test_mode_shows_changes_and_refuses(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        assert [row["mode"] for row in (await typed(session, "/mode")).data if row["current"]] == ["default"]
        assert (await typed(session, "/mode plan")).data["mode"] == "plan"
        assert session.agent.mode == "plan"
        assert "classifier" in (await typed(session, "/mode auto")).text
        for refused in ("/mode bypassPermissions", "/mode turbo"):
            assert (await typed(session, refused)).failed
        assert session.agent.mode == "default"


async def test_hooks_marks_those_that_fail_open_and_those_that_never_run(tmp_path: Path) -> None:
    hooks: dict[str, Any] = {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard-open"}]},
                {"matcher": "Edit", "hooks": [{"type": "command", "command": "guard", "onFailure": "block"}]},
            ],
            "PostToolUse": [{"hooks": [{"type": "http", "url": "http://localhost/x"}]}],
        }
    }
    async with stage(tmp_path, turns("x"), settings=hooks) as session:
        result = await typed(session, "/hooks")
        by_command = {hook["command"]: hook for hook in result.data["hooks"]}
        assert by_command["guard-open"]["fails_open"]
        assert not by_command["guard"]["fails_open"]
        assert sum(bool(hook["unsupported"]) for hook in result.data["hooks"]) == 1
        assert "FAILS OPEN" in result.text
        assert "fails closed" in result.text
        assert "NOT RUN" in result.text
