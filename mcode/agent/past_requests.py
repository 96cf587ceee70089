"""Rebuilds the requests of an earlier turn from the session's records, with the code that built them first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Folded
from mcode.agent.subagent_record import CALLS, RECORD
from mcode.model.usage import Usage, read_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.agent.request_body import Bodies
    from mcode.jsontext import JsonObject
    from mcode.session.records import Record


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One request of a conversation, the session's or a sub-agent's; those beside it are not kept whole."""

    turn: int
    number: int
    """From 1, in the turn."""
    of: int
    """Requests of the turn."""
    body: JsonObject
    before: JsonObject | None
    """The body of the request before it; None for the first of the session."""
    usage: Usage
    """What the provider reported for it."""


def turns_with_requests(records: Sequence[Record]) -> dict[int, int]:
    """How many requests each turn had, by its number, in their order."""
    counted: dict[int, int] = {}
    turn = 0
    for record in records:
        if record.type == "user":
            turn = max(turn, int(record.body.get("turn", 0)))
        elif record.type == "assistant":
            counted[turn] = counted.get(turn, 0) + 1
    return counted


def agents_with_requests(records: Sequence[Record]) -> dict[str, int]:
    """How many requests each sub-agent had, by the id of the call that started it, in the order of their first."""
    counted: dict[str, int] = {}
    for record in records:
        if record.type == RECORD and record.body.get("type") == "assistant":
            call = str(record.body.get("call", ""))
            counted[call] = counted.get(call, 0) + 1
    return counted


def records_of_agent(records: Sequence[Record], call: str) -> list[Record]:
    """The conversation of one sub-agent; the records of calls stand among the session's own, whoever made them."""
    return [
        replace(record, type=str(record.body.get("type", "")), body=record.body["body"])
        if record.type == RECORD
        else record
        for record in records
        if (record.type == RECORD and record.body.get("call") == call) or record.type in CALLS
    ]


def past_request(
    records: Sequence[Record], bodies: Bodies, turn: int, number: int, max_tokens: int
) -> PastRequest | None:
    """Request `number` of a turn, word for word but for masked secrets; None where there is none.

    `max_tokens`: those of requests whose answer's record does not tell. Reads the records from the beginning: off the
    event loop for long sessions.
    """
    counted = turns_with_requests(records)
    if not 1 <= number <= counted.get(turn, 0):
        return None
    wanted = sum(count for at, count in counted.items() if at < turn) + number
    state, seen = Folded(), 0
    before: JsonObject | None = None
    for record in records:
        if record.type == "assistant" and state.prefix is not None:
            seen += 1
            room = int(record.body.get("max_tokens", max_tokens))
            if seen == wanted - 1:
                before = bodies.next(state, state.prefix, room)
            elif seen == wanted:
                body = bodies.next(state, state.prefix, room)
                usage = read_usage(record.body.get("message"))
                return PastRequest(turn, number, counted[turn], body, before, usage)
        state.fold(record.type, record.body)
    return None
