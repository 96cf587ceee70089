"""Builds the body of a request: the same state gives the same bytes, and the prefix of the last request stays.

Nothing volatile enters here: no clock, no counter, no random value. Fields stand in one fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.model.per_message import PerMessage
from mcode.model.reading import heal, is_list, is_object, sound

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

RESERVED = frozenset({"model", "system", "tools", "messages", "stream", "cache_control"})
"""Fields that `extra` cannot replace."""

MARK = "cache_control"
"""The field that tells the endpoint: what stands up to here will be sent again."""

UNMARKABLE = frozenset({"thinking", "redacted_thinking"})
"""Blocks that must be sent back exactly as they came."""


@dataclass(frozen=True, slots=True)
class RequestState:
    """All that a request is made of."""

    model: str
    system: str
    """Empty for none."""
    tools: tuple[JsonObject, ...]
    """Definitions in the order sent: name, description, input_schema, and perhaps defer_loading."""
    messages: tuple[JsonObject, ...]
    """In Messages shape: role, and content as text or blocks."""
    max_tokens: int
    extra: JsonObject = field(default_factory=dict)
    """Further fields, the extra body of the profile among them; RESERVED ones are left out."""
    stable: int = 0
    """Number of leading messages that the previous request already had."""


class Plain(PerMessage["JsonObject"]):
    """Messages in blocks and without marks, from one request of a conversation to the next."""

    def __init__(self) -> None:
        super().__init__(_in_blocks)


def build_request(state: RequestState, plain: Plain | None = None) -> JsonObject:
    """The body as it goes over the wire, with at most four cache marks. The state is not changed.

    `plain` spares a conversation the work on messages that its last request had.

    Marks stand at the end of the tools, of the system prompt, of the last message that the previous request had,
    and of the last message: the next request finds what this one stored.
    """
    body: JsonObject = {"model": state.model, "max_tokens": state.max_tokens}
    if state.system:
        body["system"] = [_marked({"type": "text", "text": heal(state.system)})]
    if state.tools:
        body["tools"] = _with_marked_tool([_without_mark(tool) for tool in state.tools])
    body["messages"] = _with_marked_messages((plain or Plain()).of(state.messages), state.stable)
    body["stream"] = True
    body.update({key: value for key, value in state.extra.items() if key not in RESERVED})
    return body


def strip_cache_marks(body: JsonObject) -> JsonObject:
    """The body without any cache mark, to compare requests or for an endpoint that refuses marks.

    Inputs of calls and schemas are content and stay as they are.
    """
    stripped = _without_mark(body)
    for key in ("system", "tools"):
        if key in stripped:
            stripped[key] = _each_without_mark(stripped[key])
    if is_list(stripped.get("messages")):
        stripped["messages"] = [_message_without_marks(message) for message in stripped["messages"]]
    return stripped


def _with_marked_tool(tools: list[JsonObject]) -> list[JsonObject]:
    """Mark the last tool that is not deferred: a deferred one may not carry a mark."""
    for position in range(len(tools) - 1, -1, -1):
        if not tools[position].get("defer_loading"):
            tools[position] = _marked(tools[position])
            break
    return tools


def _with_marked_messages(messages: list[JsonObject], stable: int) -> list[JsonObject]:
    places = {_place_for_mark(messages, end) for end in (min(stable, len(messages)), len(messages))}
    for message_at, block_at in sorted(place for place in places if place is not None):
        content = list(messages[message_at]["content"])
        content[block_at] = _marked(content[block_at])
        messages[message_at] = {**messages[message_at], "content": content}
    return messages


def _place_for_mark(messages: list[JsonObject], end: int) -> tuple[int, int] | None:
    """The last block before message `end` that may carry a mark."""
    for message_at in range(end - 1, -1, -1):
        content = messages[message_at].get("content")
        if not is_list(content):
            continue
        for block_at in range(len(content) - 1, -1, -1):
            if _is_markable(content[block_at]):
                return message_at, block_at
    return None


def _is_markable(block: JsonValue) -> bool:
    if not is_object(block) or block.get("type") in UNMARKABLE:
        return False
    return block.get("type") != "text" or bool(block.get("text"))


def _in_blocks(message: JsonObject) -> JsonObject:
    """The message with its content as blocks, unmarked, and without half characters, as odd paths bring them along.

    Text always becomes a block, so that a message keeps its bytes whether it is marked or not.
    """
    message = sound(message)
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    return _message_without_marks(message)


def _message_without_marks(message: JsonValue) -> JsonValue:
    if not is_object(message) or not is_list(message.get("content")):
        return message
    return {**message, "content": [_block_without_marks(block) for block in message["content"]]}


def _block_without_marks(block: JsonValue) -> JsonValue:
    if not is_object(block):
        return block
    plain = _without_mark(block)
    if block.get("type") == "tool_result" and is_list(block.get("content")):
        plain["content"] = _each_without_mark(block["content"])
    return plain


def _each_without_mark(value: JsonValue) -> JsonValue:
    return [_without_mark(item) if is_object(item) else item for item in value] if is_list(value) else value


def _without_mark(value: JsonObject) -> JsonObject:
    return {key: item for key, item in value.items() if key != MARK}


def _marked(value: JsonObject) -> JsonObject:
    return {**value, MARK: {"type": "ephemeral"}}
