"""Hands very long tool lists to the library in parts, since it handles an answer in one step of the event loop."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.reading import is_list, is_object, text_field

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

    from mcode.jsontext import JsonObject, JsonValue

PART = 500
"""Tools that are handed on at once."""

OWN_CURSOR = f"mcode-part-{os.urandom(8).hex()}-"
"""No server is ever sent it, so none can give it back as its own and have us ask ourselves for ever."""

LARGE = 256 * 1024
"""Bytes of an answer from which a thread reads it."""


def is_own(message: JsonObject) -> bool:
    """Whether a request of ours asks for the next part, which the server knows nothing of."""
    cursor = text_field(message.get("params"), "cursor")
    return text_field(message, "method") == "tools/list" and cursor.startswith(OWN_CURSOR)


@dataclass(slots=True)
class Parts:
    """What of one list the library has not asked for yet."""

    _rest: list[JsonValue] = field(default_factory=list["JsonValue"])
    _next_cursor: JsonValue = None
    """What follows them at the server."""

    def begin(self, result: JsonObject, tools: list[JsonValue]) -> None:
        """Put the first part of these tools into the result."""
        self._rest, self._next_cursor = tools, result.get("nextCursor")
        self.fill(result)

    def fill(self, result: JsonObject) -> JsonObject:
        """Put the next part into a result, with the cursor that leads on."""
        result["tools"], self._rest = self._rest[:PART], self._rest[PART:]
        if self._rest:
            result["nextCursor"] = f"{OWN_CURSOR}{len(self._rest)}"
        elif self._next_cursor is not None:
            result["nextCursor"] = self._next_cursor
        else:
            result.pop("nextCursor", None)
        return result

    def answer(self, message: JsonObject) -> JsonObject:
        """The answer to a request for the next part."""
        return {"jsonrpc": "2.0", "id": message.get("id"), "result": self.fill({"tools": []})}

    async def cut(self, stream: AsyncIterable[bytes], limit: int, *, events: bool) -> AsyncIterator[bytes]:
        """The body of an answer with the first part of a large list in place of all of it; any other body as it is.

        `limit`: bytes of an answer, or of one event, beyond which it is not looked at.
        """
        held = b""
        async for chunk in stream:
            held += chunk
            while events and (end := _end_of_event(held)):
                yield await self._light(held[:end], events=True)
                held = held[end:]
            if len(held) > limit:
                yield held
                held = b""
        if held:
            yield await self._light(held, events=events)

    async def _light(self, body: bytes, *, events: bool) -> bytes:
        return body if len(body) < LARGE else await asyncio.to_thread(self._cut, body, events)

    def _cut(self, body: bytes, events: bool) -> bytes:
        lines = body.splitlines() if events else [b"data:" + body]
        try:
            value = json.loads(b"\n".join(line[5:] for line in lines if line.startswith(b"data:")))
        except (ValueError, RecursionError):
            return body
        result = value.get("result") if is_object(value) else None
        tools = result.get("tools") if is_object(result) else None
        if not is_object(result) or not is_list(tools) or len(tools) <= PART:
            return body
        self.begin(result, tools)
        data = jsontext.dump(value).encode()
        if not events:
            return data
        others = [line for line in lines if line and not line.startswith(b"data:")]
        return b"\n".join([*others, b"data: " + data, b"", b""])


def _end_of_event(held: bytes) -> int:
    """Bytes up to the end of the first event; 0 where it is not there yet."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if (at := held.find(mark)) >= 0]
    return min(ends, default=0)
