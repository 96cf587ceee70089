"""A request word for word: where its cache marks stand, what came from the cache, what differs from the one before."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcode.agent.past_requests import (
    agents_with_requests,
    past_request,
    records_of_agent,
    turns_with_requests,
)
from mcode.commands.registry import CommandResult
from mcode.commands.request_difference import difference_of, told
from mcode.commands.tables import plural, table
from mcode.errors import UsageError
from mcode.model.reading import objects_in
from mcode.model.request import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.agent.past_requests import PastRequest
    from mcode.commands.host import CommandContext, Requests
    from mcode.jsontext import JsonObject
    from mcode.session.records import Record

MARKED = "[cache mark: up to here the endpoint keeps it]"

USAGE = "/context view [TURN [REQUEST] | agent [NUMBER [REQUEST]]]"


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
    if words == ("agent",):
        return await asyncio.to_thread(_agents, tuple(context.agent.session.journal.records))
    if words[:1] == ("agent",):
        found = await _of_agent(context, words[1:])
    else:
        found = await _past(context, words) if words else _last(context)
    if found is None:
        return CommandResult("No request has been sent since this session was opened.", {"request": None})
    marks = list(_marks(found.body))
    difference = difference_of(found.before, found.body) if found.before is not None else None
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
    return Shown(found.body, found.before, _cache_read(found), title, facts)


def _agents(records: Sequence[Record]) -> CommandResult:
    """The sub-agents of the session, with how many requests each had."""
    tasks = {
        str(record.body.get("id")): str(record.body.get("arguments", {}).get("description", ""))
        for record in records
        if record.type == "call_started" and record.body.get("tool") == "Agent"
    }
    listed: list[JsonObject] = [
        {"number": number, "id": call, "task": tasks.get(call, ""), "requests": count}
        for number, (call, count) in enumerate(agents_with_requests(records).items(), 1)
    ]
    if not listed:
        return CommandResult("No sub-agent has sent a request in this session.", {"agents": []})
    rows = [(str(each["number"]), each["task"], plural(each["requests"], "request")) for each in listed]
    text = f"{table(rows)}\n`/context view agent NUMBER [REQUEST]` shows one word for word."
    return CommandResult(text, {"agents": listed})


async def _of_agent(context: CommandContext, words: Sequence[str]) -> Shown | None:
    """A request of a sub-agent, made again from the session's records."""
    records = tuple(context.agent.session.journal.records)
    agents = agents_with_requests(records)
    if not all(word.isdecimal() for word in words):
        raise UsageError(f"A sub-agent and a request are numbers; nothing was done. Usage: {USAGE}")
    which = int(words[0])
    if not 1 <= which <= len(agents):
        raise UsageError(
            f"There is no sub-agent {which}; nothing was done. `/context view agent` lists them."
        )
    call, count = list(agents.items())[which - 1]
    number = int(words[1]) if len(words) > 1 else count
    builder = context.agent.builder
    found = await asyncio.to_thread(_request_of, records, call, builder, number)
    if found is None:
        raise UsageError(
            f"Sub-agent {which} had {plural(count, 'request')}, and no {number}; nothing was done."
        )
    title = (
        f"sub-agent {which}, request {number} of {count}, made again from the session's file, in which secrets "
        "are masked"
    )
    facts: JsonObject = {"agent": call, "number": number, "of": count}
    return Shown(found.body, found.before, _cache_read(found), title, facts)


def _request_of(records: Sequence[Record], call: str, builder: Requests, number: int) -> PastRequest | None:
    """Request `number` of a sub-agent, counted over all its turns."""
    own = records_of_agent(records, call)
    for turn, count in turns_with_requests(own).items():
        if number <= count:
            return past_request(own, builder.made.anew(), turn, number, builder.max_tokens)
        number -= count
    return None


def _cache_read(found: PastRequest) -> int | None:
    return found.usage.cache_read if found.usage.total_input else None


def _head(found: Shown, marks: Sequence[str], difference: JsonObject | None) -> str:
    body = found.body
    lines = [f"cache marks: {', '.join(marks) or 'none'}"]
    if found.cache_read is not None:
        lines.append(f"from the cache: {found.cache_read:,} tokens, as the provider reported it")
    if difference is None:
        lines.append("the first request of this start; there is none to compare it with")
    else:
        lines += told(difference)
    others = {
        key: value for key, value in body.items() if key not in {"system", "tools", "messages", "model"}
    }
    return "\n".join([*lines, f"model {body.get('model', '')}", f"other fields {json.dumps(others)}"])


def _parts(found: Shown, difference: JsonObject | None) -> Iterator[str]:
    body = found.body
    for block in objects_in(body.get("system")):
        yield f"system{_mark_of(block)}\n{block.get('text', '')}"
    for tool in objects_in(body.get("tools")):
        yield f"tool {tool.get('name', '')}{_mark_of(tool)}\n{_pretty(_plain(tool))}"
    messages = objects_in(body.get("messages"))
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
        for block in objects_in(content):
            yield f"{_pretty(_plain(block))}{_mark_of(block)}"
        if shared and at == same:
            yield "---- up to here the request is that before it: the prefix that the cache holds ----"


def _marks(body: JsonObject) -> Iterator[str]:
    if any(MARK in block for block in objects_in(body.get("system"))):
        yield "system"
    yield from (f"tool {tool.get('name', '')}" for tool in objects_in(body.get("tools")) if MARK in tool)
    for at, message in enumerate(objects_in(body.get("messages")), 1):
        if any(MARK in block for block in objects_in(message.get("content"))):
            yield f"message {at}"


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
