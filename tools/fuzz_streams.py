"""Mutated streams of a model: nothing crashes, and no call runs of a message that did not end as it should.

    python -m tools.fuzz_streams [--count N] [--first SEED]

Each seed makes one stream wrong, as events or as bytes in chunks, and takes it the way of a real answer: decoder,
assembler, retries (without their waits), history. One line of result; the code is 0 where nothing was found.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import random
import sys
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode import jsontext
from mcode.agent.history import History
from mcode.model.client import Failure, FailureClass, ModelFailure, ModelInfo
from mcode.model.retry import Surroundings, complete
from mcode.model.sse import BrokenStreamError, EventDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from mcode.jsontext import JsonObject
    from mcode.model.messages import AssembledMessage

PARTS = ("content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop")

ODD: tuple[Any, ...] = (
    *(None, 0, 1, "", [], [1], {}, {"a": 1}),
    *("x" * 300, '{"', "end_turn", float("nan"), "\ud800"),
)
ODD_INDEXES: tuple[Any, ...] = (0, 1, 2, 7, -1, None, "0", True, 1.5, [], {})


def sound_events() -> list[JsonObject]:
    """A whole answer with thinking, words and two calls."""
    blocks: list[tuple[JsonObject, list[JsonObject]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "Hm."},
                {"type": "signature_delta", "signature": "sig"},
            ],
        ),
        (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": "Lóoking "}, {"type": "text_delta", "text": "↯."}],
        ),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}},
            [
                {"type": "input_json_delta", "partial_json": '{"command": "to'},
                {"type": "input_json_delta", "partial_json": 'uch PWN"}'},
            ],
        ),
        (
            {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"file_path": "/x"}'}],
        ),
    ]
    message: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    events: list[JsonObject] = [
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 3}}}
    ]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        }
    )
    return [*events, {"type": "message_stop"}]


def is_proper(events: Sequence[JsonObject]) -> bool:
    """An independent, strict reading of the protocol: may calls of this stream run?"""
    state, opened, closed, reason = "before", set[int](), set[int](), None
    for event in events:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start" and state == "before":
            state = "in"
        elif kind in ("message_start", "error") or (state == "before" and kind in PARTS):
            return False
        elif kind == "content_block_start":
            if not isinstance(index, int) or index in opened or reason is not None:
                return False
            opened.add(index)
        elif kind == "content_block_delta":
            if index not in opened or not isinstance(event.get("delta"), dict) or reason is not None:
                return False
        elif kind == "content_block_stop":
            if index not in opened and index not in closed:
                return False
            opened.discard(index)
            closed.add(index)
        elif kind == "message_delta":
            given_reason = event.get("delta", {}).get("stop_reason")
            reason = reason if given_reason is None else given_reason
        elif kind == "message_stop":
            return not opened and reason == "tool_use"
    return False


def mutated(events: Sequence[JsonObject], chance: random.Random) -> list[JsonObject]:
    """The stream with a few things done to it that networks, proxies and bugs do."""
    changed = copy.deepcopy(list(events))
    for _ in range(chance.randint(1, 4)):
        if changed:
            _mutate(changed, chance)
    return changed


def _mutate(events: list[JsonObject], chance: random.Random) -> None:
    at, other = chance.randrange(len(events)), chance.randrange(len(events))
    event = events[at]
    match chance.randrange(9):
        case 0:
            del events[at]
        case 1:
            events.insert(at, copy.deepcopy(events[other]))
        case 2:
            del events[at:]
        case 3:
            events[at], events[other] = events[other], events[at]
        case 4:
            event["index"] = chance.choice(ODD_INDEXES)
        case 5:
            event[chance.choice(list(event) or ["type"])] = copy.deepcopy(chance.choice(ODD))
        case 6:
            inner: Any = event.get("delta") or event.get("content_block") or event.get("message") or {}
            if isinstance(inner, dict) and inner:
                inner[chance.choice(list(inner))] = copy.deepcopy(chance.choice(ODD))  # pyright: ignore[reportUnknownArgumentType] -- any JSON
        case 7:
            kind = chance.choice(["error", "new", "ping", None, 3])
            events.insert(at, {"type": kind, "error": {"type": "x"}})
        case _:
            event.pop(chance.choice(list(event) or ["type"]), None)


def as_bytes(events: Sequence[JsonObject]) -> bytes:
    """The stream as an endpoint writes it."""
    return b"".join(
        b"event: %s\ndata: %s\n\n"
        % (str(event.get("type")).encode("utf-8", "replace"), json.dumps(event).encode())
        for event in events
    )


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """Bytes with pieces lost, doubled, changed or put in."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 2, 7, 60, 400)))
        match chance.randrange(7):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:end] + data[at:]
            case 2:
                data = data[:at]
            case 3:
                data = data[:at] + bytes(chance.randrange(256) for _ in range(end - at)) + data[end:]
            case 4:
                junk = (
                    b"\r",
                    b"\r\n\r\n",
                    b"\n\n",
                    b"\x00",
                    b"\xff",
                    b": ping\n\n",
                    b"data: \n",
                    b"data: [DONE]\n\n",
                )
                data = data[:at] + chance.choice(junk) + data[at:]
            case 5:
                data = data.replace(b"\n", chance.choice((b"\r\n", b"\r")))
            case _:
                data = data[:at] + chance.choice((b'"', b"{", b"}", b"\\", b",", b"\\ud800")) + data[at:]
    return data


