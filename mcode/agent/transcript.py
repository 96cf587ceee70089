"""The conversation so far as events, rebuilt from the journal: what a front end shows after a resume."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcode.call import Call, FailureKind, Origin, Outcome, Status
from mcode.events import AssistantMessage, ToolFinished, ToolStarted, TurnFinished, TurnStarted
from mcode.tool import Preview

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.session.journal import Record


def transcript(records: Iterable[Record]) -> list[Event]:
    """The events that first showed what the records hold, in their order, but for what the user took back.

    Calls left unfinished stay open."""
    events: list[Event] = []
    calls: dict[str, Call] = {}
    for record in records:
        if record.type == "rewind" and record.body.get("reason") == "user":
            events = _before_turn(events, int(record.body.get("turn", 0)))
        events += _events_of(record.type, record.body, calls)
    return events


def _before_turn(events: list[Event], turn: int) -> list[Event]:
    """What was shown before that turn began; the user took it back with all that followed."""
    starts = (at for at, event in enumerate(events) if isinstance(event, TurnStarted) and event.turn >= turn)
    return events[: next(starts, len(events))]


def _events_of(kind: str, body: JsonObject, calls: dict[str, Call]) -> list[Event]:
    match kind:
        case "user":
            return [TurnStarted(int(body.get("turn", 0)), str(body.get("text", "")))]
        case "assistant":
            message = cast("JsonObject", body.get("message", {}))
            return [AssistantMessage(message, bool(body.get("complete", True)))]
        case "call_started":
            call = _call(body)
            calls[call.id] = call
            return [ToolStarted(call, Preview(str(body.get("title", ""))))]
        case "call_finished":
            return _finished(body, calls)
        case "turn_finished":
            requests = int(body.get("requests", 0))
            reason, text = str(body.get("reason", "")), str(body.get("text", ""))
            return [TurnFinished(int(body.get("turn", 0)), reason, text, requests)]
        case _:
            return []


def _finished(body: JsonObject, calls: dict[str, Call]) -> list[Event]:
    known = calls.pop(str(body["id"]), None)
    call = known or _call(body)
    started: list[Event] = [] if known else [ToolStarted(call, Preview(str(body.get("title", ""))))]
    failure = body.get("failure")
    outcome = Outcome(
        call=call,
        status=Status(body.get("status", "ok")),
        text=str(body.get("text", "")),
        failure=FailureKind(failure) if failure else None,
        summary=str(body.get("summary", "")),
        diff=body.get("diff"),
        duration=float(body.get("duration_ms", 0)) / 1000,
        decision=str(body.get("decision", "")),
        images=tuple(cast("list[JsonObject]", body.get("images", []))),
    )
    return [*started, ToolFinished(outcome)]


def _call(body: JsonObject) -> Call:
    return Call(
        id=str(body["id"]),
        tool=str(body.get("tool", "")),
        arguments=cast("JsonObject", body.get("arguments", {})),
        origin=Origin(body.get("origin", "model")),
        parent=body.get("parent"),
        turn=int(body.get("turn", 0)),
    )
