"""An answer in the making: events, their bytes, the steps of sending. Faults change it on its way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.jsontext import JsonObject, dump
from mcode.model.script import ScriptError
from tools.messages_server.response import End, Pause, Response, Send, Step

if TYPE_CHECKING:
    from collections.abc import Callable

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


@dataclass(slots=True)
class Encoding:
    """How an event is written as bytes."""

    line_end: bytes = b"\n"
    named: bool = True
    """Whether the `event:` line is written."""
    split_data: bool = False
    """Whether the data is spread over several `data:` lines."""
    comment: bytes = b""
    """A comment line before each event; empty: none."""

    def frame(self, event: JsonObject) -> bytes:
        """One event as bytes: name, data, blank line."""
        lines = [self.comment] if self.comment else []
        if self.named:
            lines.append(b"event: " + _bytes(str(event.get("type", ""))))
        lines += [b"data: " + part for part in self._data(event)]
        return self.line_end.join([*lines, b"", b""])

    def _data(self, event: JsonObject) -> list[bytes]:
        # A line end is white space to JSON, so only cuts between tokens leave the data as it was.
        return _bytes(_spread(event) if self.split_data else dump(event)).split(b"\n")


@dataclass(slots=True)
class Draft:
    """What will be sent, stage by stage."""

    events: list[JsonObject]
    message: JsonObject
    """The whole message that the events tell."""
    pace: float = 0.0
    """Seconds before each delta but the first."""
    error: Callable[[str], JsonObject] = field(
        default=lambda kind: {"type": "error", "error": {"type": kind}}
    )
    """Makes an `error` event of an `error.type`."""
    encoding: Encoding = field(default_factory=Encoding)
    frames: list[bytes] = field(default_factory=list[bytes])
    """The bytes of each event, in the order of `events`."""
    steps: list[Step] = field(default_factory=list[Step])
    response: Response | None = None
    """Stands for the whole stream, where a fault replaces it."""
    end: End = End.CLEAN
    packet: int | None = None
    headless: bool = False
    deaf: float | None = None

    def encode(self) -> None:
        """Write the events as bytes."""
        self.frames = [self.encoding.frame(event) for event in self.events]

    def schedule(self) -> None:
        """Make steps of the frames: one write an event."""
        begun = False
        for event, frame in zip(self.events, self.frames, strict=True):
            delta = event.get("type") == "content_block_delta"
            if delta and begun and self.pace:
                self.steps.append(Pause(self.pace))
            begun = begun or delta
            self.steps.append(Send(frame))

    def finish(self, delay: float) -> Response:
        """The response that carries all this."""
        base = self.response or Response(headers=dict(STREAM_HEADERS), steps=tuple(self.steps))
        return Response(
            status=base.status,
            headers=base.headers,
            body=base.body,
            steps=base.steps,
            end=self.end,
            packet=self.packet,
            headless=self.headless,
            deaf=self.deaf,
            delay=delay,
        )

    def find(self, fits: Callable[[JsonObject], bool], what: str) -> int:
        """Position of the first event that fits. Raises ScriptError where there is none."""
        for at, event in enumerate(self.events):
            if fits(event):
                return at
        raise ScriptError(f"the reply has no {what}, which the fault needs")

    def find_kind(self, kind: str) -> int:
        """Position of the first event of a type."""
        return self.find(lambda event: event.get("type") == kind, f"event `{kind}`")

    def find_block(self, kind: str) -> int:
        """Position of the start of the first block of a type."""
        return self.find(
            lambda event: (
                event.get("type") == "content_block_start" and event["content_block"]["type"] == kind
            ),
            f"{kind} block",
        )

    def send_position(self, number: int) -> int:
        """Position in the steps behind the write of event `number`, from 1."""
        sends = [at for at, step in enumerate(self.steps) if isinstance(step, Send)]
        if not 1 <= number <= len(sends):
            raise ScriptError(
                f"the reply has {len(sends)} events, so nothing can happen after event {number}"
            )
        return sends[number - 1] + 1


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no bytes of its own; JSON can only send it as an escape.
        return b"".join(
            char.encode() if not "\ud800" <= char <= "\udfff" else b"\\u%04x" % ord(char) for char in text
        )


def _spread(event: JsonObject) -> str:
    import json

    return json.dumps(event, ensure_ascii=False, indent=0)
