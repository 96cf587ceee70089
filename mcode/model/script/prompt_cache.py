"""The cache model of the scripted model: what of a request the provider would have in its prompt cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.jsontext import JsonObject, JsonValue, canonical
from mcode.model.script.view import blocks_of, objects
from mcode.model.usage import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE_TOKENS = 1_500
"""What an image or a document of bytes counts, whatever its size."""

_SESSIONS = 64
"""Conversations whose last request is remembered; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class PromptUsage:
    """How the input of one request splits, in tokens; the sum is the whole input."""

    read: int
    written: int
    plain: int

    @property
    def total(self) -> int:
        return self.read + self.written + self.plain


@dataclass(frozen=True, slots=True)
class _Piece:
    digest: bytes
    tokens: int
    marked: bool


class PromptCache:
    """Compares each request with the last ones, piece by piece: tools, then system, then message blocks.

    What equals the longest beginning of an earlier conversation's last request is read from the cache, what
    follows up to the last cache mark is written to it, and the rest is plain input. Cache marks themselves
    and deferred tools do not count as content. A conversation is told by its model and first message.
    """

    def __init__(self, *, needs_marks: bool = True, honours_deferral: bool = True) -> None:
        """`needs_marks` False: everything is cached without marks, as llama.cpp does it."""
        self._needs_marks = needs_marks
        self._honours_deferral = honours_deferral
        self._last: dict[bytes, list[bytes]] = {}
        self._tokens: dict[bytes, int] = {}

    def measure(self, body: JsonObject) -> PromptUsage:
        """The split for this request; remembers it for the next one."""
        found = list(self._pieces(body))
        extent = self._extent(found, body)
        digests = [piece.digest for piece in found]
        read = min(extent, max((_common(digests, known) for known in self._last.values()), default=0))
        self._remember(body, digests[:extent])
        sums = [sum(piece.tokens for piece in part) for part in (found[:read], found[read:extent])]
        return PromptUsage(*sums, plain=sum(piece.tokens for piece in found[extent:]))

    def count(self, body: JsonObject) -> int:
        """Tokens of the whole input; remembers nothing."""
        return sum(piece.tokens for piece in self._pieces(body))

    def count_text(self, value: JsonValue) -> int:
        """Tokens of a text, or of a JSON value as it is written."""
        return count_tokens(value if isinstance(value, str) else canonical(value))

    def _extent(self, found: list[_Piece], body: JsonObject) -> int:
        if not self._needs_marks or "cache_control" in body:
            return len(found)
        return max((at + 1 for at, piece in enumerate(found) if piece.marked), default=0)

    def _remember(self, body: JsonObject, digests: list[bytes]) -> None:
        first = [
            _unmarked(block) for message in objects(body.get("messages"))[:1] for block in blocks_of(message)
        ]
        key = _digest(f"{body.get('model')}:{canonical(first)}")
        self._last.pop(key, None)
        self._last[key] = digests
        while len(self._last) > _SESSIONS:
            del self._last[next(iter(self._last))]

    def _pieces(self, body: JsonObject) -> Iterator[_Piece]:
        declared = objects(body.get("tools"))
        for tool in declared:
            if not (self._honours_deferral and tool.get("defer_loading") is True):
                yield self._piece("tool", tool, str(body.get("model")))
        system = body.get("system")
        for block in [{"type": "text", "text": system}] if isinstance(system, str) else objects(system):
            yield self._piece("system", block, str(body.get("model")))
        named = {str(tool.get("name")): tool for tool in declared if tool.get("defer_loading") is True}
        for message in objects(body.get("messages")):
            for block in blocks_of(message):
                yield self._piece(str(message.get("role")), block, str(body.get("model")))
                yield from self._expanded(block, named)

    def _expanded(self, block: JsonObject, deferred: dict[str, JsonObject]) -> Iterator[_Piece]:
        """Definitions that a tool result brings into the context by reference."""
        if not deferred or not self._honours_deferral or block.get("type") != "tool_result":
            return
        for inner in objects(block.get("content")):
            tool = deferred.get(str(inner.get("tool_name")))
            if inner.get("type") == "tool_reference" and tool is not None:
                yield self._piece("expanded", tool, "")

    def _piece(self, place: str, block: JsonObject, model: str) -> _Piece:
        written = canonical(block)
        marked = '"cache_control"' in written and _is_marked(block)
        if marked:
            written = canonical(_unmarked(block))
        digest = _digest(f"{model}:{place}:{written}")
        tokens = self._tokens.get(digest)
        if tokens is None:
            tokens = self._tokens[digest] = self._weigh(block, written)
        return _Piece(digest, tokens, marked)

    def _weigh(self, block: JsonObject, written: str) -> int:
        match block.get("type"):
            case "text":
                return self.count_text(str(block.get("text", "")))
            case "image" | "document":
                return IMAGE_TOKENS
            case "tool_result" if isinstance(block.get("content"), str):
                return self.count_text(block["content"])
            case "tool_result":
                return sum(self._weigh(inner, canonical(inner)) for inner in objects(block.get("content")))
            case "tool_use":
                return self.count_text(str(block.get("name", ""))) + self.count_text(block.get("input"))
            case _:
                return self.count_text(written)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _common(one: list[bytes], other: list[bytes]) -> int:
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def _is_marked(block: JsonObject) -> bool:
    return "cache_control" in block or any(
        "cache_control" in inner for inner in objects(block.get("content"))
    )


def _unmarked(block: JsonObject) -> JsonObject:
    result = {key: value for key, value in block.items() if key != "cache_control"}
    if isinstance(result.get("content"), list):
        result["content"] = [_unmarked(inner) for inner in objects(result["content"])]
    return result
