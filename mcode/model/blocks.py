"""One content block while it streams, and what is stored of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.reading import heal, is_list, is_object, sound, text_field

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks whose input streams as JSON. Only `tool_use` is a call of ours."""

TEXT_KEYS = {"text": "text", "thinking": "thinking", "compaction": "content"}
"""Block types whose main text streams, and the field that holds it."""

DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "compaction_delta": "content",
}
"""Deltas that carry text: the field has the same name in the delta and in the block."""

DELTAS_OF = {
    "text": frozenset({"text_delta", "citations_delta"}),
    "thinking": frozenset({"thinking_delta", "signature_delta"}),
    "redacted_thinking": frozenset[str](),
    "compaction": frozenset({"compaction_delta"}),
    **dict.fromkeys(CALL_TYPES, frozenset({"input_json_delta"})),
}
"""Deltas that each known type takes; a type that is not here takes all."""

EXCERPT = 160
"""Characters of unreadable input that its fault shows."""

_LONE_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"|-?Infinity|NaN')


class MisplacedDelta(Exception):  # noqa: N818 -- a finding, not an error of ours
    """A delta belongs to another kind of block: a call's input may have lost a piece."""


class OpenBlock:
    """A block that grows. Text is kept in pieces and joined once, at the end."""

    def __init__(self, start: JsonObject, position: int) -> None:
        """`start` is the `content_block` of its start event; it is not changed."""
        kind = start.get("type")
        self.type = kind if isinstance(kind, str) else ""
        self.position = position
        """Position in the message, from 0."""
        self.closed = False
        self._start = start
        self._pieces: dict[str, list[str]] = {}
        self._fragments: list[str] = []
        self._citations: list[JsonValue] = []

    @property
    def is_call(self) -> bool:
        """True for a call of one of our tools."""
        return self.type == "tool_use"

    @property
    def is_thinking(self) -> bool:
        return self.type in ("thinking", "redacted_thinking")

    @property
    def name(self) -> str:
        """The tool's name, empty where none came or the block is no call."""
        return heal(text_field(self._start, "name"))

    @property
    def first_text(self) -> str:
        """Text that came with the start already."""
        return text_field(self._start, TEXT_KEYS.get(self.type, ""))

    @property
    def has_content(self) -> bool:
        """True where the block shows something."""
        return (
            self.is_call or bool(self.first_text) or any(self._pieces.get(TEXT_KEYS.get(self.type, ""), ()))
        )

    def grow(self, change: JsonObject) -> str | None:
        """Take a delta; returns its text, or None where it is not understood. Raises MisplacedDelta."""
        kind = change.get("type")
        if not isinstance(kind, str):
            return None
        takes = DELTAS_OF.get(self.type)
        if takes is not None and kind not in takes:
            if kind == "input_json_delta" or (self.type in CALL_TYPES and kind in DELTA_FIELDS):
                raise MisplacedDelta
            return None
        if kind == "input_json_delta":
            return _append(self._fragments, change.get("partial_json"))
        if kind == "citations_delta":
            self._citations.append(change.get("citation"))
            return ""
        field = DELTA_FIELDS.get(kind)
        if field is None:
            return None
        text = _append(self._pieces.setdefault(field, []), change.get(field))
        return "" if field == "signature" and text else text

    def build(self) -> tuple[JsonObject, str | None]:
        """The block as it is stored, and why its input cannot be used.

        A block whose input cannot be used is stored with an empty input, so that it can be sent back.
        """
        block = dict(self._start)
        for field, pieces in self._pieces.items():
            block[field] = heal(text_field(block, field) + "".join(pieces))
        if self._citations:
            given = block.get("citations")
            block["citations"] = [*(given if is_list(given) else ()), *self._citations]
        if self.type not in CALL_TYPES and not self._fragments:
            return block, None
        block["input"], fault = self._input()
        if self.type in CALL_TYPES:
            block["name"] = self.name or "unnamed"
            if not self.name:
                block["input"] = {}
                fault = "A call came without a tool's name. Nothing was run. Send it again and name the tool."
        return block, fault

    def _input(self) -> tuple[JsonObject, str | None]:
        raw = heal("".join(self._fragments))
        if not self.closed:
            return {}, self._fault(raw, "the message broke off inside it")
        if not raw.strip():
            given = self._start.get("input")
            if isinstance(given, str):
                raw = given
            elif given is None or is_object(given):
                return self._checked(given or {}, "")
            else:
                return {}, self._fault(
                    jsontext.dump(sound(given)), f"expected an object, got {jsontext.kind_of(given)}"
                )
        if not raw.strip():
            return {}, None
        try:
            value = jsontext.parse_object(raw)
        except jsontext.JsonError as error:
            return {}, self._fault(raw, _with_position(str(error), raw))
        except ValueError:
            return {}, self._fault(raw, "it holds a number that is out of range")
        return self._checked(value, raw)

    def _checked(self, value: JsonObject, raw: str) -> tuple[JsonObject, str | None]:
        """Refuse what reads as JSON but cannot be written as such: numbers beyond range, half characters."""
        try:
            jsontext.dump(value).encode()
        except UnicodeEncodeError:
            return {}, self._fault(raw, "it holds half of a surrogate pair")
        except ValueError:
            return {}, self._fault(raw, "it holds a number that is out of range")
        return value, None

    def _fault(self, raw: str, reason: str) -> str:
        arrived = raw if len(raw) <= EXCERPT else f"{raw[: EXCERPT // 2]} … {raw[-EXCERPT // 2 :]}"
        seen = f"What arrived: `{arrived}`. " if arrived.strip() else ""
        return (
            f"The input of this call to {self.name or 'a tool'} could not be read: {reason}. {seen}"
            "The call was not run and nothing was changed. "
            "Send it again with one complete JSON object as input."
        )


def _append(pieces: list[str], text: JsonValue) -> str | None:
    if not isinstance(text, str):
        return None
    pieces.append(text)
    return text


def _with_position(reason: str, raw: str) -> str:
    """Say where, if the parser did not: NaN and Infinity are refused without a position."""
    if " at character " in reason or "is not JSON" not in reason:
        return reason
    found = next((match for match in _LONE_WORD.finditer(raw) if not match[0].startswith('"')), None)
    return reason if found is None else f"{reason} at character {found.start()}"
