"""The last request word for word: its cache marks, and what differs from the request before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, cast

from mcode.commands.registry import CommandResult
from mcode.commands.tables import plural
from mcode.model.request import MARK, strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject

MARKED = "[cache mark: up to here the endpoint keeps it]"


class _Sent(Protocol):
    """The builder of requests, as far as what it sent last is concerned."""

    bodies: tuple[JsonObject, ...]


def request_view(context: CommandContext) -> CommandResult:
    """What was sent last, and how it differs from what was sent before; `request` of the data is the whole body."""
    bodies = cast("_Sent", context.agent.builder).bodies
    if not bodies:
        return CommandResult("No request has been sent since this session was opened.", {"request": None})
    body = bodies[-1]
    marks = list(_marks(body))
    difference = _difference(bodies[-2], body) if len(bodies) > 1 else None
    parts = [_head(body, marks, difference), *_parts(body)]
    return CommandResult(
        "\n\n".join(parts), {"request": body, "cache_marks": marks, "difference": difference}
    )


def _head(body: JsonObject, marks: Sequence[str], difference: JsonObject | None) -> str:
    lines = [f"cache marks: {', '.join(marks) or 'none'}"]
    if difference is None:
        lines.append("the first request of this start; there is none to compare it with")
    else:
        same, new = int(difference["messages_as_before"]), int(difference["messages_new"])
        gone = int(difference["messages_gone"])
        changed = [name for name in ("model", "system", "tools", "other") if difference[name]]
        lines.append(
            f"against the request before: {plural(same, 'message')} as before, {new} new"
            f"{f', {gone} no longer there' if gone else ''}; "
            f"{'changed: ' + ', '.join(changed) if changed else 'model, system and tools are the same'}"
        )
    others = {
        key: value for key, value in body.items() if key not in {"system", "tools", "messages", "model"}
    }
    return "\n".join([*lines, f"model {body.get('model', '')}", f"other fields {json.dumps(others)}"])


def _parts(body: JsonObject) -> Iterator[str]:
    for block in _objects(body.get("system")):
        yield f"system{_mark_of(block)}\n{block.get('text', '')}"
    for tool in _objects(body.get("tools")):
        yield f"tool {tool.get('name', '')}{_mark_of(tool)}\n{_pretty(_plain(tool))}"
    messages = _objects(body.get("messages"))
    for at, message in enumerate(messages, 1):
        yield f"message {at} of {len(messages)}, {message.get('role', '')}"
        content = message.get("content")
        if isinstance(content, str):
            yield content
        for block in _objects(content):
            yield f"{_pretty(_plain(block))}{_mark_of(block)}"


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
    return {
        "messages_as_before": same,
        "messages_new": len(is_now) - same,
        "messages_gone": len(was) - same,
        **{key: old.get(key) != new.get(key) for key in ("model", "system", "tools")},
        "other": any(old.get(key) != new.get(key) for key in others),
    }


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
