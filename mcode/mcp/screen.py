"""Checks every message between a server and the library, and holds back what could do harm.

Answers nobody asked for, floods, requests we do not serve and entries the library would fail on are taken out here;
what is taken out is counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.mcp.parts import PART, Parts, is_own
from mcode.model.reading import is_list, is_object, objects_in, text_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject, JsonValue

PER_SECOND = 100
"""Notifications and requests of a server that are looked at further, each second; the rest is dropped."""

BURST = 200

METHOD_NOT_FOUND = -32601
UNREADABLE = -32700

CHANGES = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}

PARTS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
"""Kinds of content that are known, with the members of text that each must have."""


@dataclass(slots=True)
class Traffic:
    """What was wrong with what a server sent, counted over one connection."""

    noise: int = 0
    """Lines that are no messages."""
    bad_text: int = 0
    """Lines with bytes that are not UTF-8."""
    too_long: int = 0
    """Lines longer than is read."""
    stray: int = 0
    """Answers to nothing that waits: unknown, repeated or late."""
    dropped: int = 0
    """Notifications and requests beyond what is looked at."""
    refused: int = 0
    """Requests of the server that mcode does not serve."""

    def in_words(self) -> str:
        """What was counted, for people; empty where nothing was wrong."""
        counts = (
            (self.noise, "lines that are no messages"),
            (self.bad_text, "lines that are not UTF-8"),
            (self.too_long, "lines too long to read"),
            (self.stray, "answers to nothing that waited"),
            (self.dropped, "messages beyond what is looked at each second"),
            (self.refused, "requests that mcode does not serve"),
        )
        return "; ".join(f"{what}: {count:,}" for count, what in counts if count)


@dataclass(frozen=True, slots=True)
class Sifted:
    """What becomes of one message of the server."""

    forward: JsonObject | None = None
    """For the library."""
    reply: JsonObject | None = None
    """Back to the server, without the library."""


NOTHING = Sifted()


@dataclass(slots=True)
class Screen:
    """Looks at every message of one connection."""

    serves: frozenset[str]
    """Methods that the server may call."""
    on_change: Callable[[str], None]
    """Told `tools`, `prompts` or `resources` when the server says that such a list has changed."""
    on_log: Callable[[str], None] = lambda _: None
    """Told what the server logs through the protocol."""
    traffic: Traffic = field(default_factory=Traffic)
    listed: list[JsonObject] = field(default_factory=list["JsonObject"])
    """Tools as the server describes them, of all pages since `begin_listing`."""
    malformed: list[str] = field(default_factory=list[str])
    """Names of entries of the list that are no tools at all."""
    splits: bool = False
    """Whether a page of very many tools is handed on in parts: the library takes 30 ms for each thousand.
    Over HTTP the guard does that, for there the library reads the whole answer first."""
    modern: bool = False
    """Whether the protocol lets a structured result be anything but an object."""
    _parts: Parts = field(default_factory=Parts)
    _pending: dict[int | str, str] = field(default_factory=dict[int | str, str])
    """Method of each request of ours that waits."""
    _budget: float = BURST
    _filled: float = field(default_factory=time.monotonic)

    def begin_listing(self) -> None:
        """Forget the tools of the list before."""
        self.listed, self.malformed = [], []

    def outgoing(self, message: JsonObject) -> JsonObject | None:
        """Take note of a message of ours; returns the answer where the screen itself has it."""
        method, identifier = text_field(message, "method"), message.get("id")
        if self.splits and is_own(message):
            return self._parts.answer(message)
        if method and identifier is not None:
            self._pending[_key(identifier)] = method
        elif method == "notifications/cancelled":
            params: JsonObject = message.get("params") or {}
            self._pending.pop(_key(params.get("requestId")), None)
        return None

    def incoming(self, message: JsonObject) -> Sifted:
        """Decide on a message of the server; its members may be replaced."""
        method, identifier = text_field(message, "method"), message.get("id")
        if not method:
            return self._answer(message, identifier)
        if identifier is not None:
            return self._request(message, method, identifier)
        return self._notification(message, method)

    def unreadable(self, identifier: int | str | None, why: str, *, guess: bool) -> JsonObject | None:
        """An error for the request that a line which cannot be read was to answer, where that can be told.

        `guess`: the line can only be an answer, so it is that of the one request that waits.
        """
        if identifier is None or _key(identifier) not in self._pending:
            if not guess or len(self._pending) != 1:
                return None
            identifier = next(iter(self._pending))
        self._pending.pop(_key(identifier), None)
        return {"jsonrpc": "2.0", "id": identifier, "error": {"code": UNREADABLE, "message": why}}

    def waits(self, identifier: JsonValue) -> bool:
        """Whether a request of ours has no answer yet."""
        return _key(identifier) in self._pending

    def _answer(self, message: JsonObject, identifier: JsonValue) -> Sifted:
        method = self._pending.pop(_key(identifier), None)
        if method is None:
            self.traffic.stray += 1
            return NOTHING
        result = message.get("result")
        if is_object(result):
            if method == "tools/list":
                self._take_tools(result)
            elif method == "tools/call":
                self._mend_result(result)
        return Sifted(forward=message)

    def _request(self, message: JsonObject, method: str, identifier: JsonValue) -> Sifted:
        if not self._within_budget():
            return NOTHING
        if method == "ping":
            return Sifted(reply={"jsonrpc": "2.0", "id": identifier, "result": {}})
        if method in self.serves:
            return Sifted(forward=message)
        self.traffic.refused += 1
        error = {"code": METHOD_NOT_FOUND, "message": f"mcode does not serve {method[:100]}"}
        return Sifted(reply={"jsonrpc": "2.0", "id": identifier, "error": error})

    def _notification(self, message: JsonObject, method: str) -> Sifted:
        if method in CHANGES:
            self.on_change(CHANGES[method])
            return NOTHING
        if not self._within_budget():
            return NOTHING
        if method == "notifications/message":
            self.on_log(_log_line(message.get("params")))
            return NOTHING
        return Sifted(forward=message)

    def _within_budget(self) -> bool:
        now = time.monotonic()
        self._budget = min(BURST, self._budget + (now - self._filled) * PER_SECOND)
        self._filled = now
        if self._budget < 1:
            self.traffic.dropped += 1
            return False
        self._budget -= 1
        return True

    def _take_tools(self, result: JsonObject) -> None:
        """Keep the tools as they were sent; the library gets only what it cannot stumble over."""
        passed: list[JsonValue] = []
        for tool in _listed(result.get("tools")):
            name = tool.get("name") if is_object(tool) else None
            if not is_object(tool) or not isinstance(name, str):
                self.malformed.append(str(name)[:100])
                continue
            self.listed.append(tool)
            schema = tool.get("inputSchema")
            # Headers that a call must repeat are named deep in the schema (2026-07-28, HTTP): it is left whole then.
            whole = is_object(schema) and schema.get("type") == "object" and "x-mcp-header" in str(schema)
            passed.append({"name": name, "inputSchema": schema if whole else {"type": "object"}})
        if self.splits and len(passed) > PART:
            self._parts.begin(result, passed)
        else:
            result["tools"] = passed

    def _mend_result(self, result: JsonObject) -> None:
        """Make the result of a call one that the library takes, whatever is in it."""
        if "content" in result:
            result["content"] = [_known_part(part) for part in _listed(result["content"])]
        structured = result.get("structuredContent")
        if structured is not None and not self.modern and not is_object(structured):
            result["structuredContent"] = {"result": structured}


def _known_part(part: JsonValue) -> JsonObject:
    """A part of a result, or a note in its place where the library would refuse the whole result for it."""
    kind = text_field(part, "type")
    if is_object(part) and kind in PARTS and all(isinstance(part.get(key), str) for key in PARTS[kind]):
        if kind != "resource":
            return {key: value for key, value in part.items() if key not in ("annotations", "_meta", "icons")}
        held = part.get("resource")
        if is_object(held) and text_field(held, "uri") and ("text" in held or "blob" in held):
            return {"type": "resource", "resource": held}
    return {"type": "text", "text": f"[content of the unknown or broken kind {kind[:40]!r} is left out]"}


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if is_list(value) else objects_in([value])


def _log_line(params: JsonValue) -> str:
    data = params.get("data") if is_object(params) else None
    return f"{text_field(params, 'level')} {str(data)[:1000]}"


def _key(identifier: JsonValue) -> int | str:
    """Ids as the library compares them: digits in quotes are the number."""
    if isinstance(identifier, int):
        return identifier
    text = str(identifier)
    return int(text) if text.isdecimal() and len(text) < 16 else text
