"""A request as a script looks at it: what the user said last, and what the tools answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from mcode.jsontext import JsonError, JsonObject, JsonValue, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REMINDER = re.compile(r"\s*<([a-zA-Z][\w-]*)[^>]*>.*</\1>\s*\Z", re.DOTALL)
"""A text block that is one element of markup: put there by the program, not typed by the user."""


@dataclass(frozen=True, slots=True)
class Result:
    """One tool result of the conversation, with the use that it answers."""

    tool: str
    """Empty where the conversation holds no use with this id."""
    id: str
    arguments: JsonObject
    text: str
    """The result's text blocks, joined by line ends."""
    is_error: bool

    @property
    def data(self) -> JsonValue:
        """The text read as JSON, or None where it is none."""
        try:
            return parse(self.text)
        except JsonError:
            return None


class RequestView:
    """What a script may ask of one request. Reads the body once, lazily, and never changes it."""

    def __init__(self, body: JsonObject, number: int) -> None:
        self.body = body
        self.number = number
        """Number of the request over the life of the script, from 1."""

    @cached_property
    def messages(self) -> list[JsonObject]:
        """The conversation, as it was sent."""
        return objects(self.body.get("messages"))

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the declared tools, in order."""
        return tuple(str(tool.get("name", "")) for tool in objects(self.body.get("tools")))

    @cached_property
    def user_text(self) -> str:
        """What the user typed last; empty where no message holds a typed text."""
        return "\n\n".join(self.user_parts)

    @cached_property
    def user_parts(self) -> tuple[str, ...]:
        """The text blocks of `user_text`: what the user typed, and perhaps plain notes of hooks beside it."""
        at = self._last_typed
        return () if at is None else tuple(_typed(self.messages[at]))

    @cached_property
    def user_spoke(self) -> bool:
        """True where the user's last text is new: the model has not answered since."""
        at = self._last_typed
        return at is not None and at > self._last_assistant

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The results that are new in this request, in order."""
        return tuple(self._results_after(self._last_assistant))

    @cached_property
    def turn_results(self) -> tuple[Result, ...]:
        """All results since the user's last text, in order."""
        at = self._last_typed
        return tuple(self._results_after(-1 if at is None else at))

    @cached_property
    def all_results(self) -> tuple[Result, ...]:
        """All results of the conversation, in order."""
        return tuple(self._results_after(-1))

    def last_result(self, tool: str | None = None) -> Result | None:
        """The newest result of the conversation, or the newest of one tool."""
        fitting = (result for result in reversed(self.all_results) if tool in (None, result.tool))
        return next(fitting, None)

    @cached_property
    def turns(self) -> int:
        """How many texts the user has typed so far."""
        return sum(1 for message in self.messages if typed_text(message))

    def texts_before_turn(self) -> tuple[str, ...]:
        """All texts of the conversation before the user's last one, newest first."""
        at = self._last_typed
        before = self.messages[: len(self.messages) if at is None else at]
        return tuple(words for message in reversed(before) for words in reversed(_texts(message)))

    def texts_of_turn(self) -> tuple[str, ...]:
        """All texts of the model since the user's last one, oldest first."""
        at = self._last_typed
        after = self.messages[len(self.messages) if at is None else at + 1 :]
        return tuple(words for each in after if each.get("role") == "assistant" for words in _texts(each))

    @cached_property
    def _last_assistant(self) -> int:
        return self._last(lambda message: message.get("role") == "assistant", -1)

    @cached_property
    def _last_typed(self) -> int | None:
        at = self._last(lambda message: bool(typed_text(message)), -1)
        return None if at < 0 else at

    def _last(self, fits: Callable[[JsonObject], bool], otherwise: int) -> int:
        for at in range(len(self.messages) - 1, -1, -1):
            if fits(self.messages[at]):
                return at
        return otherwise

    @cached_property
    def _uses(self) -> dict[str, JsonObject]:
        return {
            str(block.get("id", "")): block
            for message in self.messages
            if message.get("role") == "assistant"
            for block in blocks_of(message)
            if block.get("type") == "tool_use"
        }

    def _results_after(self, start: int) -> Iterator[Result]:
        for message in self.messages[start + 1 :]:
            for block in blocks_of(message):
                if block.get("type") == "tool_result":
                    yield self._result(block)

    def _result(self, block: JsonObject) -> Result:
        identifier = str(block.get("tool_use_id", ""))
        made = self._uses.get(identifier, {})
        content = block.get("content")
        return Result(
            tool=str(made.get("name", "")),
            id=identifier,
            arguments=object_of(made.get("input")),
            text=content if isinstance(content, str) else "\n".join(_block_texts(objects(content))),
            is_error=block.get("is_error") is True,
        )


def typed_text(message: JsonObject) -> str:
    """What the user typed in a message: its texts without reminders that a program put there."""
    return "\n\n".join(_typed(message))


def _typed(message: JsonObject) -> list[str]:
    if message.get("role") != "user":
        return []
    return [words for words in _texts(message) if words.strip() and not _REMINDER.match(words)]


def blocks_of(message: JsonObject) -> list[JsonObject]:
    """The content of a message as a list of blocks; a text counts as one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects(content)


def objects(value: JsonValue) -> list[JsonObject]:
    """The objects of a list; nothing where the value is no list."""
    return [entry for entry in list_of(value) if isinstance(entry, dict)]


def list_of(value: JsonValue) -> list[JsonValue]:
    """The value where it is a list, else an empty one."""
    return cast("list[JsonValue]", value) if isinstance(value, list) else []


def object_of(value: JsonValue) -> JsonObject:
    """The value where it is an object, else an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _texts(message: JsonObject) -> list[str]:
    return _block_texts(blocks_of(message))


def _block_texts(blocks: list[JsonObject]) -> list[str]:
    return [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
