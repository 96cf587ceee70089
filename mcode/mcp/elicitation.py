"""A server asks the user in the middle of a call: its form as questions at the desk, the answers checked."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.model.reading import is_list, is_object, objects_in, text_field
from mcode.text import Kind, clean
from mcode.tool import Choice, Question

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.tool import ToolServices

FIELDS = 10
"""Questions of one form at most."""

PROGRESS_APART = 0.1
"""Seconds between two lines of progress on a card."""

LEAVE_OUT = "(leave it out)"
OPENED = "I have opened it and am done"
DECLINE = "Decline"


@dataclass(slots=True)
class Asker:
    """What a server can reach of the user through one call: lines on its card, and questions."""

    server: str
    services: ToolServices
    _told: float = field(default=-math.inf)

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Show how far the call is. A flood is thinned out."""
        now = time.monotonic()
        if now - self._told < PROGRESS_APART:
            return
        self._told = now
        share = f"{done:g} of {total:g}" if total else f"{done:g}"
        line = f"{share}  {message}" if message else share
        self.services.progress(clean(line, Kind.LINE)[:200])

    async def elicit(self, params: JsonObject) -> JsonObject:
        """Put the question; returns the protocol's answer: accept with content, decline or cancel."""
        message = clean(text_field(params, "message"), Kind.BLOCK)[:2000]
        if text_field(params, "mode") == "url":
            return await self._ask_to_open(message, text_field(params, "url"))
        fields = _fields(params.get("requestedSchema"))
        head = f"The MCP server {self.server} asks: {message}"
        if not fields:
            answers = await self.services.ask([Question(head, self.server, (Choice("Yes"), Choice("No")))])
            agreed = answers is not None and answers[0][:1] == ("Yes",)
            return {"action": "accept", "content": {}} if agreed else {"action": "decline"}
        answers = await self.services.ask(
            [_question(head, name, schema, needed) for name, schema, needed in fields]
        )
        if answers is None:
            return {"action": "decline"}
        content: JsonObject = {}
        for (name, schema, needed), given in zip(fields, answers, strict=False):
            value = _value(schema, given)
            if value is None and needed:
                return {"action": "cancel"}
            if value is not None:
                content[name] = value
        return {"action": "accept", "content": content}

    async def _ask_to_open(self, message: str, url: str) -> JsonObject:
        text = f"The MCP server {self.server} asks you to open {clean(url, Kind.DECISION)}\n{message}"
        answers = await self.services.ask([Question(text, self.server, (Choice(OPENED), Choice(DECLINE)))])
        return {"action": "accept" if answers is not None and answers[0][:1] == (OPENED,) else "decline"}


def _fields(schema: JsonValue) -> list[tuple[str, JsonObject, bool]]:
    """Name, schema and necessity of each field of a form."""
    properties = schema.get("properties") if is_object(schema) else None
    required = schema.get("required") if is_object(schema) else None
    if not is_object(properties):
        return []
    needed = set(required) if is_list(required) else set[str]()
    return [(name, each, name in needed) for name, each in properties.items() if is_object(each)][:FIELDS]


def _question(head: str, name: str, schema: JsonObject, needed: bool) -> Question:
    label = clean(text_field(schema, "title") or name, Kind.LINE)[:100]
    about = clean(text_field(schema, "description"), Kind.BLOCK)[:500]
    choices = [Choice(clean(title, Kind.LINE)[:100]) for _, title in _options(schema)]
    if choices and not needed:
        choices.append(Choice(LEAVE_OUT))
    text = "\n".join(part for part in (head, f"{label}: {about}" if about else label) if part)
    return Question(text, label[:30], tuple(choices), several=text_field(schema, "type") == "array")


def _options(schema: JsonObject) -> list[tuple[JsonValue, str]]:
    """Values and titles that a field offers."""
    if text_field(schema, "type") == "boolean":
        return [(True, "Yes"), (False, "No")]
    held = schema.get("items") if is_object(schema.get("items")) else schema
    named = objects_in((held or {}).get("oneOf")) or objects_in((held or {}).get("anyOf"))
    if named:
        return [(each.get("const"), text_field(each, "title") or str(each.get("const"))) for each in named]
    values = (held or {}).get("enum")
    titles = (held or {}).get("enumNames")
    if not is_list(values):
        return []
    shown = titles if is_list(titles) and len(titles) == len(values) else values
    return [(value, str(title)) for value, title in zip(values, shown, strict=True)]


def _value(schema: JsonObject, given: tuple[str, ...]) -> JsonValue:
    """The answer as the field wants it; None where it was left out or does not fit."""
    given = tuple(each for each in given if each and each != LEAVE_OUT)
    options = {clean(title, Kind.LINE)[:100]: value for value, title in _options(schema)}
    if text_field(schema, "type") == "array":
        return [options.get(each, each) for each in given]
    if not given:
        return None
    if options:
        return options.get(given[0])
    kind, text = text_field(schema, "type"), given[0]
    if kind not in ("number", "integer"):
        return text
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else (None if kind == "integer" else number)
