"""`mcode doctor` in real folders: what is wrong is named, what is not trusted is not started."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from mcode.errors import UsageError
from mcode.subcommands.doctor import main
from tests.e2e.binary import Machine

Examine: TypeAlias = Callable[..., tuple[int, list[dict[str, Any]]]]

HOSTILE = Path(__file__).parents[1] / "mcp" / "hostile_server.py"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine.fresh(tmp_path)
    monkeypatch.chdir(made.project)
    monkeypatch.setenv("HOME", str(made.home))
    for name in ("MCODE_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def examine(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Examine:
    """Runs the doctor in this process; returns its exit code and what it found."""

    def run(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
        code = main(["--json", *arguments])
        return code, json.loads(capsys.readouterr().out)["findings"]

    assert Path.cwd() == machine.project
    return run


def of(findings: list[dict[str, Any]], area: str, level: str) -> str:
    """What was found there, in one text."""
    chosen = [one for one in findings if (one["area"], one["level"]) == (area, level)]
    return "\n".join(f"{one['subject']}: {one['text']} {one['advice']}" for one in chosen)


def test_a_folder_where_all_is_well_ends_with_0(machine: Machine) -> None:
    machine.settings({"permissions": {"allow": ["Bash(make test)"], "deny": ["Read(.env)"]}})
    ran = machine.run("doctor")
    assert ran.code == 0, ran.out
    assert "nothing waits for your word" in ran.out
    assert "0 do not work, 0 never have their effect" in ran.out
    assert "sandbox" in ran.out


def test_a_state_directory_that_cannot_be_written_is_a_finding_and_the_rest_is_looked_at(
    machine: Machine, examine: Examine
) -> None:
    (machine.home / ".mcode").write_text("a file in its place")
    code, findings = examine("--offline")
    assert code == 1
    told = of(findings, "state", "error")
    assert f"no session can begin: Nothing can be kept in the directory: {machine.home}/.mcode" in told
    assert "is no directory: move it away" in told
    assert {"key", "trust", "endpoint", "sandbox"} <= {one["area"] for one in findings}


def test_looking_leaves_nothing_behind(machine: Machine, examine: Examine) -> None:
    code, findings = examine("--offline")
    assert code == 0
    assert f"{machine.home}/.mcode: can be written" in of(findings, "state", "ok")
    assert not (machine.home / ".mcode").exists()


def test_where_the_key_comes_from_is_told_or_where_it_was_looked_for(
    machine: Machine, examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    code, findings = examine("--offline")
    assert code == 0
    told = of(findings, "key", "info")
    assert "no key was found (ANTHROPIC_API_KEY in the environment: not set" in told
    assert "ANTHROPIC_BASE_URL" in told
    machine.settings({"mcode": {"baseUrl": "http://127.0.0.1:9"}})
    assert "no key is set, and none is sent" in of(examine("--offline")[1], "key", "ok")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    told = of(examine("--offline")[1], "key", "ok")
    assert "the key is that of ANTHROPIC_API_KEY in the environment" in told
    assert "not-a-real-one" not in told


def test_a_bad_rule_is_told_once_with_its_place_once(
    machine: Machine, examine: Examine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.settings({"permissions": {"deny": ["Reed(.env)"], "allow": ["Bash(ls"]}})
    code, findings = examine("--offline")
    assert code == 1
    assert sum("Reed" in str(one) for one in findings) == 1
    assert main(["--offline"]) == 1
    told = capsys.readouterr().out
    (line,) = (each for each in told.splitlines() if "`Reed(.env)`" in each)
    assert line.startswith(
        f"  rules  {machine.home}/.mcode/settings.json, line 1: permissions.deny: the rule "
    )
    assert line.count("settings.json") == line.count("permissions.deny") == 1
    assert "(there is no tool called Reed; is Read" in line
    assert "1 does not work, 1 never has its effect" in told


def test_rules_and_hooks_that_can_never_have_an_effect_are_named(machine: Machine, examine: Examine) -> None:
    def hook(matcher: str, **fields: Any) -> dict[str, Any]:
        return {"matcher": matcher, "hooks": [{"type": "command", "command": "true", **fields}]}

    machine.settings(
        {
            "permissions": {"allow": ["Raed(src/**)", "mcp__gone__get", "WebSearch"], "deny": ["Bash(rm *)"]},
            "hooks": {
                "PreToolUse": [
                    hook("Bash", onFailure="block"),
                    hook("mcp__memory"),
                    hook("Foo|Bar"),
                    hook("Bash", **{"if": "Nothing(x)"}),
                    hook("Bash", **{"if": "mcp__gone__x"}),
                    hook("Bash", type="prompt", prompt="safe?", onFailure="block"),
                ],
                "SessionStart": [hook("start")],
                "Stop": [hook("whatever", **{"if": "Bash(rm *)"})],
                "WorktreeCreate": [hook("")],
            },
        }
    )
    code, findings = examine("--offline")
    assert code == 1
    rules = of(findings, "rules", "warning")
    assert "Raed(src/**)" in rules
    assert "there is no server called gone" in rules
    assert "Bash(rm *)" not in rules
    assert "has no such tool here" in of(findings, "rules", "info")
    hooks = of(findings, "hooks", "warning")
    assert "write mcp__memory__.* for all tools" in hooks
    assert "PreToolUse Foo|Bar: true" in hooks
    assert "its matcher fits no tool" in hooks
    assert "its matcher fits no subject that there is; SessionStart has startup, resume" in hooks
    assert "`if` can only be true of a call" in hooks
    assert "runs for every call, since its `if` is no good rule" in hooks
    assert "its `if` (mcp__gone__x) is never true: there is no server called gone" in hooks
    assert "never runs: mcode does not have the event WorktreeCreate" in hooks
    assert "cannot run, and so refuses everything" in of(findings, "hooks", "error")
    assert "lets the call go on" in of(findings, "hooks", "info")


def test_unreadable_files_are_named_with_what_became_of_them(machine: Machine, examine: Examine) -> None:
    machine.settings({})
    (machine.home / ".mcode" / "settings.json").write_text('{"permissions": {')
    (machine.home / ".mcode" / "trust.json").write_text("{")
    (machine.project / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    (machine.home / ".mcode" / "cache").mkdir()
    (machine.home / ".mcode" / "cache" / "endpoints.json").write_text("{")
    code, findings = examine("--offline")
    assert code == 1
    errors = of(findings, "settings", "error")
    assert "is not valid JSON" in errors
    assert "trust.json is damaged" in errors
    assert "endpoints.json" in of(findings, "endpoint", "warning")


def test_what_an_endpoint_has_refused_is_told(machine: Machine, examine: Examine) -> None:
    cache = machine.home / ".mcode" / "cache"
    cache.mkdir(parents=True)
    (cache / "endpoints.json").write_text(json.dumps({"https://models.example": {"loading": "call"}}))
    code, findings = examine("--offline")
    assert code == 0
    assert "https://models.example: refused references to deferred tools" in of(findings, "endpoint", "info")


def test_servers_are_connected_and_the_one_that_fails_is_named(machine: Machine, examine: Examine) -> None:
    servers = {
        "good": {"command": sys.executable, "args": [str(HOSTILE), "none"]},
        "bad": {"command": "/bin/sh", "args": ["-c", "echo no luck >&2; exit 3"]},
    }
    (machine.home / ".mcode").mkdir()
    (machine.home / ".mcode" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    code, findings = examine()
    assert code == 1
    assert "good: connected" in of(findings, "servers", "ok")
    assert "bad: failed" in of(findings, "servers", "error")
    assert "`mcode mcp test bad`" in of(findings, "servers", "error")


def test_w_01_the_doctor_starts_nothing_of_an_untrusted_folder_and_lists_what_waits(
    machine: Machine, examine: Examine, tmp_path: Path
) -> None:
    touch = f"touch {tmp_path}/PWN"
    server = {"command": "/bin/sh", "args": ["-c", touch]}
    (machine.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"local": server}}))
    (machine.project / ".mcode").mkdir()
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": touch}]}]}
    (machine.project / ".mcode" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    code, findings = examine()
    assert code == 0, "that nothing is trusted is no fault"
    waiting = of(findings, "trust", "info")
    assert "2 not trusted, and without effect" in waiting
    assert "mcp-server local" in waiting
    assert "hook .mcode/settings.json: SessionStart * 1" in waiting
    assert not (tmp_path / "PWN").exists()


def test_wrong_use_is_said() -> None:
    with pytest.raises(UsageError, match="mcode doctor --help"):
        main(["--jsno"])
