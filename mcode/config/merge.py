"""Merges settings files: single values of the strongest one, and the lists, hooks and rules of all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.known_keys import KEYS
from mcode.config.own import own_settings
from mcode.config.plain_file import reason, resolve
from mcode.config.settings import Problem, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.config.known_keys import Merge
    from mcode.config.read_settings import SettingsFile
    from mcode.config.settings import HookHandler, Source
    from mcode.jsontext import JsonObject, JsonValue

USUAL = Settings()


def merge(files: Sequence[SettingsFile], start: Path, home: Path, problems: Sequence[Problem]) -> Settings:
    """Combine the files, the strongest first. `problems` are those that no file knows of itself."""
    values = combine(files)
    directories, wrong_directories = _directories(files, start, home)
    hooks, all_off = _hooks(files)
    helper = next((file.source for file in files if "apiKeyHelper" in file.values), None)
    status_line = values.get("statusLine")
    excludes = values.get("claudeMdExcludes", ())
    return Settings(
        rules=tuple(rule for file in files for rule in file.rules),
        default_mode=values.get("permissions.defaultMode"),
        disable_bypass=values.get("permissions.disableBypassPermissionsMode") == "disable",
        additional_directories=directories,
        deny_instead_of_prompting=values.get("permissions.denyInsteadOfPrompting", False),
        block_reads_outside=values.get("permissions.blockReadsOutsideWorkingDirectories", False),
        block_writes_outside=values.get("permissions.blockWritesOutsideWorkingDirectories", False),
        hooks=hooks,
        disable_all_hooks=all_off,
        env=values.get("env", {}),
        own_env=combine([file for file in files if not _is_repository(file.source)]).get("env", {}),
        model=values.get("model"),
        api_key_helper=values.get("apiKeyHelper"),
        api_key_helper_source=helper,
        claude_md_excludes=tuple(excludes),
        cleanup_period_days=values.get("cleanupPeriodDays", USUAL.cleanup_period_days),
        respond_to_bash_commands=values.get("respondToBashCommands", True),
        bash_output_max_chars=values.get("bashOutputMaxChars", USUAL.bash_output_max_chars),
        output_style=values.get("outputStyle"),
        status_line=status_line["command"] if status_line else None,
        enable_all_project_mcp_servers=values.get("enableAllProjectMcpServers", False),
        enabled_mcpjson_servers=tuple(values.get("enabledMcpjsonServers", ())),
        disabled_mcpjson_servers=tuple(values.get("disabledMcpjsonServers", ())),
        disable_skill_shell_execution=values.get("disableSkillShellExecution", False),
        skill_listing_max_desc_chars=values.get("skillListingMaxDescChars"),
        skill_listing_budget_fraction=values.get("skillListingBudgetFraction"),
        own=own_settings(values),
        problems=(*(problem for file in files for problem in file.problems), *wrong_directories, *problems),
        sources=tuple(file.source for file in files if file.found),
    )


def combine(files: Sequence[SettingsFile]) -> JsonObject:
    """One value a key, by the key's way of combining; the strongest file comes first."""
    result: JsonObject = {}
    for file in files:
        for key, value in file.values.items():
            result[key] = _both(KEYS[key].merge, result[key], value) if key in result else value
    return result


def _both(way: Merge, stronger: JsonValue, weaker: JsonValue) -> JsonValue:
    if way == "join":
        return [*stronger, *(one for one in weaker if one not in stronger)]
    if way == "members":
        return {**weaker, **stronger}
    if way == "any":
        return stronger or weaker
    return stronger


def _hooks(files: Sequence[SettingsFile]) -> tuple[tuple[HookHandler, ...], bool]:
    """All handlers, identical ones once, and whether all of them are switched off.

    Only the administrator can switch off the administrator's hooks; the others are then marked instead.
    """
    first = next((file for file in files if "disableAllHooks" in file.values), None)
    off = first is not None and first.values["disableAllHooks"] is True
    managed = any(handler.source.scope == "managed" for file in files for handler in file.hooks)
    all_off = off and first is not None and (first.source.scope == "managed" or not managed)
    handlers: dict[HookHandler, HookHandler] = {}
    for file in files:
        for handler in file.hooks:
            if off and not all_off and file.source.scope != "managed" and first is not None:
                why = f"disableAllHooks is set in {first.source.name}"
                marked = replace(handler, unsupported=why, on_failure="continue")
            else:
                marked = handler
            handlers.setdefault(replace(handler, source=files[0].source, status_message=""), marked)
    return tuple(handlers.values()), all_off


def _directories(
    files: Sequence[SettingsFile], start: Path, home: Path
) -> tuple[tuple[Path, ...], tuple[Problem, ...]]:
    found: dict[Path, None] = {}
    problems: list[Problem] = []
    key = "permissions.additionalDirectories"
    for file in files:
        for name in file.values.get(key, ()):
            written = home / name[2:] if name.startswith("~/") else home if name == "~" else start / name
            try:
                path = resolve(written)
                fault = "" if path.is_dir() else "it is no directory"
            except OSError as error:
                path, fault = start, reason(error)
            if fault:
                text = f'"{name}" does not become a working directory: {fault}'
                problems.append(Problem(file.source.path, key, text, "warning"))
            else:
                found[path] = None
    return tuple(found), tuple(problems)


def _is_repository(source: Source) -> bool:
    return source.scope in ("project", "local")
