"""Bodies without what an endpoint has refused: the same conversation, in fewer of the protocol's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.request import strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject

THINKING = frozenset({"thinking", "redacted_thinking"})


def repaired(body: JsonObject, subject: str) -> JsonObject | None:
    """The body without `subject` (`field`, `thinking` or `examples`); None where nothing would change."""
    match subject:
        case "field":
            changed = strip_cache_marks(body)
        case "thinking":
            changed = _with_blocks(body, _without_thinking)
        case "examples":
            changed = {**body, "tools": [_without_examples(tool) for tool in body.get("tools", ())]}
        case _:
            return None
    return changed if changed != body else None


def _with_blocks(body: JsonObject, change: Callable[[list[JsonObject]], list[JsonObject]]) -> JsonObject:
    messages = [{**message, "content": change(message["content"])} for message in body["messages"]]
    return {**body, "messages": messages}


def _without_examples(tool: JsonObject) -> JsonObject:
    return {key: value for key, value in tool.items() if key != "input_examples"}


def _without_thinking(blocks: list[JsonObject]) -> list[JsonObject]:
    kept = [block for block in blocks if block.get("type") not in THINKING]
    return kept or [{"type": "text", "text": "(thought about it)"}]
