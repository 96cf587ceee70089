"""A request word for word: where its cache marks stand, what came from the cache, what differs from the one before."""

from __future__ import annotations

import asyncio
import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcode.agent.past_requests import past_request, turns_with_requests
from mcode.commands.registry import CommandResult
from mcode.commands.tables import plural
from mcode.errors import UsageError
from mcode.model.request import MARK, strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject

MARKED = "[cache mark: up to here the endpoint keeps it]"

USAGE = "/context view [TURN [REQUEST]]"


@dataclass(frozen=True, slots=True)
class Shown:
    """A request and the one before it."""

    body: JsonObject
    before: JsonObject | None
    cache_read: int | None
    """Tokens that the provider read from its cache; None while it has not said."""
    title: str
    facts: JsonObject
    """What else is told of it in JSON."""


async def request_view(context: CommandContext, words: Sequence[str]) -> CommandResult:
    """The last request as it was sent, or one of an earlier turn; `request` of the data is the whole body.

    Raises UsageError.
    """
    found = await _past(context, words) if words else _last(context)
    if found is None:
        return CommandResult("No request has been sent since this session was opened.", {"request": None})
    marks = list(_marks(found.body))
    difference = _difference(found.before, found.body) if found.before is not None else None
    parts = [found.title, _head(found, marks, difference), *_parts(found, difference)]
    data: JsonObject = {
        "request": found.body,
        "cache_marks": marks,
        "cache_read": found.cache_read,
        "difference": difference,
        **found.facts,
    }
    return CommandResult("\n\n".join(filter(None, parts)), data)


def _last(context: CommandContext) -> Shown | None:
    """What was sent last, as it was sent."""
    bodies = context.agent.builder.bodies
    if not bodies:
        return None
    ledger = context.agent.ledger
    read = ledger.cache_read if ledger is not None and ledger.input_tokens else None
    *earlier, body = bodies
    before = earlier[-1] if earlier else None
    return Shown(body, before, read, "", {})


async def _past(context: CommandContext, words: Sequence[str]) -> Shown | None:
    """A request of an earlier turn, made again from the session's records."""
    agent = context.agent
    records = tuple(agent.session.journal.records)
    counted = turns_with_requests(records)
    if not all(word.isdecimal() for word in words):
        raise UsageError(f"A turn and a request are numbers; nothing was done. Usage: {USAGE}")
    turn = int(words[0])
    number = int(words[1]) if len(words) > 1 else counted.get(turn, 0)
    builder = agent.builder
    found = await asyncio.to_thread(
        past_request, records, builder.made.anew(), turn, number, builder.max_tokens
    )
    if found is None:
        listed = ", ".join(f"{at} ({count})" for at, count in list(counted.items())[-12:])
        had = (
            f"The latest turns, with how many requests each had: {listed}."
            if listed
            else "No turn had any yet."
        )
        raise UsageError(
            f"There is no request {number or 1} of turn {turn}; nothing was done. {had} Usage: {USAGE}"
        )
    title = (
        f"turn {found.turn}, request {found.number} of {found.of}, made again from the session's file, in which "
        "secrets are masked"
    )
    facts: JsonObject = {"turn": found.turn, "number": found.number, "of": found.of}
    read = found.usage.cache_read if found.usage.total_input else None
    return Shown(found.body, found.before, read, title, facts)


def _head(found: Shown, marks: Sequence[str], difference: JsonObject | None) -> str:
    body = found.body
    lines = [f"cache marks: {', '.join(marks) or 'none'}"]
    if found.cache_read is not None:
        lines.append(f"from the cache: {found.cache_read:,} tokens, as the provider reported it")
    if difference is None:
        lines.append("the first request of this start; there is none to compare it with")
    else:
        lines += _told(difference)
    others = {
        key: value for key, value in body.items() if key not in {"system", "tools", "messages", "model"}
    }
    return "\n".join([*lines, f"model {body.get('model', '')}", f"other fields {json.dumps(others)}"])


