"""Reads a script from a JSON file, strictly: an unknown key or a wrong type is an error naming its place.

A file is an object of `turns` (a list), and perhaps `fallback` (a reply) and `name`. A turn has a `reply`,
and perhaps `name`, `when`, and `once` (true) or `repeat` (a number, or true for without end). A reply is a
text, or an object with `text` or `blocks` and the fields of `values.Reply`; there `fault` is one name or a
list of names.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from mcode.jsontext import JsonError, JsonObject, JsonValue, kind_of, parse
from mcode.model.script.values import (
    ErrorReply,
    Reply,
    ResultMatch,
    Script,
    ScriptError,
    Turn,
    When,
    text,
)
from mcode.model.script.view import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TEXT = (str,)
_NUMBER = (int, float)
_KINDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}

_REPLY_KEYS: Mapping[str, tuple[type, ...]] = {
    "text": _TEXT,
    "blocks": (list,),
    "stop_reason": _TEXT,
    "stop_sequence": _TEXT,
    "stop_details": (dict,),
    "usage": (dict,),
    "error": (dict,),
    "fault": (str, list),
    "delay": _NUMBER,
    "pace": _NUMBER,
    "chunk": (int,),
}
_ERROR_KEYS: Mapping[str, tuple[type, ...]] = {
    "status": (int,),
    "type": _TEXT,
    "message": _TEXT,
    "headers": (dict,),
    "retry_after": (int, float, dict),
    "shape": _TEXT,
    "details": (dict,),
    "after_events": (int,),
}
_WHEN_KEYS: Mapping[str, tuple[type, ...]] = {
    "user": _TEXT,
    "result": (dict,),
    "requests": (int, dict),
    "declares": (list,),
    "lacks": (list,),
}
_RESULT_KEYS: Mapping[str, tuple[type, ...]] = {
    "contains": _TEXT,
    "matches": _TEXT,
    "is_error": (bool,),
    "tool": _TEXT,
}
_TURN_KEYS: Mapping[str, tuple[type, ...]] = {
    "name": _TEXT,
    "when": (dict,),
    "once": (bool,),
    "repeat": (int, bool),
    "reply": (str, dict),
}


def load_script(path: Path) -> Script:
    """Read a script file. Raises ScriptError that names file, turn and key."""
    try:
        words = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"script {path} cannot be read: {error}. No model was started") from error
    try:
        given = parse(words)
    except JsonError as error:
        raise ScriptError(f"script {path} is not JSON: {error}") from error
    return parse_script(given, str(path))


def parse_script(given: JsonValue, source: str) -> Script:
    """Build a script from JSON values. `source` names it in errors. Raises ScriptError."""
    keys: Mapping[str, tuple[type, ...]] = {"name": _TEXT, "turns": (list,), "fallback": (str, dict)}
    top = _object(given, source, keys)
    if "turns" not in top:
        raise ScriptError(f"{source}: the key `turns` is missing; it is the list of replies")
    turns = tuple(
        _turn(turn, f"{source}: turn {number}") for number, turn in enumerate(top["turns"], start=1)
    )
    fallback = _reply(top["fallback"], f"{source}: fallback") if "fallback" in top else None
    return Script(turns, fallback, top.get("name", source))


def _turn(given: JsonValue, where: str) -> Turn:
    turn = _object(given, where, _TURN_KEYS)
    if "reply" not in turn:
        raise ScriptError(f"{where}: the key `reply` is missing")
    if "once" in turn and "repeat" in turn:
        raise ScriptError(f"{where}: `once` and `repeat` exclude each other")
    limit: int | None = None
    repeat: JsonValue = turn.get("repeat", 1 if turn.get("once") else False)
    if repeat is True:
        limit = sys.maxsize
    elif repeat is not False:
        limit = _at_least(repeat, 1, f"{where}: repeat")
    when = _when(turn["when"], f"{where}: when") if "when" in turn else None
    return Turn(_reply(turn["reply"], f"{where}: reply"), when, turn.get("name", ""), limit)


def _when(given: JsonValue, where: str) -> When:
    when = _object(given, where, _WHEN_KEYS)
    least, most = _span(when.get("requests"), f"{where}.requests")
    return When(
        user=_pattern(when.get("user"), f"{where}.user"),
        result=_result(when["result"], f"{where}.result") if "result" in when else None,
        least_requests=least,
        most_requests=most,
        declares=_words(when.get("declares", []), f"{where}.declares"),
        lacks=_words(when.get("lacks", []), f"{where}.lacks"),
    )


def _result(given: JsonValue, where: str) -> ResultMatch:
    match = _object(given, where, _RESULT_KEYS)
    return ResultMatch(
        contains=match.get("contains"),
        matches=_pattern(match.get("matches"), f"{where}.matches"),
        is_error=match.get("is_error"),
        tool=match.get("tool"),
    )


def _span(given: JsonValue, where: str) -> tuple[int | None, int | None]:
    if not isinstance(given, dict):
        return given, given
    span = _object(given, where, {"least": (int,), "most": (int,)})
    return span.get("least"), span.get("most")


def _reply(given: JsonValue, where: str) -> Reply:
    if isinstance(given, str):
        return Reply((text(given),))
    fields = _object(given, where, _REPLY_KEYS)
    if "text" in fields and "blocks" in fields:
        raise ScriptError(f"{where}: `text` and `blocks` exclude each other")
    blocks = [fields["text"]] if "text" in fields else fields.get("blocks", [])
    faults = fields.get("fault", [])
    options: dict[str, Any] = {
        key: fields[key]
        for key in ("stop_reason", "stop_sequence", "stop_details", "usage", "delay", "pace", "chunk")
        if key in fields
    }
    try:
        return Reply(
            blocks=tuple(text(block) if isinstance(block, str) else block for block in blocks),
            error=_error(fields["error"], f"{where}.error") if "error" in fields else None,
            faults=(faults,) if isinstance(faults, str) else _words(faults, f"{where}.fault"),
            **options,
        )
    except ScriptError as error:
        raise ScriptError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None


def _error(given: JsonValue, where: str) -> ErrorReply:
    fields = _object(given, where, _ERROR_KEYS)
    headers = {name: str(value) for name, value in fields.pop("headers", {}).items()}
    retry: JsonValue = fields.pop("retry_after", None)
    if isinstance(retry, dict):
        date = _object(retry, f"{where}.retry_after", {"date_in": _NUMBER})
        return ErrorReply(headers=headers, retry_date=date.get("date_in", 0), **fields)
    if retry is not None:
        headers["retry-after"] = str(retry)
    return ErrorReply(headers=headers, **fields)


def _object(given: JsonValue, where: str, keys: Mapping[str, tuple[type, ...]]) -> JsonObject:
    """A copy of an object whose keys and types are as listed."""
    if not isinstance(given, dict):
        raise ScriptError(f"{where}: expected an object, got {kind_of(given)}")
    result: JsonObject = {}
    for key, value in object_of(given).items():
        if key not in keys:
            known = ", ".join(keys)
            raise ScriptError(f"{where}: the key `{key}` is unknown; known here: {known}")
        if not isinstance(value, keys[key]) or (isinstance(value, bool) and bool not in keys[key]):
            wanted = " or ".join(_KINDS[kind] for kind in keys[key])
            raise ScriptError(f"{where}: `{key}` must be {wanted}, not {kind_of(value)}")
        result[key] = value
    return result


def _words(given: list[JsonValue], where: str) -> tuple[str, ...]:
    for value in given:
        if not isinstance(value, str):
            raise ScriptError(f"{where}: expected a list of texts, found {kind_of(value)} in it")
    return tuple(given)


def _pattern(given: str | None, where: str) -> re.Pattern[str] | None:
    if given is None:
        return None
    try:
        return re.compile(given)
    except re.error as error:
        raise ScriptError(f"{where}: {given!r} is not a regular expression: {error}") from None


def _at_least(given: int, least: int, where: str) -> int:
    if given < least:
        raise ScriptError(f"{where}: must be {least} or more, not {given}")
    return given
