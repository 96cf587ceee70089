"""The keys of settings.json that mcode understands: right values, who may set them, how files combine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcode.config.json_parts import as_object
from mcode.jsontext import JsonObject, JsonValue, kind_of

Reach: TypeAlias = Literal["anyone", "trusted", "user"]
"""Whose files can set a key.

`anyone`: it only restricts, so it counts from every file. `trusted`: it counts from a repository's files once
the folder is trusted. `user`: it counts from the user's, managed and `--settings` files, whatever is trusted.
"""

Merge: TypeAlias = Literal["first", "join", "members", "any"]
"""How the values of several files combine.

`first`: the strongest file's value. `join`: lists, one after the other. `members`: objects, member by member.
`any`: the restricting value in any file wins.
"""

Fault: TypeAlias = Callable[[JsonValue], str | None]
"""What was expected instead of a value, or None where the value is right."""


@dataclass(frozen=True, slots=True)
class Key:
    """What there is to know of one key."""

    fault: Fault
    reach: Reach = "trusted"
    merge: Merge = "first"


def is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def anything(value: JsonValue) -> str | None:
    del value
    return None


def text(value: JsonValue) -> str | None:
    return None if isinstance(value, str) else "text"


def flag(value: JsonValue) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def an_object(value: JsonValue) -> str | None:
    return None if isinstance(value, dict) else "an object"


def texts(value: JsonValue) -> str | None:
    """Only the list itself; a wrong element is left out alone."""
    return None if isinstance(value, list) else "a list of text"


def url(value: JsonValue) -> str | None:
    if isinstance(value, str) and value.startswith(("https://", "http://")) and value.isprintable():
        return None
    return "a URL that begins with https:// or http://"


def one_of(*choices: str) -> Fault:
    def fault(value: JsonValue) -> str | None:
        return None if value in choices else "one of " + ", ".join(f'"{choice}"' for choice in choices)

    return fault


def whole_number(lowest: int) -> Fault:
    def fault(value: JsonValue) -> str | None:
        right = isinstance(value, int) and not isinstance(value, bool) and value >= lowest
        return None if right else f"a whole number from {lowest}"

    return fault


def number(lowest: float, highest: float = 1e9) -> Fault:
    def fault(value: JsonValue) -> str | None:
        right = is_number(value) and lowest <= value <= highest
        return None if right else f"a number from {lowest:g} to {highest:g}"

    return fault


def variables(value: JsonValue) -> str | None:
    """Only the object itself; a wrong member is left out alone."""
    return None if isinstance(value, dict) else "an object of variable names and text"


def key_names(value: JsonValue) -> str | None:
    entry = as_object(value)
    fine = entry is not None and all(isinstance(each, str) for each in entry.values())
    return None if fine else 'an object of names and keys, such as {"main.editor": "ctrl+x"}'


def command(value: JsonValue) -> str | None:
    entry = as_object(value) or {}
    if entry.get("type", "command") == "command" and isinstance(entry.get("command"), str):
        return None
    return 'an object {"type": "command", "command": "..."}'


def prices(value: JsonValue) -> str | None:
    """By model name: `input` and `output`, optionally `cacheRead` and `cacheWrite`."""
    models = as_object(value)
    if models is not None and all(_is_price(as_object(price)) for price in models.values()):
        return None
    return 'for each model an object {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}'


def _is_price(price: JsonObject | None) -> bool:
    if price is None or not {"input", "output"} <= price.keys():
        return False
    return all(is_number(amount) and amount >= 0 for amount in price.values())


MODES = ("default", "manual", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")

MODES_THAT_RESTRICT = frozenset({"default", "manual", "plan", "dontAsk"})
"""Modes that a trusted project may set; it may never switch questions off."""

GROUPS = frozenset({"permissions", "mcode", "mcode.ui"})
"""Keys whose members are keys of this table."""

KEYS: dict[str, Key] = {
    "$schema": Key(anything, "anyone"),
    "permissions.allow": Key(texts, merge="join"),
    "permissions.ask": Key(texts, "anyone", "join"),
    "permissions.deny": Key(texts, "anyone", "join"),
    "permissions.defaultMode": Key(one_of(*MODES)),
    "permissions.additionalDirectories": Key(texts, merge="join"),
    "permissions.disableBypassPermissionsMode": Key(one_of("disable"), "anyone", "any"),
    "permissions.denyInsteadOfPrompting": Key(flag, "user"),
    "permissions.blockReadsOutsideWorkingDirectories": Key(flag, "anyone", "any"),
    "permissions.blockWritesOutsideWorkingDirectories": Key(flag, "anyone", "any"),
    "hooks": Key(an_object, merge="join"),
    "disableAllHooks": Key(flag, "user"),
    "env": Key(variables, merge="members"),
    "model": Key(text),
    "apiKeyHelper": Key(text, "user"),
    "statusLine": Key(command),
    "outputStyle": Key(text),
    "enableAllProjectMcpServers": Key(flag),
    "enabledMcpjsonServers": Key(texts, merge="join"),
    "disabledMcpjsonServers": Key(texts, "anyone", "join"),
    "claudeMdExcludes": Key(texts, merge="join"),
    "cleanupPeriodDays": Key(whole_number(1), "user"),
    "disableSkillShellExecution": Key(flag, "anyone", "any"),
    "respondToBashCommands": Key(flag),
    "bashOutputMaxChars": Key(whole_number(1000)),
    "skillListingMaxDescChars": Key(whole_number(0)),
    "skillListingBudgetFraction": Key(number(0, 1)),
    "mcode.baseUrl": Key(url, "user"),
    "mcode.headerStyle": Key(one_of("bearer", "x-api-key", "both"), "user"),
    "mcode.apiVersion": Key(text, "user"),
    "mcode.extraBody": Key(an_object, "user"),
    "mcode.maxTokens": Key(whole_number(1)),
    "mcode.window": Key(whole_number(1000)),
    "mcode.prices": Key(prices, merge="members"),
    "mcode.sync": Key(one_of("full", "relaxed"), "user"),
    "mcode.passEnvironment": Key(texts, "user", "join"),
    "mcode.undoRequired": Key(flag, "user"),
    "mcode.maxCallsPerTurn": Key(whole_number(0), "user"),
    "mcode.sandbox": Key(flag, "anyone", "any"),
    "mcode.sandboxNetwork": Key(flag, "user"),
    "mcode.sandboxAutoAllow": Key(flag, "user"),
    "mcode.ui.theme": Key(text, "user"),
    "mcode.ui.bell": Key(flag, "user"),
    "mcode.ui.title": Key(flag, "user"),
    "mcode.ui.idleTime": Key(number(0.5, 60), "user"),
    "mcode.ui.armDelay": Key(number(0.3, 60), "user"),
    "mcode.ui.glyphs": Key(one_of("auto", "ascii"), "user"),
    "mcode.ui.mouse": Key(flag, "user"),
    "mcode.ui.keys": Key(key_names, "user", "members"),
    "mcode.toolSearch": Key(anything),
    "mcode.placement": Key(an_object, merge="members"),
    "mcode.programs": Key(anything),
    "mcode.runCode": Key(an_object, merge="members"),
}

PROTECTIONS = (
    "permissions.deny",
    "permissions.ask",
    "permissions.disable",
    "permissions.block",
    "permissions.denyI",
)
"""Beginnings of keys whose loss takes a protection away: a wrong value of these is an error."""


def nearest(key: str) -> str | None:
    """The valid key that an unknown one most likely means, also where it stands in the wrong object."""
    import difflib  # only needed once somebody has mistyped

    by_name = {known.rpartition(".")[2].lower(): known for known in KEYS}
    by_name |= {group.rpartition(".")[2].lower(): group for group in GROUPS}
    found = difflib.get_close_matches(key.rpartition(".")[2].lower(), by_name, n=1, cutoff=0.7)
    return by_name[found[0]] if found else None


def describe(value: JsonValue) -> str:
    """What a wrong value is, for a message: its type, and the value where it is short and no container."""
    if isinstance(value, str):
        return f'the text "{value}"' if len(value) <= 40 and value.isprintable() else "text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return f"the number {value}"[:60]
    return kind_of(value)