def _told(difference: JsonObject) -> Iterator[str]:
    """The difference in words, and in lines where the system prompt is another."""
    same, new, gone = (int(difference[f"messages_{what}"]) for what in ("as_before", "new", "gone"))
    changed = [name for name in ("model", "system", "tools", "other") if difference[name]]
    yield (
        f"against the request before: {plural(same, 'message')} as before, {new} new"
        f"{f', {gone} no longer there' if gone else ''}; "
        f"{'changed: ' + ', '.join(changed) if changed else 'model, system and tools are the same'}"
    )
    for what in ("added", "gone", "changed"):
        names = difference[f"tools_{what}"]
        if names:
            yield f"tools {what}: {', '.join(names)}"
    yield from (f"  {line}" for line in difference["system_lines"])


def _parts(found: Shown, difference: JsonObject | None) -> Iterator[str]:
    body = found.body
    for block in _objects(body.get("system")):
        yield f"system{_mark_of(block)}\n{block.get('text', '')}"
    for tool in _objects(body.get("tools")):
        yield f"tool {tool.get('name', '')}{_mark_of(tool)}\n{_pretty(_plain(tool))}"
    messages = _objects(body.get("messages"))
    same = int(difference["messages_as_before"]) if difference is not None else 0
    shared = (
        same and not any(difference[key] for key in ("model", "system", "tools")) if difference else False
    )
    for at, message in enumerate(messages, 1):
        new = "   [new]" if difference is not None and at > same else ""
        yield f"message {at} of {len(messages)}, {message.get('role', '')}{new}"
        content = message.get("content")
        if isinstance(content, str):
            yield content
        for block in _objects(content):
            yield f"{_pretty(_plain(block))}{_mark_of(block)}"
        if shared and at == same:
            yield "---- up to here the request is that before it: the prefix that the cache holds ----"


def _marks(body: JsonObject) -> Iterator[str]:
    if any(MARK in block for block in _objects(body.get("system"))):
        yield "system"
    yield from (f"tool {tool.get('name', '')}" for tool in _objects(body.get("tools")) if MARK in tool)
    for at, message in enumerate(_objects(body.get("messages")), 1):
        if any(MARK in block for block in _objects(message.get("content"))):
            yield f"message {at}"


def _difference(before: JsonObject, now: JsonObject) -> JsonObject:
    """What is another than in the request before; cache marks move by their nature and are left out."""
    old, new = strip_cache_marks(before), strip_cache_marks(now)
    was, is_now = _objects(old.get("messages")), _objects(new.get("messages"))
    same = 0
    while same < min(len(was), len(is_now)) and was[same] == is_now[same]:
        same += 1
    apart = {"model", "system", "tools", "messages"}
    others = {key for key in old.keys() | new.keys() if key not in apart}
    had, has = ({str(tool.get("name")): tool for tool in _objects(body.get("tools"))} for body in (old, new))
    return {
        "messages_as_before": same,
        "messages_new": len(is_now) - same,
        "messages_gone": len(was) - same,
        **{key: old.get(key) != new.get(key) for key in ("model", "system", "tools")},
        "other": any(old.get(key) != new.get(key) for key in others),
        "tools_added": [name for name in has if name not in had],
        "tools_gone": [name for name in had if name not in has],
        "tools_changed": [name for name in has if name in had and has[name] != had[name]],
        "system_lines": _changed_lines(_system(old), _system(new)),
    }


def _changed_lines(old: str, new: str) -> list[str]:
    """What of two texts is not the same, with + and - in front."""
    compared = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in compared if not line.startswith(("---", "+++", "@@"))]


def _system(body: JsonObject) -> str:
    return "\n".join(str(block.get("text", "")) for block in _objects(body.get("system")))


def _objects(value: object) -> list[JsonObject]:
    if not isinstance(value, list):
        return []
    return [cast("JsonObject", each) for each in cast("list[Any]", value) if isinstance(each, dict)]


def _plain(value: JsonObject) -> JsonObject:
    """Without its mark, and with a word for the bytes of images, which nobody reads."""
    return {key: _without_bytes(each) for key, each in value.items() if key != MARK}


def _without_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_bytes(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members = cast("JsonObject", value)
    if members.get("type") == "base64":
        return {**members, "data": f"[{len(str(members.get('data', ''))):,} characters of base64]"}
    return {key: _without_bytes(each) for key, each in members.items()}


def _mark_of(block: JsonObject) -> str:
    return f"   {MARKED}" if MARK in block else ""


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
