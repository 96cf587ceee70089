"""Counts what requests cost: estimated by part before they go, and as the endpoint reports it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.reading import count_field, is_list, is_object, objects_in, sound, text_field
from mcode.model.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.jsontext import JsonObject, JsonValue

__all__ = [
    "Correction",
    "RequestSize",
    "Usage",
    "count_block",
    "count_message",
    "count_prefix",
    "count_request",
    "count_tokens",
    "read_usage",
]

IMAGE_TOKENS = 1_600
"""Of an image as large as an endpoint looks at it; smaller ones cost less."""

PIXELS_OF_TOKEN = 750
"""Pixels of an image that make one token, up to IMAGE_TOKENS."""

DOCUMENT_BYTES = 40
"""Base64 characters of a document that make one token, a rough middle of what pages of PDF cost."""

MESSAGE_TOKENS = 4
"""Around each message: its role and its ends."""

BLOCK_TOKENS = 8
"""Around each call, result and definition."""


@dataclass(frozen=True, slots=True)
class RequestSize:
    """Tokens of a request by part."""

    definitions: int = 0
    """Of tools that are in the request; deferred ones only where a result refers to them."""
    system: int = 0
    messages: int = 0
    """Of the conversation without results."""
    results: int = 0

    @property
    def total(self) -> int:
        """Tokens of the whole input."""
        return self.definitions + self.system + self.messages + self.results

    def __add__(self, other: RequestSize) -> RequestSize:
        return RequestSize(
            self.definitions + other.definitions,
            self.system + other.system,
            self.messages + other.messages,
            self.results + other.results,
        )

    def scaled_to(self, total: int) -> RequestSize:
        """The same proportions with another total, to which the parts add up exactly."""
        if not self.total:
            return RequestSize(messages=total)
        parts = (self.definitions, self.system, self.messages, self.results)
        scaled = [part * total // self.total for part in parts]
        largest = max(range(len(parts)), key=lambda position: parts[position])
        scaled[largest] += total - sum(scaled)
        return RequestSize(*scaled)


@dataclass(frozen=True, slots=True)
class Usage:
    """What an endpoint reports of one message; 0 where it reports nothing."""

    input_tokens: int = 0
    """Of input that was neither read from nor written to the cache."""
    output_tokens: int = 0
    cache_read: int = 0
    cache_written: int = 0
    thinking_tokens: int = 0
    """Of the output, where the endpoint tells them apart."""

    @property
    def total_input(self) -> int:
        """Tokens of the whole input, caches included: what the context held."""
        return self.input_tokens + self.cache_read + self.cache_written

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read + other.cache_read,
            self.cache_written + other.cache_written,
            self.thinking_tokens + other.thinking_tokens,
        )


@dataclass(frozen=True, slots=True)
class Correction:
    """How far an endpoint's own counts are from our estimates."""

    ratio: float = 1.0
    """Reported tokens for one estimated."""

    def apply(self, size: RequestSize) -> RequestSize:
        """An estimate as this endpoint would count it."""
        return size.scaled_to(round(size.total * self.ratio))

    def learn(self, corrected: RequestSize, usage: Usage) -> Correction:
        """Learn from what was reported for a request that `apply` had estimated as `corrected`.

        Reports without input tokens teach nothing; the ratio stays between a quarter and four.
        """
        if not usage.total_input or not corrected.total:
            return self
        ratio = self.ratio * usage.total_input / corrected.total
        return Correction(min(max(ratio, 0.25), 4.0))


def read_usage(message: JsonValue) -> Usage:
    """The usage of a message in Messages shape. Never fails: what is missing or no number counts as 0."""
    usage = message.get("usage") if is_object(message) else None
    if not is_object(usage):
        return Usage()
    written = count_field(usage, "cache_creation_input_tokens")
    if not written:
        parts = usage.get("cache_creation")
        names = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
        written = sum(count_field(parts, name) for name in names)
    return Usage(
        input_tokens=count_field(usage, "input_tokens"),
        output_tokens=count_field(usage, "output_tokens"),
        cache_read=count_field(usage, "cache_read_input_tokens"),
        cache_written=written,
        thinking_tokens=count_field(usage.get("output_tokens_details"), "thinking_tokens"),
    )