@dataclass
class Stream:
    """A model client whose every answer is one mutated stream."""

    seed: int
    name: str = "fuzz"
    played: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The events of the last answer, as far as they were read."""
    attempts: int = 0

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        """Play the seed's stream; another one at each attempt."""
        del body
        chance = random.Random(self.seed * 16 + self.attempts)
        self.attempts += 1
        self.played = []
        events = mutated(sound_events(), chance) if self.seed % 2 else sound_events()
        if self.seed % 2 and self.seed % 10 != 1:
            for event in events:
                self.played.append(event)
                yield event
            return
        data = mutated_bytes(as_bytes(events), chance)
        decoder = EventDecoder()
        while data:
            size = chance.choice((1, 5, 40, 300, 5000))
            chunk, data = data[:size], data[size:]
            try:
                decoded = decoder.feed(chunk)
            except BrokenStreamError as error:
                kind = FailureClass.CUT if self.played else FailureClass.RETRY
                raise ModelFailure(Failure(kind, str(error))) from error
            for event in decoded:
                self.played.append(event)
                yield event

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def close(self) -> None:
        pass


@dataclass
class Found:
    """What came of many streams."""

    streams: int = 0
    answers: int = 0
    """Attempts included."""
    whole: int = 0
    """Streams whose calls may run, being sound after all."""
    failed: int = 0
    faults: list[str] = field(default_factory=list[str])


async def run(count: int, first: int = 0) -> Found:
    """Play so many streams."""
    found = Found()
    clock = [0.0]

    async def sleep(seconds: float) -> None:
        clock[0] += seconds

    surroundings = Surroundings(clock=lambda: clock[0], sleep=sleep, chance=lambda: 0.5)
    for seed in range(first, first + count):
        stream = Stream(seed)
        found.streams += 1
        try:
            message = await complete(stream, {"messages": []}, surroundings=surroundings)
            found.whole += check_message(message, stream.played)
        except ModelFailure:
            found.failed += 1
        except Exception:  # noqa: BLE001 -- any of them is what is looked for
            found.faults.append(f"seed {seed}: {traceback.format_exc(limit=-3)}")
        found.answers += stream.attempts
    return found


def check_message(got: AssembledMessage, events: Sequence[JsonObject]) -> bool:
    """Check one message against its stream; True where its calls may run. Raises ValueError where it is wrong."""
    runs = bool(got.uses) and got.complete
    if runs and not is_proper(events):
        raise ValueError("calls would run from an improper stream")
    wire = jsontext.dump(got.message).encode()
    if jsontext.parse(wire.decode())["role"] != "assistant":
        raise ValueError("the message cannot be sent back")
    blocks = [block for block in got.message["content"] if block.get("type") == "tool_use"]
    if [(block["id"], block["input"]) for block in blocks] != [(use.id, use.arguments) for use in got.uses]:
        raise ValueError("what is stored is not what would run")
    history = History()
    history.apply("user", {"turn": 1, "content": [{"type": "text", "text": "go"}]})
    history.apply("assistant", {"message": got.message, "complete": got.complete, "problem": got.problem})
    history.apply("user", {"turn": 2, "content": [{"type": "text", "text": "on"}]})
    roles = [message["role"] for message in history.messages]
    if roles != ["user", "assistant", "user"]:
        raise ValueError(f"the history is not valid: {roles}")
    open_uses = {block["id"] for block in history.messages[1]["content"] if block.get("type") == "tool_use"}
    answered = {block.get("tool_use_id") for block in history.messages[2]["content"]} - {None}
    if open_uses != answered:
        raise ValueError("the history has calls without results")
    return runs


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Play mutated streams.")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    found = asyncio.run(run(given.count, given.first))
    for fault in found.faults[:10]:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(
        f"mutated streams: {found.streams} ({found.answers} answers; {found.whole} stayed sound, {found.failed} gave "
        f"nothing), {len(found.faults)} crashes or calls from incomplete messages\n"
    )
    return 1 if found.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
