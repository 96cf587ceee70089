"""Removes from a request body what an endpoint has refused, without changing the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.request import strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject

THINKING = frozenset({"thinking", "redacted_thinking"})


def repaired(body: JsonObject, subject: str) -> JsonObject | None:
    """The body without `field`, `thinking`, `thought`, `examples` or `effort`; None where that changes nothing.

    `thought` leaves out that the model shall think as well: after a summary no thinking stands before its last calls,
    and some models go on with those only where they need not think.
    """
    match subject:
        case "field":
            changed = strip_cache_marks(body)
        case "thinking":
            changed = _with_blocks(body, _without_thinking)
        case "thought":
            unasked = {key: value for key, value in body.items() if key != "thinking"}
            changed = _with_blocks(unasked, _without_thinking) if unasked != body else body
        case "examples":
            changed = {**body, "tools": [_without_examples(tool) for tool in body.get("tools", ())]}
        case "effort":
            changed = with_effort(body, "")
        case _:
            return None
    return changed if changed != body else None


def with_effort(body: JsonObject, effort: str) -> JsonObject:
    """The body with how hard the model shall try; empty for nothing of that, whoever had it in there."""
    config: JsonObject = {**(body.get("output_config") or {}), "effort": effort}
    if not effort:
        del config["effort"]
    without = {key: value for key, value in body.items() if key != "output_config"}
    return {**without, "output_config": config} if config else without


def _with_blocks(body: JsonObject, change: Callable[[list[JsonObject]], list[JsonObject]]) -> JsonObject:
    messages = [{**message, "content": change(message["content"])} for message in body["messages"]]
    return {**body, "messages": messages}


def _without_examples(tool: JsonObject) -> JsonObject:
    return {key: value for key, value in tool.items() if key != "input_examples"}


def _without_thinking(blocks: list[JsonObject]) -> list[JsonObject]:
    kept = [block for block in blocks if block.get("type") not in THINKING]
    return kept or [{"type": "text", "text": "(thought about it)"}]
