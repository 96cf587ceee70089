"""What of a file counts, by whose it is: a repository's file restricts, and grants nothing until trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.known_keys import KEYS, MODES_THAT_RESTRICT
from mcode.config.settings import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.config.read_settings import SettingsFile
    from mcode.config.settings import RuleText
    from mcode.jsontext import JsonObject, JsonValue

OWN_VARIABLES = ("ANTHROPIC_", "CLAUDE_", "MCODE_")
"""Beginnings of variables that move keys, endpoints or directories; no project may set one."""

MODE = "permissions.defaultMode"


def restrict(file: SettingsFile, written: Callable[[RuleText], bool]) -> tuple[SettingsFile, tuple[str, ...]]:
    """The file with what counts of it, and what does not count, one phrase a key.

    `written` tells which allow rules of local settings the user had mcode write.
    """
    source = file.source
    if source.scope not in ("project", "local"):
        return file, ()
    ignored: list[str] = []
    rules = tuple(_rules_that_count(file.rules, written, trusted=source.trusted))
    lost = sum(rule.behavior == "allow" for rule in file.rules) - sum(
        rule.behavior == "allow" for rule in rules
    )
    if lost:
        ignored.append(f"permissions.allow ({lost} {'rule' if lost == 1 else 'rules'})")
    hooks = file.hooks if source.trusted else ()
    if file.hooks and not hooks:
        events = dict.fromkeys(handler.event for handler in file.hooks)
        ignored.append(f"hooks ({', '.join(events)})")
    values: JsonObject = {}
    for key, value in file.values.items():
        if key == "env" and source.trusted:
            values[key] = {
                name: one for name, one in value.items() if not name.upper().startswith(OWN_VARIABLES)
            }
            ignored += [f"env ({name})" for name in value.keys() - values[key].keys()]
        elif _counts(key, value, trusted=source.trusted):
            values[key] = value
        elif value not in (False, [], {}):
            ignored.append(_name(key, value))
    return replace(file, values=values, rules=rules, hooks=hooks), tuple(ignored)


def _rules_that_count(
    rules: Iterable[RuleText], written: Callable[[RuleText], bool], *, trusted: bool
) -> Iterable[RuleText]:
    for rule in rules:
        if trusted or rule.behavior != "allow":
            yield rule
        elif rule.source.scope == "local" and written(rule):
            yield replace(rule, source=replace(rule.source, trusted=True))


def _counts(key: str, value: JsonValue, *, trusted: bool) -> bool:
    known = KEYS[key]
    if known.reach == "anyone":
        return known.merge != "any" or value is not False
    if known.reach == "user":
        return False
    return trusted and (key != MODE or value in MODES_THAT_RESTRICT)


def _name(key: str, value: JsonValue) -> str:
    """The key, with what the user recognises: names of variables, a number of entries, never a value."""
    if key == "env":
        return f"env ({', '.join(as_object(value) or {})})"
    entries = as_list(value)
    if entries is None:
        return key
    return f"{key} ({len(entries)} {'entry' if len(entries) == 1 else 'entries'})"


def ignored_notice(files: Iterable[tuple[SettingsFile, tuple[str, ...]]]) -> tuple[Problem, ...]:
    """One problem that names everything which does not count, and why; none where all counts."""
    untrusted: list[str] = []
    never: list[str] = []
    for file, ignored in files:
        if ignored:
            place = never if file.source.trusted else untrusted
            place.append(f"{file.source.name}: {', '.join(ignored)}")
    problems: list[Problem] = []
    if untrusted:
        text = (
            "this folder is not trusted, so these of its settings do not count: "
            f"{'; '.join(untrusted)}. Its deny and ask rules count."
        )
        problems.append(Problem(None, "", text, "warning"))
    if never:
        text = (
            f"a project's files cannot set these, they are ignored: {'; '.join(never)}. "
            "Put them into your own settings if you want them."
        )
        problems.append(Problem(None, "", text, "warning"))
    return tuple(problems)
