"""The object `hooks` of a settings file: from entries to handlers. What cannot run is said, never dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.config.hook_fields import HookFields
from mcode.config.json_parts import as_list, as_object, as_texts
from mcode.config.known_keys import describe
from mcode.config.settings import HookHandler

if TYPE_CHECKING:
    from mcode.config.report import Report
    from mcode.config.settings import Source
    from mcode.jsontext import JsonObject, JsonValue

RUN_EVENTS = frozenset(
    {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "Notification",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "StopFailure",
        "PermissionDenied",
        "CwdChanged",
        "InstructionsLoaded",
        "PreCompact",
        "PostCompact",
        "UserPromptExpansion",
        "PreModelSwitch",
        "PostModelSwitch",
        "ConfigChange",
        "FileChanged",
        "DirectoryAdded",
    }
)
"""Events at which mcode runs hooks."""

OTHER_EVENTS = {
    "Setup": "it has no run that only sets a project up",
    "TeammateIdle": "it has no teams",
    "TaskCreated": "its list of tasks is TodoWrite, whose calls PostToolUse hooks see",
    "TaskCompleted": "its list of tasks is TodoWrite, whose calls PostToolUse hooks see",
    "Elicitation": "what a server asks is told to Notification hooks, as elicitation_dialog",
    "ElicitationResult": "what a server asks is told to Notification hooks, as elicitation_dialog",
    "WorktreeCreate": "it makes no worktrees",
    "WorktreeRemove": "it makes no worktrees",
    "MessageDisplay": "it shows what the model says as it comes; Stop hooks see the last message",
    "PreSkillShellCommand": "commands of a skill's file are calls of Bash, which PreToolUse hooks see",
}
"""Events of other agents that mcode does not have, and why; their hooks are listed as not supported."""

OTHER_TYPES = frozenset({"http", "mcp_tool", "prompt", "agent"})

SHELLS = (None, "bash", "sh")

FIELDS = frozenset(
    {
        "type",
        "command",
        "args",
        "timeout",
        "if",
        "async",
        "asyncRewake",
        "statusMessage",
        "shell",
        "once",
        "onFailure",
    }
)
GROUP_FIELDS = frozenset({"matcher", "hooks"})
FLAT_FIELDS = FIELDS | {"matcher", "name"}
"""A group without `hooks` but with `command` is its own and only handler."""

PLAIN_MATCHER = re.compile(r"[A-Za-z0-9_\-,| ]*|\*")
"""Names and lists of names; anything else is a regular expression."""


def parse_hooks(value: JsonObject, source: Source, report: Report) -> tuple[HookHandler, ...]:
    """Read every event's groups, in the order of the file."""
    handlers: list[HookHandler] = []
    for event, entries in value.items():
        key = f"hooks.{event}"
        groups = as_list(entries)
        if groups is None:
            report.add(key, f"expected a list, got {describe(entries)}; these hooks are ignored", "error")
            continue
        reader = _EventReader(event, source, report)
        if reader.fault and groups:
            report.unsupported_event(key, f"its hooks never run: {reader.fault}", known=event in OTHER_EVENTS)
        for index, group in enumerate(groups):
            handlers += reader.read_group(group, f"{key}[{index}]")
    return tuple(handlers)


