"""Puts a message together from the raw events of a stream.

The endpoint is not trusted to keep the protocol: whatever comes, a message results that can be stored and
sent back, and its calls may run only where the stream was sound from the first event to the last.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mcode.model.blocks import MisplacedDelta, OpenBlock
from mcode.model.reading import heal, is_object, is_whole, sound, text_field

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.model.client import Failure

ENDS_WITHOUT_CALLS = frozenset({"end_turn", "stop_sequence", "pause_turn"})
"""Stop reasons of a message that is whole, where it holds no call."""

OWN_FIELDS = frozenset({"id", "type", "role", "model", "content", "usage"})
"""Fields of a message that its `message_delta` may not set."""

_USABLE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")


class DeltaKind(StrEnum):
    """What grew."""

    TEXT = "text"
    THINKING = "thinking"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the message, to be shown as it comes."""

    kind: DeltaKind
    text: str
    """The new characters; with INPUT raw JSON, and empty where the call begins."""
    block: int
    """Position of the block in the message, from 0."""
    tool: str = ""
    """With INPUT, the tool's name."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that the message asks for."""

    id: str
    """Unique in the session; the stored block has the same."""
    name: str
    """As the model wrote it."""
    arguments: JsonObject
    """Empty where `fault` is set."""
    fault: str | None = None
    """Why the input could not be read, for the model; such a call is answered, never run."""


@dataclass(frozen=True, slots=True)
class AssembledMessage:
    """What came of a stream."""

    message: JsonObject
    """Messages-API shape: id, type, role, model, content, stop_reason, stop_sequence, usage, perhaps more."""
    uses: tuple[ToolUse, ...]
    """Calls in their order; they may run only where `complete`."""
    complete: bool
    """True where the stream was sound and the stop reason lets the message stand as it is."""
    problem: str = ""
    """Why it is not complete: a phrase without a full stop."""
    ended: bool = True
    """True where the stream was sound up to `message_stop`, whatever the stop reason."""
    failure: Failure | None = None
    """What broke the stream, where the endpoint or the connection did."""
    unknown: tuple[JsonObject, ...] = ()
    """Events that were not understood, for the log."""


