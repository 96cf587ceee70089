"""Faults in what the events say: missing, doubled, unknown or broken ones."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from mcode.model.script import ScriptError
from mcode.model.script.view import list_of, object_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject, JsonValue
    from tools.messages_server.draft import Draft

STRAY_INDEX = 99
"""An index that no block has."""


def error_first(draft: Draft, argument: str) -> None:
    draft.events = [draft.error(argument)]


def error_after_text(draft: Draft, argument: str) -> None:
    start = draft.find_block("text")
    deltas = [
        at
        for at in range(start, len(draft.events))
        if draft.events[at]["type"] == "content_block_delta"
        and draft.events[at]["index"] == draft.events[start]["index"]
    ]
    draft.events = [*draft.events[: deltas[(len(deltas) - 1) // 2] + 1], draft.error(argument)]


def no_message_start(draft: Draft, _argument: str) -> None:
    del draft.events[draft.find_kind("message_start")]


def two_message_starts(draft: Draft, _argument: str) -> None:
    second = copy.deepcopy(draft.events[draft.find_kind("message_start")])
    second["message"]["id"] += "_again"
    draft.events.insert(draft.find_kind("content_block_stop") + 1, second)


def no_ping(draft: Draft, _argument: str) -> None:
    draft.events = [event for event in draft.events if event["type"] != "ping"]


def orphan_delta(draft: Draft, _argument: str) -> None:
    delta: JsonObject = {"type": "text_delta", "text": "stray"}
    stray: JsonObject = {"type": "content_block_delta", "index": STRAY_INDEX, "delta": delta}
    draft.events.insert(draft.find_kind("content_block_start"), stray)


def block_never_closed(draft: Draft, _argument: str) -> None:
    at = len(draft.events) - 1 - _last(draft, "content_block_stop")
    del draft.events[at]


def end_before_message_delta(draft: Draft, _argument: str) -> None:
    del draft.events[draft.find_kind("message_delta") :]


def end_before_message_stop(draft: Draft, _argument: str) -> None:
    del draft.events[draft.find_kind("message_stop") :]


def unknown_event(draft: Draft, _argument: str) -> None:
    event: JsonObject = {"type": "future_event", "future_field": {"level": 3}}
    draft.events.insert(draft.find_kind("content_block_start"), event)
    draft.events.insert(draft.find_kind("message_delta"), copy.deepcopy(event))


def unknown_block(draft: Draft, _argument: str) -> None:
    at = draft.find_kind("content_block_start")
    for event in draft.events:
        if "index" in event:
            event["index"] += 1
    draft.events[at:at] = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "future_block", "content": "x"},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "future_delta", "content": "y"}},
        {"type": "content_block_stop", "index": 0},
    ]


def unknown_delta(draft: Draft, _argument: str) -> None:
    at = draft.find_kind("content_block_start")
    delta: JsonObject = {"type": "future_delta", "content": "y"}
    stray: JsonObject = {"type": "content_block_delta", "index": draft.events[at]["index"], "delta": delta}
    draft.events.insert(at + 1, stray)


def unknown_stop_reason(draft: Draft, argument: str) -> None:
    draft.events[draft.find_kind("message_delta")]["delta"]["stop_reason"] = argument


def no_stop_reason(draft: Draft, _argument: str) -> None:
    draft.events[draft.find_kind("message_delta")]["delta"]["stop_reason"] = None


def missing_usage(draft: Draft, _argument: str) -> None:
    draft.events[draft.find_kind("message_start")]["message"].pop("usage", None)
    draft.events[draft.find_kind("message_delta")].pop("usage", None)


def extra_fields(draft: Draft, _argument: str) -> None:
    for event in draft.events:
        _add_field(event)


def large_event(draft: Draft, argument: str) -> None:
    at = draft.find_block("text") + 1
    word = "large event "
    draft.events[at]["delta"]["text"] += (word * (int(argument) // len(word) + 1))[: int(argument)]


def tool_input(draft: Draft, argument: str) -> None:
    start = draft.find_block("tool_use")
    index = draft.events[start]["index"]
    kept = [
        event for event in draft.events if event["type"] != "content_block_delta" or event["index"] != index
    ]
    at = next(at for at, event in enumerate(kept) if event is draft.events[start]) + 1
    middle = len(argument) // 2
    kept[at:at] = [
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": part},
        }
        for part in ("", argument[:middle], argument[middle:])
    ]
    draft.events = kept


def fixed_tool_input(text: str) -> Callable[[Draft, str], None]:
    """A fault that replaces the first call's input by this text."""

    def apply(draft: Draft, _argument: str) -> None:
        tool_input(draft, text)

    return apply


def equal_tool_ids(draft: Draft, _argument: str) -> None:
    uses = _uses(draft)
    if len(uses) < 2:
        raise ScriptError("equal ids need a reply with two tool_use blocks")
    for use in uses:
        use["id"] = uses[0]["id"]


def empty_tool_ids(draft: Draft, _argument: str) -> None:
    draft.find_block("tool_use")
    for use in _uses(draft):
        use["id"] = ""


def _uses(draft: Draft) -> list[JsonObject]:
    starts = [event["content_block"] for event in draft.events if event["type"] == "content_block_start"]
    return [block for block in starts if block["type"] == "tool_use"]


def _last(draft: Draft, kind: str) -> int:
    """How far from the end the last event of a type stands."""
    for distance, event in enumerate(reversed(draft.events)):
        if event["type"] == kind:
            return distance
    raise ScriptError(f"the reply has no event `{kind}`, which the fault needs")


def _add_field(value: JsonValue) -> None:
    if isinstance(value, dict):
        fields = object_of(value)
        for key, inner in list(fields.items()):
            if key != "input":  # a call's arguments are the tool's, not the protocol's
                _add_field(inner)
        fields["future_field"] = "x"
    for entry in list_of(value):
        _add_field(entry)
