"""What a hook has answered: its exit code and its output, read into one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


class Unchanged:
    """The type of UNCHANGED."""


UNCHANGED: Final = Unchanged()
"""Stands for a tool's result that no hook has replaced; null is a result."""

BLOCK = 2
"""The exit code by which a hook blocks."""

_BLOCKS_BY_DECISION = frozenset(
    {
        *("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PostToolBatch"),
        *("Stop", "SubagentStop", "PreCompact"),
    }
)
"""Events whose hooks may block with `decision` at the top of their JSON."""

_OLD_DECISIONS = {"approve": "allow", "block": "deny"}


@dataclass(frozen=True, slots=True)
class PermissionReply:
    """A hook's answer in the user's place."""

    behavior: str
    """`allow` or `deny`."""
    message: str = ""
    arguments: JsonObject | None = None
    updated_permissions: tuple[JsonObject, ...] = ()
    interrupt: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One hook's answer. Texts are as the hook wrote them: neither cut nor cleaned."""

    problem: str = ""
    """Why the hook did not do its work; empty where it did."""
    blocked: str | None = None
    """The reason with which it blocks; perhaps empty."""
    decision: str | None = None
    """`allow`, `ask`, `deny` or `defer`: what it says of a call that is about to run."""
    reason: str = ""
    arguments: JsonObject | None = None
    """The whole new input of the call."""
    context: str = ""
    """What it adds for the model."""
    replaced: JsonValue | Unchanged = UNCHANGED
    permission: PermissionReply | None = None
    stop: str | None = None
    """It ends the whole turn, with this reason, perhaps empty."""
    message: str = ""
    """For the user."""
    title: str = ""
    initial_message: str = ""


class WrongType(Exception):  # noqa: N818 -- says what was found, and is no error of ours
    """A field of a hook's JSON is not what it must be. The text says which and why."""


def read_reply(event: str, subject: str, exit_code: int, stdout: str, stderr: str) -> Reply:
    """Read what a hook for `event` about `subject` printed before it ended with `exit_code`."""
    printed = stdout.strip()
    if not printed.startswith("{"):
        is_context = event in {"SessionStart", "UserPromptSubmit"} and exit_code == 0
        reply = Reply(context=printed if is_context else "")
    else:
        try:
            reply = _read_object(event, subject, jsontext.parse_object(printed))
        except (jsontext.JsonError, WrongType) as error:
            reply = Reply(problem=f"its output is not what a {event} hook may print: {error}")
    if exit_code == BLOCK:
        return _blocking(reply, stderr)
    if exit_code:
        first_line = stderr.strip().partition("\n")[0]
        return replace(reply, problem=f"exit code {exit_code}" + (f": {first_line}" if first_line else ""))
    return reply


def _blocking(reply: Reply, stderr: str) -> Reply:
    """Exit code 2 blocks whatever the JSON says; that may still hold the reason."""
    reason = stderr.strip() or reply.reason or (reply.blocked or "")
    return replace(reply, problem="", blocked=reason, decision=None, permission=None, arguments=None)


def _read_object(event: str, subject: str, value: JsonObject) -> Reply:
    top = _Fields(value)
    specific = _Fields(top.object("hookSpecificOutput") or {}, "hookSpecificOutput.")
    name = specific.text("hookEventName")
    if name and name != event:
        raise WrongType(f"hookSpecificOutput.hookEventName is {name!r}")
    reply = Reply(
        reason=top.text("reason"),
        stop=top.text("stopReason") if top.flag("continue") is False else None,
        message=top.text("systemMessage"),
        context=specific.text("additionalContext"),
    )
    top.flag("suppressOutput")
    old = top.one_of("decision", _OLD_DECISIONS)
    if event in _BLOCKS_BY_DECISION and old == "block":
        reply = replace(reply, blocked=reply.reason)
    if event == "PreToolUse" and old:
        reply = replace(reply, decision=_OLD_DECISIONS[old])
    return _read_specific(event, subject, reply, specific)


def _read_specific(event: str, subject: str, reply: Reply, specific: _Fields) -> Reply:
    match event:
        case "PreToolUse":
            decision = specific.one_of("permissionDecision", ("allow", "deny", "ask", "defer"))
            return replace(
                reply,
                decision=decision or reply.decision,
                reason=specific.text("permissionDecisionReason") or reply.reason,
                arguments=specific.object("updatedInput"),
            )
        case "PermissionRequest":
            decision = specific.object("decision")
            return replace(reply, permission=_read_permission(decision) if decision is not None else None)
        case "PostToolUse":
            old_key = ("updatedMCPToolOutput",) if subject.startswith("mcp__") else ()
            for key in ("updatedToolOutput", *old_key):
                if specific.has(key):
                    return replace(reply, replaced=specific.value(key))
            return reply
        case "SessionStart":
            return replace(
                reply,
                title=specific.text("sessionTitle"),
                initial_message=specific.text("initialUserMessage"),
            )
        case _:
            return reply


def _read_permission(value: JsonObject) -> PermissionReply:
    fields = _Fields(value, "hookSpecificOutput.decision.")
    behavior = fields.one_of("behavior", ("allow", "deny"))
    if not behavior:
        raise WrongType("hookSpecificOutput.decision.behavior is missing")
    return PermissionReply(
        behavior,
        fields.text("message"),
        fields.object("updatedInput"),
        fields.objects("updatedPermissions"),
        fields.flag("interrupt") is True,
    )


class _Fields:
    """A JSON object whose members have known types. null counts as absent."""

    def __init__(self, value: JsonObject, where: str = "") -> None:
        self._value = value
        self._where = where

    def has(self, key: str) -> bool:
        return key in self._value

    def value(self, key: str) -> JsonValue:
        return self._value.get(key)

    def text(self, key: str) -> str:
        value = self.value(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        return value

    def flag(self, key: str) -> bool | None:
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def object(self, key: str) -> JsonObject | None:
        value = self.value(key)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(key, "an object", value)
        return value  # pyright: ignore[reportUnknownVariableType] -- narrowed from a JSON value

    def objects(self, key: str) -> tuple[JsonObject, ...]:
        value = self.value(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self._wrong(key, "an array of objects", value)
        for member in value:  # pyright: ignore[reportUnknownVariableType] -- narrowed from a JSON value
            if not isinstance(member, dict):
                raise self._wrong(key, "an array of objects", value)
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- checked

    def one_of(self, key: str, known: dict[str, str] | tuple[str, ...]) -> str:
        value = self.text(key)
        if value and value not in known:
            raise WrongType(f"{self._where}{key} is {value!r}, not one of {', '.join(known)}")
        return value

    def _wrong(self, key: str, wanted: str, value: JsonValue) -> WrongType:
        return WrongType(f"{self._where}{key} must be {wanted}, is {jsontext.kind_of(value)}")
