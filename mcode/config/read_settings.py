"""One file of settings: from its text to checked values, with everything that is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from mcode.config.hook_entries import parse_hooks
from mcode.config.json_parts import as_object
from mcode.config.known_keys import GROUPS, KEYS, PROTECTIONS, describe, is_number, nearest, texts, variables
from mcode.config.plain_file import read_plain, reason
from mcode.config.report import Report
from mcode.config.settings import HookHandler, RuleText, Source
from mcode.jsontext import JsonObject, JsonValue, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.config.settings import Problem

SIZE_LIMIT = 1_000_000
"""Bytes of a settings file that is read; a larger one is skipped."""

BEHAVIORS = ("deny", "ask", "allow")
RULE_KEYS = frozenset(f"permissions.{behavior}" for behavior in BEHAVIORS)

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The checked content of one source."""

    source: Source
    values: JsonObject = field(default_factory=dict[str, JsonValue])
    """By key path, such as `permissions.defaultMode`; without rules and hooks."""
    rules: tuple[RuleText, ...] = ()
    hooks: tuple[HookHandler, ...] = ()
    problems: tuple[Problem, ...] = ()
    found: bool = False
    """False where there is no such file or it could not be used."""
    fault: str = ""
    """Why it could not be used, as `cannot be read (...)`; empty where it was, or is not there."""


def read_file(source: Source, path: Path, *, loud: bool) -> SettingsFile:
    """Read a source's file. A missing file is no problem; one that cannot be used is, and gives nothing."""
    report = Report(source, "", loud=loud)
    try:
        data = read_plain(path, SIZE_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return SettingsFile(source)
    except OSError as error:
        return _unusable(source, report, f"cannot be read ({reason(error)})")
    if len(data) > SIZE_LIMIT:
        return _unusable(source, report, f"is larger than {SIZE_LIMIT:,} bytes")
    try:
        return read_text(source, data.decode("utf-8-sig"), loud=loud)
    except UnicodeDecodeError as error:
        return _unusable(source, report, f"is not UTF-8 text (byte {error.start})")


def read_text(source: Source, written: str, *, loud: bool) -> SettingsFile:
    """Check the text of a settings file; `loud` where it is written for mcode alone."""
    report = Report(source, written, loud=loud)
    if not written.strip():
        return SettingsFile(source, found=True)
    repeated: list[str] = []
    try:
        content = json.loads(written, object_pairs_hook=_keys_into(repeated), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return _unusable(
            source, report, f"is not valid JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        )
    except RecursionError:
        return _unusable(source, report, "is nested too deep")
    except ValueError as error:
        return _unusable(source, report, f"is not valid JSON: {error}")
    members = as_object(content)
    if members is None:
        return _unusable(source, report, f"is {kind_of(content)}, expected an object")
    for key in repeated:
        report.add(key, "this key stands twice in one object; the last one counts", "error")
    values: JsonObject = {}
    _check(members, "", values, report)
    rules = tuple(
        RuleText(rule, behavior, source, report.line(f"permissions.{behavior}[{index}]"))
        for behavior in BEHAVIORS
        for index, rule in values.pop(f"permissions.{behavior}", {}).items()
    )
    hooks = parse_hooks(values.pop("hooks", {}), source, report)
    return SettingsFile(source, values, rules, hooks, tuple(report.problems), found=True)


def _check(group: JsonObject, prefix: str, values: JsonObject, report: Report) -> None:
    """Put the usable values of an object into `values` and report the others."""
    for name, value in group.items():
        path = prefix + name
        if path in GROUPS:
            members = as_object(value)
            if members is None:
                report.add(path, f"expected an object, got {describe(value)}; it is ignored", "error")
            else:
                _check(members, path + ".", values, report)
        elif path in KEYS:
            _check_value(path, value, values, report)
        else:
            guess = nearest(path)
            hint = f'; did you mean "{guess}"?' if guess else ""
            report.unknown(path, f"mcode does not know this key and ignores it{hint}")


def _check_value(path: str, value: JsonValue, values: JsonObject, report: Report) -> None:
    key = KEYS[path]
    expected = key.fault(value)
    if expected is not None:
        severity = "error" if path.startswith(PROTECTIONS) else "warning"
        report.add(path, f"expected {expected}, got {describe(value)}; the value is ignored", severity)
    elif key.fault is texts:
        elements = _texts(path, value, report)
        values[path] = elements if path in RULE_KEYS else list(elements.values())
    elif key.fault is variables:
        values[path] = _variables(path, value, report)
    else:
        values[path] = value


def _texts(path: str, elements: list[JsonValue], report: Report) -> dict[int, str]:
    """The elements that are text, by their place in the file."""
    good: dict[int, str] = {}
    for index, element in enumerate(elements):
        if isinstance(element, str):
            good[index] = element
        else:
            severity = "error" if path.startswith(PROTECTIONS) else "warning"
            report.add(
                f"{path}[{index}]", f"expected text, got {describe(element)}; this entry is ignored", severity
            )
    return good


def _variables(path: str, members: JsonObject, report: Report) -> dict[str, str]:
    good: dict[str, str] = {}
    for name, value in members.items():
        if VARIABLE_NAME.fullmatch(name) is None:
            report.add(f"{path}.{name}", "this is no name of a variable; it is ignored", "warning")
        elif isinstance(value, str) and "\0" not in value:
            good[name] = value
        elif isinstance(value, bool) or is_number(value):
            good[name] = json.dumps(value)
        else:
            report.add(f"{path}.{name}", f"expected text, got {describe(value)}; it is ignored", "warning")
    return good


def _unusable(source: Source, report: Report, fault: str) -> SettingsFile:
    report.add(
        "", f"this file {fault}; it is skipped, all other files count. Mend it and start again", "error"
    )
    return SettingsFile(source, problems=tuple(report.problems), fault=fault)


def _keys_into(repeated: list[str]) -> Callable[[list[tuple[str, JsonValue]]], JsonObject]:
    def collect(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
        result = dict(pairs)
        if len(result) < len(pairs):
            seen: set[str] = set()
            repeated.extend(key for key, _ in pairs if key in seen or seen.add(key))
        return result

    return collect


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
