"""Caches what is computed from each message of a conversation: messages never change, and a history only grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.jsontext import JsonObject

Value = TypeVar("Value")


class PerMessage(Generic[Value]):
    """Values of messages, by identity. Only those of the sequence asked for last are kept."""

    def __init__(self, work: Callable[[JsonObject], Value]) -> None:
        """`work` makes the value of a message; it must depend on nothing else."""
        self._work = work
        self._messages: list[JsonObject] = []
        self._values: list[Value] = []

    def of(self, messages: Sequence[JsonObject]) -> list[Value]:
        """A value for each message, in their order; the list is the caller's."""
        same = self._same(messages)
        self._messages[same:] = messages[same:]
        self._values[same:] = [self._work(message) for message in messages[same:]]
        return self._values.copy()

    def _same(self, messages: Sequence[JsonObject]) -> int:
        """Number of leading messages that are the ones of last time."""
        for number, (before, now) in enumerate(zip(self._messages, messages, strict=False)):
            if before is not now:
                return number
        return min(len(self._messages), len(messages))
