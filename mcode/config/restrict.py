"""Which settings of a file count, by its scope: a repository's may restrict, and grants only what the user approved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.known_keys import KEYS, MODES_THAT_RESTRICT
from mcode.config.settings import Problem
from mcode.config.supplied import Supplied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcode.config.read_settings import SettingsFile
    from mcode.config.settings import HookHandler, RuleText
    from mcode.config.trust import Item
    from mcode.jsontext import JsonObject, JsonValue

OWN_VARIABLES = ("ANTHROPIC_", "CLAUDE_", "MCODE_")
"""Beginnings of variables that move keys, endpoints or directories; no project may set one."""

MODE = "permissions.defaultMode"

SERVER_APPROVALS = frozenset({"enableAllProjectMcpServers", "enabledMcpjsonServers"})
"""Keys by which a repository would approve its own servers. The user approves each by its content instead."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A file with what counts of it, and what does not."""

    file: SettingsFile
    held: tuple[str, ...] = ()
    """What does not count until it is approved, one phrase a key."""
    never: tuple[str, ...] = ()
    """What no project may set."""
    granted: tuple[Item, ...] = ()
    withheld: tuple[Item, ...] = ()


def restrict(
    file: SettingsFile, written: Callable[[RuleText], bool], approved: Callable[[Item], bool]
) -> Restricted:
    """Keep what counts.

    `written` tells which allow rules of local settings the user had mcode write, `approved` which items of the
    folder the user has approved.
    """
    if file.source.scope not in ("project", "local"):
        return Restricted(file)
    return _Restriction(file, written, approved).result()


class _Restriction:
    """One file of a folder."""

    def __init__(
        self, file: SettingsFile, written: Callable[[RuleText], bool], approved: Callable[[Item], bool]
    ) -> None:
        self._file = file
        self._written = written
        self._items = Supplied(file.source, approved)
        self._held: list[str] = []
        self._never: list[str] = []

    def result(self) -> Restricted:
        rules = tuple(self._rules())
        lost = _allowing(self._file.rules) - _allowing(rules)
        if lost:
            self._held.append(f"permissions.allow ({lost} {'rule' if lost == 1 else 'rules'})")
        hooks = tuple(self._hooks())
        events = {handler.event for handler in hooks}
        quiet = dict.fromkeys(one.event for one in self._file.hooks if one.event not in events)
        if len(hooks) < len(self._file.hooks):
            self._held.append(
                f"hooks ({', '.join(quiet) or f'{len(self._file.hooks) - len(hooks)} of them'})"
            )
        values = dict(self._values())
        granted, withheld = tuple(self._items.granted), tuple(self._items.withheld)
        trusted = self._file.source.trusted or bool(granted and not withheld)
        file = replace(
            self._file,
            source=replace(self._file.source, trusted=trusted),
            values=values,
            rules=rules,
            hooks=hooks,
        )
        return Restricted(file, tuple(self._held), tuple(self._never), granted, withheld)

    def _rules(self) -> Iterator[RuleText]:
        for rule in self._file.rules:
            if rule.behavior != "allow":
                yield rule
            elif (rule.source.scope == "local" and self._written(rule)) or self._items.rule(rule):
                yield replace(rule, source=replace(rule.source, trusted=True))

    def _hooks(self) -> Iterator[HookHandler]:
        for handler in self._file.hooks:
            if self._items.hook(handler):
                yield replace(handler, source=replace(handler.source, trusted=True))

    def _values(self) -> Iterator[tuple[str, JsonValue]]:
        for key, value in self._file.values.items():
            if key == "env":
                yield key, self._variables(as_object(value) or {})
            elif self._counts(key, value):
                yield key, value

    def _variables(self, variables: JsonObject) -> JsonObject:
        own = [name for name in variables if name.upper().startswith(OWN_VARIABLES)]
        kept = {
            name: value
            for name, value in variables.items()
            if name not in own and self._items.variable(name, value)
        }
        self._never += [f"env ({name})" for name in own]
        lost = [name for name in variables if name not in kept and name not in own]
        if lost:
            self._held.append(f"env ({', '.join(lost)})")
        return kept

    def _counts(self, key: str, value: JsonValue) -> bool:
        known = KEYS[key]
        if known.reach == "anyone":
            return known.merge != "any" or value is not False
        if value in (False, [], {}):
            return False
        if known.reach == "user" or (key == MODE and value not in MODES_THAT_RESTRICT):
            self._never.append(_name(key, value))
            return False
        if key in SERVER_APPROVALS and not self._file.source.trusted:
            self._held.append(_name(key, value))
            return False
        if self._items.value(key, value):
            return True
        self._held.append(_name(key, value))
        return False


def _allowing(rules: Iterable[RuleText]) -> int:
    return sum(rule.behavior == "allow" for rule in rules)


def _name(key: str, value: JsonValue) -> str:
    """The key, with what the user recognises: a number of entries, never a value."""
    entries = as_list(value)
    if entries is None:
        return key
    return f"{key} ({len(entries)} {'entry' if len(entries) == 1 else 'entries'})"


def untrusted_text(files: Iterable[Restricted]) -> str:
    """What does not count because it is not approved, of all files; empty where nothing waits for that."""
    named = [
        f"{each.file.source.name}: {', '.join((*each.held, *each.never))}" for each in files if each.withheld
    ]
    if not named:
        return ""
    return (
        "this folder is not trusted, so these of its settings do not count: "
        f"{'; '.join(named)}. Its deny and ask rules count."
    )


def ignored_notice(files: Iterable[Restricted]) -> tuple[Problem, ...]:
    """One problem that names everything which does not count, and why; none where all counts."""
    known = tuple(files)
    untrusted = untrusted_text(known)
    never = [
        f"{each.file.source.name}: {', '.join(each.never)}"
        for each in known
        if each.never and not each.withheld
    ]
    problems = [Problem(None, "", untrusted, "info")] if untrusted else []
    if never:
        text = (
            f"a project's files cannot set these, they are ignored: {'; '.join(never)}. "
            "Put them into your own settings if you want them."
        )
        problems.append(Problem(None, "", text, "warning"))
    return tuple(problems)
