"""What the server has sent before and must get back unchanged: thinking, redacted thinking, unknown blocks."""

from __future__ import annotations

from mcode.jsontext import JsonObject, canonical
from mcode.model.script import signature_of

KNOWN_ASSISTANT_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})


class Issued:
    """Remembers the blocks of every message that was sent whole or in part."""

    def __init__(self) -> None:
        self._thinking: dict[str, str] = {}
        self._redacted: set[str] = set()
        self._unknown: set[str] = set()
        self._before_use: dict[str, list[str]] = {}

    def remember(self, message: JsonObject) -> None:
        """Keep what a later request must bring back."""
        bound: list[str] = []
        for block in message["content"]:
            match block["type"]:
                case "thinking":
                    self._thinking[block["signature"]] = block["thinking"]
                    bound.append(block["signature"])
                case "redacted_thinking":
                    self._redacted.add(block["data"])
                    bound.append(block["data"])
                case "tool_use":
                    self._before_use[block["id"]] = list(bound)
                case kind if kind not in KNOWN_ASSISTANT_BLOCKS:
                    self._unknown.add(canonical(block))
                case _:
                    pass

    def problem_of(self, block: JsonObject) -> str:
        """Why a thinking block in a request is refused, or nothing."""
        if block.get("type") == "redacted_thinking":
            data = block.get("data")
            return "" if isinstance(data, str) and data else "Field required: data"
        words, signature = block.get("thinking"), block.get("signature")
        if not isinstance(words, str):
            return "Field required: thinking"
        if not isinstance(signature, str) or not signature:
            return "Field required: signature"
        if self._thinking.get(signature) == words or signature == signature_of(words):
            return ""
        return "Invalid `signature` in `thinking` block"

    def sent(self, block: JsonObject) -> bool:
        """True where a block of unknown type came from us."""
        return canonical(block) in self._unknown

    def missing_before(self, use_id: str, present: list[str]) -> bool:
        """True where the thinking that we sent before a call is not what the request has before it."""
        expected = self._before_use.get(use_id)
        return expected is not None and present != expected