def count_request(body: JsonObject) -> RequestSize:
    """Estimate a request's body, as `build_request` makes it, by part."""
    messages = objects_in(body.get("messages"))
    size = count_prefix(body.get("system"), objects_in(body.get("tools")), referred=_referred(messages))
    for message in messages:
        size = size + count_message(message)
    return size


def count_prefix(
    system: JsonValue, tools: Sequence[JsonObject], *, referred: frozenset[str] = frozenset()
) -> RequestSize:
    """Estimate what stands before the conversation: the system prompt, as text or blocks, and the tools.

    A tool with `defer_loading` counts only where its name is in `referred`.
    """
    definitions = sum(
        count_definition(tool)
        for tool in tools
        if not tool.get("defer_loading") or text_field(tool, "name") in referred
    )
    return RequestSize(definitions=definitions, system=_count_content(system))


def count_definition(tool: JsonObject) -> int:
    """Estimate one tool's definition as it stands in a request."""
    shown = {key: value for key, value in tool.items() if key not in ("cache_control", "defer_loading")}
    return _count_json(shown) + BLOCK_TOKENS


def count_message(message: JsonObject) -> RequestSize:
    """Estimate one message: results by themselves, everything else as conversation."""
    content = message.get("content")
    if not is_list(content):
        return RequestSize(messages=_count_content(content) + MESSAGE_TOKENS)
    results = [block for block in objects_in(content) if block.get("type") == "tool_result"]
    others = [block for block in objects_in(content) if block.get("type") != "tool_result"]
    return RequestSize(messages=_sum(others) + MESSAGE_TOKENS, results=_sum(results))


def _sum(blocks: Iterable[JsonObject]) -> int:
    return sum(count_block(block) for block in blocks)


def _count_content(content: JsonValue) -> int:
    return count_tokens(content) if isinstance(content, str) else _sum(objects_in(content))


def count_block(block: JsonObject) -> int:
    """Estimate one block of a message."""
    match block.get("type"):
        case "text":
            return count_tokens(text_field(block, "text"))
        case "thinking":
            return count_tokens(text_field(block, "thinking"))
        case "tool_use":
            return count_tokens(text_field(block, "name")) + _count_json(block.get("input")) + BLOCK_TOKENS
        case "tool_result":
            return _count_content(block.get("content")) + BLOCK_TOKENS
        case "image":
            return _count_image(block)
        case "document":
            source = block.get("source")
            data = text_field(source, "data")
            plain = text_field(source, "type") == "text"
            return (
                count_tokens(data)
                if plain
                else len(data) // DOCUMENT_BYTES + _count_content(block.get("context"))
            )
        case "redacted_thinking":
            return len(text_field(block, "data")) // 4
        case _:
            return _count_json({key: value for key, value in block.items() if key != "cache_control"})


def _count_image(block: JsonObject) -> int:
    """By its size, where it says one: the conversation's own images do, those of a body do not."""
    pixels = count_field(block, "width") * count_field(block, "height")
    return min(IMAGE_TOKENS, pixels // PIXELS_OF_TOKEN + BLOCK_TOKENS) if pixels else IMAGE_TOKENS


def _count_json(value: JsonValue) -> int:
    return count_tokens(jsontext.dump(sound(value)))


def _referred(messages: list[JsonObject]) -> frozenset[str]:
    """Names of tools whose definitions a `tool_reference` brings in."""
    names = (
        text_field(item, "tool_name")
        for message in messages
        for block in objects_in(message.get("content"))
        if block.get("type") == "tool_result"
        for item in objects_in(block.get("content"))
        if item.get("type") == "tool_reference"
    )
    return frozenset(filter(None, names))
