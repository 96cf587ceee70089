"""Hooks and servers that a skill's or an agent's file brings along, read as those of the settings are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.known_keys import describe
from mcode.config.nested import NestedError, nested
from mcode.config.settings import Source

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.front_matter import FrontMatter
    from mcode.config.settings import HookHandler
    from mcode.jsontext import JsonObject, JsonValue


def hooks_in(
    front: FrontMatter, path: Path, scope: str, base: Path
) -> tuple[tuple[HookHandler, ...], tuple[str, ...]]:
    """The hooks of a file's field `hooks`, and what is wrong with them, in words."""
    try:
        value = nested(front.get("hooks"))
    except NestedError as error:
        return (), (f"its hooks cannot be read, so none of them runs: {error}",)
    return hooks_of(value, Source(scope, path, base, trusted=True))


def hooks_of(value: JsonValue, source: Source) -> tuple[tuple[HookHandler, ...], tuple[str, ...]]:
    """The hooks of an object as the settings have it, and what is wrong with them, in words."""
    from mcode.config.hook_entries import parse_hooks
    from mcode.config.report import Report

    members = as_object(value)
    if members is None:
        return (), (f"its hooks are {describe(value)} and no events with hooks, so none of them runs",)
    report = Report(source, "", loud=True)
    handlers = parse_hooks(members, source, report)
    return handlers, tuple(f"{problem.key}: {problem.text}" for problem in report.problems)


def servers_in(value: JsonValue) -> tuple[tuple[str, ...], dict[str, JsonValue]]:
    """Of a field `mcpServers`: the servers that it names, and the entries that stand in it, by name.

    It is a list of names and of objects with one entry each, or an object of entries as in `.mcp.json`.
    """
    members = as_object(value)
    if members is not None:
        return (), dict(members)
    names: list[str] = []
    entries: dict[str, JsonValue] = {}
    for each in as_list(value) or ([value] if isinstance(value, str) else []):
        written = as_object(each)
        if written is not None:
            entries |= _entries(written)
        elif isinstance(each, str):
            names += [name for name in (part.strip() for part in each.split(",")) if name]
    return tuple(names), entries


def _entries(written: JsonObject) -> JsonObject:
    """An item of the list: an object of entries by name; one that has its name in it is its own."""
    name = written.get("name")
    if isinstance(name, str) and ("command" in written or "url" in written):
        return {name: {key: value for key, value in written.items() if key != "name"}}
    return written
