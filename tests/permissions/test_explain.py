"""Calls as people type them, and the explanation of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.errors import UsageError
from mcode.permissions.explain import parse_call_text
from mcode.permissions.modes import Mode

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.permissions.conftest import House


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("Bash(rm x)", "Bash", {"command": "rm x"}),
        ("Bash rm -rf (x)", "Bash", {"command": "rm -rf (x)"}),
        ("!git push", "Bash", {"command": "git push"}),
        ("! ls", "Bash", {"command": "ls"}),
        ("bash({ ls; })", "Bash", {"command": "{ ls; }"}),
        ("Read(/etc/passwd)", "Read", {"file_path": "/etc/passwd"}),
        ("Edit src/a.py", "Edit", {"file_path": "src/a.py", "old_string": "", "new_string": ""}),
        ("Grep(a|b)", "Grep", {"pattern": "a|b"}),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com", "prompt": ""}),
        ("WebFetch http://x.example/y", "WebFetch", {"url": "http://x.example/y", "prompt": ""}),
        ("Task(writer)", "Agent", {"subagent_type": "writer", "prompt": "", "description": ""}),
        ("TodoWrite", "TodoWrite", {}),
        ('mcp__t__close {"id": 7}', "mcp__t__close", {"id": 7}),
        ('mcp__t__close({"id": 7})', "mcp__t__close", {"id": 7}),
        (
            'Bash {"command": "ls", "run_in_background": true}',
            "Bash",
            {"command": "ls", "run_in_background": True},
        ),
    ],
)
def test_a_typed_call_is_read(text: str, tool: str, arguments: JsonObject) -> None:
    assert parse_call_text(text) == (tool, arguments)


@pytest.mark.parametrize("text", ["", "(x)", "mcp__t__close 7", 'Read {"file_path": }', "a/b(c)"])
def test_what_cannot_be_read_says_how_to_write_it(text: str) -> None:
    with pytest.raises(UsageError, match=r"JSON|Write the tool"):
        parse_call_text(text)


def test_an_explanation_names_the_verdict_the_rules_and_what_was_looked_at(house: House) -> None:
    (house.start / "src/l").symlink_to(house.home / "other/x")
    policy = house.policy("allow Edit(src/**)", "ask Edit(*.py)", "deny Edit(/docs/**)", "deny Bash")
    text = policy.explain(*house.call("Edit /w/src/a.py"))
    assert text.splitlines()[0] == "Edit: asks first"
    assert "ask: `Edit(*.py)`" in text
    assert "allow: `Edit(src/**)`" in text
    assert "/docs/" not in text
    text = policy.explain(*house.call("Edit /w/src/l"))
    assert f"which is {house.home}/other/x, outside the workspace" in text
    text = policy.explain(*house.call("Bash(echo hi && rm x)"))
    assert "is denied" in text
    assert "hidden from the model by `Bash`" in text
    assert "runs rm x" in text


def test_an_explanation_says_what_could_not_be_read_and_what_could_be_remembered(house: House) -> None:
    assert "not everything could be read: a quotation mark" in house.policy().explain(
        *house.call("Bash(echo 'x)")
    )
    assert "could be remembered as: Bash(pytest -q)" in house.policy().explain(*house.call("Bash(pytest -q)"))
    assert "rules that match: none" in house.policy().explain(*house.call("Read /w/.env"))


def test_an_explanation_says_what_rules_that_deny_reading_are_compared_with(house: House) -> None:
    said = "not with what any other program opens by itself"
    denying = house.policy("deny Read(src/prod.yml)", mode=Mode.BYPASS)
    assert said in denying.explain(*house.call("Bash(npm test)"))
    assert said not in denying.explain(*house.call("Read /w/src/a.py"))
    for rules in ((), ("deny Edit(src/**)",), ("ask Read(src/**)",), ("deny Bash(rm *)",)):
        assert said not in house.policy(*rules).explain(*house.call("Bash(npm test)")), rules


def test_an_explanation_says_that_a_rule_for_a_servers_tool_does_not_count_in_mode_plan(house: House) -> None:
    text = house.policy("allow mcp__gh", mode=Mode.PLAN).explain(*house.call("mcp__gh__get_issue {}"))
    assert text.startswith("mcp__gh__get_issue: asks first\n  why: mode plan only reads and explores")
    assert "rules that match: allow: `mcp__gh`" in text