class _EventReader:
    """Reads the groups of one event."""

    def __init__(self, event: str, source: Source, report: Report) -> None:
        self._event = event
        self._source = source
        self._report = report
        self.fault = _event_fault(event)
        """Why no hook of this event runs; None for an event that mcode has."""

    def read_group(self, value: JsonValue, key: str) -> list[HookHandler]:
        group = as_object(value)
        if group is None:
            self._report.add(key, f"expected an object, got {describe(value)}; this hook is ignored", "error")
            return []
        matcher = group.get("matcher") or ""
        fault = _matcher_fault(matcher)
        if fault:
            self._report.add(f"{key}.matcher", f"{fault}; its hooks do not run", "error")
            matcher = describe(matcher) if not isinstance(matcher, str) else matcher
        if "hooks" not in group and "command" in group:
            self._unknown_fields(group, FLAT_FIELDS, key)
            return self._read_handler(group, key, matcher, fault)
        entries = as_list(group.get("hooks"))
        if entries is None:
            text = f'expected "hooks" to be a list, got {describe(group.get("hooks"))}; this group is ignored'
            self._report.add(key, text, "error")
            return []
        self._unknown_fields(group, GROUP_FIELDS, key)
        handlers: list[HookHandler] = []
        for index, element in enumerate(entries):
            entry_key = f"{key}.hooks[{index}]"
            entry = as_object(element)
            if entry is None:
                text = f"expected an object, got {describe(element)}; this hook is ignored"
                self._report.add(entry_key, text, "error")
            else:
                self._unknown_fields(entry, FIELDS, entry_key)
                handlers += self._read_handler(entry, entry_key, matcher, fault)
        return handlers

    def _unknown_fields(self, entry: JsonObject, known: frozenset[str], key: str) -> None:
        for field in entry.keys() - known:
            self._report.unknown(f"{key}.{field}", "mcode does not know this field and ignores it")

    def _read_handler(
        self, entry: JsonObject, key: str, matcher: str, matcher_fault: str
    ) -> list[HookHandler]:
        fault = _handler_fault(entry)
        if fault:
            self._report.add(
                key, f"this hook never runs: {fault}", "error" if "type" not in fault else "warning"
            )
        fields = HookFields(entry, key, self._report)
        rewakes = fields.flag("asyncRewake")
        return [
            HookHandler(
                event=self._event,
                matcher=matcher,
                command=_command(entry),
                args=None if fault or "args" not in entry else tuple(entry["args"]),
                timeout=fields.seconds("timeout"),
                condition=fields.text("if"),
                run_async=fields.flag("async") or rewakes,
                on_failure=fields.choice("onFailure", ("continue", "block")),
                status_message=fields.text("statusMessage") or "",
                once=fields.flag("once"),
                source=self._source,
                unsupported=self.fault or matcher_fault or fault,
                shell=fields.text("shell"),
                rewakes=rewakes,
            )
        ]


def _event_fault(event: str) -> str | None:
    if event in RUN_EVENTS:
        return None
    if event in OTHER_EVENTS:
        return f"mcode does not have the event {event}: {OTHER_EVENTS[event]}"
    import difflib  # only needed once somebody has mistyped

    found = difflib.get_close_matches(event, RUN_EVENTS, n=1, cutoff=0.7)
    return f"there is no event {event}" + (f'; did you mean "{found[0]}"?' if found else "")


def _handler_fault(entry: JsonObject) -> str | None:
    kind = entry.get("type", "command")
    if kind != "command":
        name = f'"{kind}"' if isinstance(kind, str) and kind in OTHER_TYPES else describe(kind)
        return f'mcode runs hooks of type "command" only, not {name}'
    command, args, shell = entry.get("command"), entry.get("args", []), entry.get("shell")
    if not isinstance(command, str) or not command.strip():
        return f'expected "command" to be text, got {describe(command)}'
    if as_texts(args) is None:
        return f'expected "args" to be a list of text, got {describe(args)}'
    if shell not in SHELLS:
        return f"mcode runs commands with bash, not with {describe(shell)}"
    return None


def _command(entry: JsonObject) -> str:
    """What stands for the hook in lists: its command, or what a type that is not run has instead."""
    values = (entry.get(name) for name in ("command", "url", "prompt", "tool"))
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def _matcher_fault(matcher: JsonValue) -> str:
    if not isinstance(matcher, str):
        return f"expected text, got {describe(matcher)}"
    if PLAIN_MATCHER.fullmatch(matcher):
        return ""
    try:
        re.compile(matcher)
    except (re.error, RecursionError, OverflowError) as error:
        return f"this is no valid regular expression ({error})"
    return ""