class MessageAssembler:
    """Takes the events of one stream, in order."""

    def __init__(
        self,
        *,
        used_ids: Collection[str] = (),
        calls_on_end_turn: bool = False,
        fresh_id: Callable[[], str] | None = None,
    ) -> None:
        """`used_ids` are ids of earlier calls of the session; they are read, never changed."""
        self._used_ids = used_ids
        self._calls_on_end_turn = calls_on_end_turn
        self._fresh_id = fresh_id or _random_id
        self._head: JsonObject | None = None
        self._blocks: list[OpenBlock] = []
        self._by_index: dict[int, OpenBlock] = {}
        self._tail: JsonObject = {}
        self._usage: JsonObject = {}
        self._stopped = False
        self._fault = ""
        self._unknown: list[JsonObject] = []

    @property
    def has_content(self) -> bool:
        """True where something came that was shown, or would be."""
        return any(block.has_content for block in self._blocks)

    def feed(self, event: JsonObject) -> tuple[Delta, ...]:
        """Take one event; returns what can be shown of it. Events after `message_stop` change nothing."""
        kind = event.get("type")
        if self._stopped or kind == "ping":
            return ()
        match kind:
            case "content_block_delta":
                return self._grow(event)
            case "content_block_start":
                return self._open(event)
            case "content_block_stop":
                self._close(event)
            case "message_start":
                self._begin(event)
            case "message_delta":
                self._amend(event)
            case "message_stop":
                self._stopped = True
            case "error":
                self._blame("the endpoint reported an error inside the answer")
            case _:
                self._unknown.append(event)
        return ()

    def finish(self, failure: Failure | None = None) -> AssembledMessage:
        """The message as far as it came. `failure` is what broke the stream, where something did."""
        taken: set[str] = set()
        content: list[JsonObject] = []
        uses: list[ToolUse] = []
        for block in self._blocks:
            if block.is_thinking and not block.closed:
                continue  # a thought without its signature would be refused when it is sent back
            built, fault = block.build()
            if block.is_call:
                built["id"] = self._own_id(built.get("id"), taken)
                taken.add(built["id"])
                uses.append(ToolUse(built["id"], built["name"], {} if fault else built["input"], fault))
            content.append(built)
        problem = self._fault_of_stream(failure)
        ended = not problem
        problem = problem or self._fault_of_end(calls=len(uses))
        return AssembledMessage(
            message=self._message(content),
            uses=tuple(uses),
            complete=not problem,
            problem=problem,
            ended=ended,
            failure=None if ended else failure,
            unknown=tuple(sound(event) for event in self._unknown),
        )

    def _begin(self, event: JsonObject) -> None:
        if self._head is not None:
            self._blame("a second message began inside it")
            return
        if self._blocks or self._tail:
            self._blame("its start came after other parts of it")
        message = event.get("message")
        self._head = message if is_object(message) else {}
        self._count(self._head.get("usage"))

    def _open(self, event: JsonObject) -> tuple[Delta, ...]:
        index, start = event.get("index"), event.get("content_block")
        if not is_whole(index) or not is_object(start):
            self._blame("a block began without an index or content")
            self._unknown.append(event)
            return ()
        self._expect_content()
        before = self._by_index.get(index)
        if before is not None and not before.closed:
            self._blame(f"block {index} began again before it had ended")
        block = OpenBlock(start, position=len(self._blocks))
        self._blocks.append(block)
        self._by_index[index] = block
        return _delta(block, block.first_text)

    def _grow(self, event: JsonObject) -> tuple[Delta, ...]:
        index, change = event.get("index"), event.get("delta")
        block = self._by_index.get(index) if is_whole(index) else None
        if block is None or block.closed or not is_object(change):
            self._blame(f"a piece came for block {index!r}, which was not open"[:120])
            self._unknown.append(event)
            return ()
        self._expect_content()
        try:
            text = block.grow(change)
        except MisplacedDelta:
            self._blame(f"a piece of the wrong kind came for block {block.position}")
            text = None
        if text is None:
            self._unknown.append(event)
            return ()
        return _delta(block, text) if text else ()

    def _close(self, event: JsonObject) -> None:
        index = event.get("index")
        block = self._by_index.get(index) if is_whole(index) else None
        if block is None:
            self._blame(f"block {index!r} ended, which had not begun"[:120])
            self._unknown.append(event)
        else:
            block.closed = True

    def _amend(self, event: JsonObject) -> None:
        change = event.get("delta")
        if is_object(change):
            kept = {
                key: value for key, value in change.items() if value is not None and key not in OWN_FIELDS
            }
            self._tail.update(kept)
        self._count(event.get("usage"))

    def _count(self, usage: JsonValue) -> None:
        """Merge usage figures: they are cumulative; some endpoints report one only early, or only late."""
        if not is_object(usage):
            return
        for key, value in usage.items():
            before = self._usage.get(key)
            if is_whole(before) and is_whole(value):
                self._usage[key] = max(before, value)
            elif value is not None or before is None:
                self._usage[key] = value

    def _expect_content(self) -> None:
        if "stop_reason" in self._tail:
            self._blame("content came after its stop reason")

    def _blame(self, fault: str) -> None:
        self._fault = self._fault or fault

    def _fault_of_stream(self, failure: Failure | None) -> str:
        if self._fault:
            return self._fault
        if self._head is None:
            return "nothing came" if not self._blocks else "it came without a start"
        if not self._stopped:
            if failure is None:
                return "the stream ended before the message did"
            return f"the stream broke off ({failure.type})" if failure.type else "the stream broke off"
        for block in self._blocks:
            if not block.closed:
                return f"block {block.position} never ended"
        if not isinstance(self._tail.get("stop_reason"), str):
            return "it ended without a stop reason"
        return ""

    def _fault_of_end(self, calls: int) -> str:
        reason = self._tail["stop_reason"]
        if calls:
            if reason == "tool_use" or (reason == "end_turn" and self._calls_on_end_turn):
                return ""
            return f"it ended with stop reason `{reason[:60]}`, so none of its calls ran"
        if reason in ENDS_WITHOUT_CALLS:
            return ""
        if reason == "tool_use":
            return "its stop reason is `tool_use`, but it holds no call"
        return f"it ended with stop reason `{reason[:60]}`"

    def _message(self, content: list[JsonObject]) -> JsonObject:
        head = self._head or {}
        message: JsonObject = {
            "id": text_field(head, "id") or "msg_" + secrets.token_hex(12),
            "type": "message",
            "role": "assistant",
            "model": text_field(head, "model"),
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
        }
        more = {key: value for key, value in head.items() if key not in message and key != "usage"}
        return sound({**message, **more, **self._tail, "usage": dict(self._usage)})

    def _own_id(self, given: JsonValue, taken: set[str]) -> str:
        if _is_usable_id(given) and given not in taken and given not in self._used_ids:
            return given
        while True:
            fresh = self._fresh_id()
            if fresh not in taken and fresh not in self._used_ids:
                return fresh


def _delta(block: OpenBlock, text: str) -> tuple[Delta, ...]:
    if block.is_call:
        return (Delta(DeltaKind.INPUT, text, block.position, block.name),)
    if not text or block.type not in ("text", "thinking"):
        return ()
    return (Delta(DeltaKind(block.type), heal(text), block.position),)


def _random_id() -> str:
    return "toolu_" + secrets.token_hex(12)


def _is_usable_id(value: JsonValue) -> bool:
    """True for an id that is safe as a key, in a file name and on a line."""
    return isinstance(value, str) and _USABLE_ID.fullmatch(value) is not None
