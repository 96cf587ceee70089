"""Permissions in the shape that PermissionRequest hooks read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.permissions.modes import Mode
from mcode.permissions.updates import DirectoriesUpdate, ModeUpdate, RulesUpdate, apply_updates, read_updates
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.permissions.conftest import House


def add(rules: list[JsonObject], behavior: str = "allow", destination: str = "session") -> JsonObject:
    return {"type": "addRules", "rules": rules, "behavior": behavior, "destination": destination}


def test_offers_become_suggestions(house: House) -> None:
    policy = house.policy()
    verdict = policy.decide(*house.call("Bash(pytest -q)"))
    rule = [{"toolName": "Bash", "ruleContent": "pytest -q"}]
    assert policy.suggestions(verdict) == [add(rule), add(rule, destination="localSettings")]
    verdict = policy.decide(*house.call("mcp__gh__get_issue {}"))
    assert policy.suggestions(verdict)[0] == add([{"toolName": "mcp__gh__get_issue"}])


def test_a_suggestion_that_comes_back_lets_the_call_run(house: House) -> None:
    policy = house.policy()
    for text in ("Bash(pytest -q -k 'a (b)')", "Edit /w/src/a.py", "mcp__gh__get_issue {}"):
        call = house.call(text)
        verdict = policy.decide(*call)
        assert verdict.behavior is Behavior.ASK
        updates, faults = read_updates(policy.suggestions(verdict)[:1])
        assert faults == ()
        assert apply_updates(policy, updates) == ()
        assert policy.decide(*call).behavior is Behavior.ALLOW


def test_rules_are_added_replaced_and_removed(house: House) -> None:
    policy = house.policy()
    updates, _ = read_updates([add([{"toolName": "Bash", "ruleContent": "rm *"}], "deny")])
    assert updates == (RulesUpdate("add", ("Bash(rm *)",), Behavior.DENY, "session"),)
    apply_updates(policy, updates)
    assert policy.decide(*house.call("Bash(rm x)")).behavior is Behavior.DENY
    replaced, _ = read_updates(
        [{**add([{"toolName": "Bash", "ruleContent": "mv *"}], "deny"), "type": "replaceRules"}]
    )
    apply_updates(policy, replaced)
    assert [rule.text for rule in policy.grants] == ["Bash(mv *)"]
    removed, _ = read_updates(
        [{**add([{"toolName": "Bash", "ruleContent": "mv *"}], "deny"), "type": "removeRules"}]
    )
    apply_updates(policy, removed)
    assert policy.grants == ()


def test_mode_and_directories(house: House) -> None:
    policy = house.policy()
    updates, faults = read_updates(
        [
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            {
                "type": "addDirectories",
                "directories": [str(house.home / "other"), "~nobody-of-this-name"],
                "destination": "session",
            },
        ]
    )
    assert updates[0] == ModeUpdate(Mode.ACCEPT_EDITS, "session")
    assert isinstance(updates[1], DirectoriesUpdate)
    assert faults == ()
    house.can_bypass = False
    (fault,) = apply_updates(
        policy, (updates[0], DirectoriesUpdate("add", (str(house.home / "missing"),), "session"))
    )
    assert "is not a directory" in fault
    assert policy.mode is Mode.ACCEPT_EDITS
    other = (str(house.home / "other"),)
    apply_updates(policy, (DirectoriesUpdate("add", other, "session"),))
    assert policy.decide(*house.call("Edit /h/other/a")).behavior is Behavior.ALLOW
    apply_updates(policy, (DirectoriesUpdate("remove", other, "session"),))
    assert policy.decide(*house.call("Edit /h/other/a")).behavior is Behavior.ASK


def test_a_hook_cannot_switch_questions_off_where_that_was_not_enabled(house: House) -> None:
    house.can_bypass = False
    policy = house.policy()
    updates, _ = read_updates([{"type": "setMode", "mode": "bypassPermissions", "destination": "session"}])
    (fault,) = apply_updates(policy, updates)
    assert "bypassPermissions was not entered" in fault
    assert policy.mode is Mode.DEFAULT


def test_what_is_not_understood_is_named_and_the_rest_counts(house: House) -> None:
    good = add([{"toolName": "Bash", "ruleContent": "ls"}])
    updates, faults = read_updates(
        [
            good,
            "x",
            {"type": "dance"},
            {"type": "addRules", "behavior": "allow", "destination": "session"},
            {**good, "destination": "moon"},
            {**good, "behavior": "maybe"},
            {**good, "rules": "Bash"},
            {**good, "rules": [{"toolName": 3}]},
            {"type": "setMode", "mode": "yolo", "destination": "session"},
        ]
    )
    assert len(updates) == 1
    assert len(faults) == 8
    assert all("was not applied" in fault for fault in faults)
    assert read_updates({"type": "setMode"})[0] == ()
    policy = house.policy()
    assert (
        "not closed"
        in apply_updates(policy, (RulesUpdate("add", ("Bash(x",), Behavior.ALLOW, "session"),))[0]
    )
