"""Server-sent events: bytes of a response in, raw Messages events out.

The SDK's reader swallows pings, which are signs of life, and costs three times the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.reading import is_object

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

EVENT_LIMIT = 64 * 1024 * 1024
"""Bytes that one event may have; more is refused, lest an endless line fill the memory."""


class BrokenStreamError(ValueError):
    """Bytes that are no event of the Messages protocol. The message says what is wrong with them."""


class EventDecoder:
    """Takes chunks of any size; knows LF, CRLF and CR, comments, and data in several lines."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._held = 0
        self._after_return = False
        self._first = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[JsonObject]:
        """The events that this chunk completes. Raises BrokenStreamError."""
        if self._after_return and chunk:
            chunk = chunk.removeprefix(b"\n")  # the second half of a CRLF
            self._after_return = False
        if b"\r" in chunk:
            self._after_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._held += len(chunk)
        if self._held > EVENT_LIMIT:
            raise BrokenStreamError(f"an event of more than {EVENT_LIMIT // 1024 // 1024} MB")
        if b"\n" not in chunk:
            self._pieces.append(chunk)
            return []
        *lines, rest = b"".join((*self._pieces, chunk)).split(b"\n")
        self._pieces = [rest]
        events: list[JsonObject] = []
        for line in lines:
            if line:
                self._take(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        if events:
            self._held = len(rest)
        return events

    def _take(self, line: bytes) -> None:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise BrokenStreamError(f"bytes that are not UTF-8 ({error.reason})") from None
        if self._first:
            self._first = False
            text = text.removeprefix("\ufeff")
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "error":  # a server that names the field, not the event
            self._name, self._data = "error", [value]

    def _dispatch(self) -> JsonObject | None:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        if not data.strip() or data.strip() == "[DONE]":
            return {"type": "ping"} if name == "ping" else None
        try:
            value = jsontext.parse(data)
        except ValueError as error:
            if name == "error":
                return {"type": "error", "error": {"message": data}}
            if name == "ping":
                return {"type": "ping"}
            raise BrokenStreamError(f"an event that is not JSON ({error})") from None
        return _as_event(name, value)


def _as_event(name: str, value: JsonValue) -> JsonObject:
    """Give the event its type where the endpoint left it out."""
    if not is_object(value):
        return {"type": name or "unknown", "data": value}
    if name == "error" or (value.get("error") and not isinstance(value.get("type"), str)):
        return {**value, "type": "error"} if "error" in value else {"type": "error", "error": value}
    return value if isinstance(value.get("type"), str) else {**value, "type": name or "unknown"}
