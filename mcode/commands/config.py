"""/config: the settings as they count, the files they come from, and what is wrong with them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table
from mcode.config.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from _typeshed import DataclassInstance

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject, JsonValue

_ELSEWHERE = frozenset({"rules", "hooks", "problems", "sources", "own", "granted", "withheld", "untrusted"})
"""Fields that /permissions, /hooks, /trust or other parts of the answer show."""

_NAMES_ONLY = frozenset({"env", "own_env"})
"""Mappings whose values may be secrets: only the names are shown."""


async def _config(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/config")
    settings = context.agent.settings
    data: JsonObject = {
        "state": str(context.around.places.state),
        "sources": [
            {"scope": source.scope, "path": _path(source.path), "trusted": source.trusted}
            for source in settings.sources
        ],
        "values": _fields(settings, skip=_ELSEWHERE),
        "mcode": _fields(settings.own),
        "problems": [
            {
                "path": _path(problem.path),
                "line": problem.line,
                "key": problem.key,
                "text": problem.text,
                "severity": problem.severity,
                "message": problem.message,
            }
            for problem in settings.problems
        ],
    }
    masked = context.around.masker.mask_value(data)
    return CommandResult(_text(masked), masked)


def _text(data: JsonObject) -> str:
    lines = [f"mcode's own files: {data['state']}"]
    if data["sources"]:
        lines.append("Settings are read from, the strongest first")
        lines.append(table([_source(source) for source in data["sources"]]))
    else:
        lines.append("There are no settings files; everything is as mcode comes.")
    default = _defaults()
    others = 0
    for title, name in (("Settings", "values"), ("Under `mcode`", "mcode")):
        said = {key: value for key, value in data[name].items() if value != default[name].get(key)}
        others += len(data[name]) - len(said)
        if said:
            lines += [title, table(_rows(said, default[name]))]
    lines.append(
        f"{plural(others, 'setting is', 'settings are')} as mcode comes; /config --json has all of them."
    )
    if data["problems"]:
        lines.append("Problems")
        lines += [f"  {problem['severity']}: {problem['message']}" for problem in data["problems"]]
    lines.append("Rules: /permissions. Hooks: /hooks. Files are read when mcode starts.")
    return "\n".join(lines)


def _defaults() -> JsonObject:
    """What counts where no file says anything."""
    plain = Settings()
    return {"values": _fields(plain, skip=_ELSEWHERE), "mcode": _fields(plain.own)}


def _source(source: JsonObject) -> tuple[str, str, str]:
    note = "" if source["trusted"] else "only deny and ask rules count, and what /trust lists as approved"
    return str(source["scope"]), str(source["path"] or "(given at the start)"), note


def _rows(values: JsonObject, usual: JsonObject) -> list[tuple[str, str]]:
    """Values by the names that they have in files; of a group only the members that differ from what is usual."""
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        members = _changed(value, usual.get(name))
        if members is not None:
            rows += [(f"{_in_files(name)}.{each}", shown) for each, shown in _rows(members, {})]
        else:
            rows.append((_in_files(name), value if isinstance(value, str) else jsontext.dump(value)))
    return rows


def _changed(value: JsonValue, usual: JsonValue) -> JsonObject | None:
    """The members of a group that are other than usual; None for what is no group."""
    if not isinstance(value, dict) or not isinstance(usual, dict):
        return None
    given, group = cast("JsonObject", value), cast("JsonObject", usual)
    if not group or given.keys() != group.keys():
        return None
    return {name: member for name, member in given.items() if member != group[name]}


def _in_files(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def _path(path: Path | None) -> str | None:
    return str(path) if path is not None else None


def _fields(value: DataclassInstance, *, skip: frozenset[str] = frozenset()) -> JsonObject:
    """The fields of a value as JSON; what is not JSON by itself becomes text."""
    return {
        field.name: _names(getattr(value, field.name))
        if field.name in _NAMES_ONLY
        else _json(getattr(value, field.name))
        for field in fields(value)
        if field.name not in skip
    }


def _names(mapping: Mapping[str, str]) -> list[str]:
    return sorted(mapping)


def _json(value: object) -> JsonValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, dict):
        return {str(key): _json(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_json(each) for each in cast("list[object]", value)]
    return str(value)


CONFIG = Command(
    "config",
    "the settings that count, their files, and problems in them",
    _config,
    elsewhere=("settings",),
)
