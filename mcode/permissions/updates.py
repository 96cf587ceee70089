"""Changes of permissions as PermissionRequest hooks see them (`permission_suggestions`) and ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from mcode.errors import UsageError
from mcode.permissions.modes import Mode, parse_mode
from mcode.permissions.resolve import is_directory
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.permissions.rules import Rule
    from mcode.permissions.verdict import Proposal
    from mcode.tool import Workspace

SESSION = "session"
DESTINATIONS = frozenset({SESSION, "localSettings", "projectSettings", "userSettings"})
_OF_PROPOSAL = {"session": SESSION, "local": "localSettings"}


@dataclass(frozen=True, slots=True)
class RulesUpdate:
    """Rules to add, to take away, or to put in place of all rules of the behavior."""

    action: str
    """`add`, `remove` or `replace`."""
    rules: tuple[str, ...]
    """In the form in which rules are written."""
    behavior: Behavior
    destination: str
    """`session`, `localSettings`, `projectSettings` or `userSettings`."""


@dataclass(frozen=True, slots=True)
class ModeUpdate:
    mode: Mode
    destination: str


@dataclass(frozen=True, slots=True)
class DirectoriesUpdate:
    action: str
    """`add` or `remove`."""
    directories: tuple[str, ...]
    destination: str


Update: TypeAlias = RulesUpdate | ModeUpdate | DirectoriesUpdate


class Changeable(Protocol):
    """What of `decide.Policy` is changed here."""

    @property
    def workspace(self) -> Workspace: ...

    def set_mode(self, mode: Mode) -> None: ...

    def add_rule(self, rule_text: str, behavior: Behavior) -> Rule: ...

    def remove_rule(self, rule_text: str, behavior: Behavior) -> bool: ...

    def clear_rules(self, behavior: Behavior) -> None: ...


def suggestions(proposals: Sequence[Proposal]) -> list[JsonObject]:
    """Proposals in the shape of `permission_suggestions`."""
    return [
        {
            "type": "addRules",
            "rules": [_rule_object(rule) for rule in proposal.rules],
            "behavior": str(Behavior.ALLOW),
            "destination": _OF_PROPOSAL.get(proposal.destination, SESSION),
        }
        for proposal in proposals
    ]


def read_updates(value: JsonValue) -> tuple[tuple[Update, ...], tuple[str, ...]]:
    """Read `updatedPermissions`: the updates that are understood, and a sentence for each that is not."""
    if not isinstance(value, list):
        return (), ("updatedPermissions is not a list; nothing of it was applied",)
    updates: list[Update] = []
    faults: list[str] = []
    for index, entry in enumerate(cast("list[JsonValue]", value)):
        try:
            updates.append(_read_update(entry))
        except (KeyError, TypeError, ValueError) as error:
            detail = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            faults.append(f"updatedPermissions[{index}] was not applied: {detail}")
    return tuple(updates), tuple(faults)


def apply_updates(policy: Changeable, updates: Iterable[Update]) -> tuple[str, ...]:
    """Put updates into force for this session, whatever their destination; returns what could not be applied.

    Keeping them in a settings file is the caller's work, who knows the files.
    """
    faults: list[str] = []
    for update in updates:
        try:
            match update:
                case RulesUpdate():
                    _apply_rules(policy, update)
                case ModeUpdate():
                    policy.set_mode(update.mode)
                case DirectoriesUpdate():
                    _apply_directories(policy.workspace, update)
        except (UsageError, ValueError) as error:
            faults.append(str(error))
    return tuple(faults)


def _apply_rules(policy: Changeable, update: RulesUpdate) -> None:
    if update.action == "replace":
        policy.clear_rules(update.behavior)
    for rule in update.rules:
        if update.action == "remove":
            policy.remove_rule(rule, update.behavior)
        else:
            policy.add_rule(rule, update.behavior)


def _apply_directories(workspace: Workspace, update: DirectoriesUpdate) -> None:
    try:
        named = [Path(directory).expanduser() for directory in update.directories]
        resolved = [(workspace.start / directory).resolve() for directory in named]
    except RuntimeError as error:  # a user that there is not, or links in a circle
        raise ValueError(f"the working directories stay as they are: {error}") from None
    if update.action == "remove":
        workspace.additional = tuple(each for each in workspace.additional if each not in resolved)
        return
    for directory in resolved:
        if not is_directory(str(directory)):
            raise ValueError(
                f"{directory} is not a directory, so it was not added to the working directories"
            )
        if directory not in workspace.roots:
            workspace.additional = (*workspace.additional, directory)


def _rule_object(text: str) -> JsonObject:
    tool, parenthesis, rest = text.partition("(")
    return {"toolName": tool, "ruleContent": rest[:-1]} if parenthesis else {"toolName": tool}


def _read_update(entry: JsonValue) -> Update:
    if not isinstance(entry, dict):
        raise TypeError("it is not an object")
    update = cast("JsonObject", entry)
    kind, destination = update["type"], update.get("destination", SESSION)
    if destination not in DESTINATIONS:
        raise ValueError(f"the destination {destination!r} is not one of {', '.join(sorted(DESTINATIONS))}")
    match kind:
        case "addRules" | "replaceRules" | "removeRules":
            rules = tuple(_rule_text(rule) for rule in _objects(update["rules"]))
            action = str(kind).removesuffix("Rules")
            return RulesUpdate(action, rules, Behavior(update["behavior"]), destination)
        case "setMode":
            return ModeUpdate(parse_mode(_text(update["mode"]))[0], destination)
        case "addDirectories" | "removeDirectories":
            directories = tuple(_text(each) for each in _list(update["directories"]))
            return DirectoriesUpdate(str(kind).removesuffix("Directories"), directories, destination)
        case _:
            raise ValueError(f"the type {kind!r} is not known")


def _rule_text(rule: JsonObject) -> str:
    tool, content = _text(rule["toolName"]), rule.get("ruleContent")
    return tool if content in (None, "") else f"{tool}({_text(content)})"


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return cast("list[JsonValue]", value)


def _objects(value: JsonValue) -> list[JsonObject]:
    found = _list(value)
    if not all(isinstance(each, dict) for each in found):
        raise TypeError("a list of objects is expected")
    return cast("list[JsonObject]", found)


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value
