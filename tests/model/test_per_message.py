"""What is worked out from each message, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.per_message import PerMessage

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


def messages(*texts: str) -> tuple[JsonObject, ...]:
    return tuple({"role": "user", "content": text} for text in texts)


def test_a_message_is_worked_on_once_while_the_history_grows() -> None:
    seen: list[str] = []
    shouted = PerMessage(lambda message: seen.append(message["content"]) or message["content"].upper())
    history = messages("one", "two")

    assert shouted.of(history) == ["ONE", "TWO"]
    assert shouted.of((*history, *messages("three"))) == ["ONE", "TWO", "THREE"]
    assert seen == ["one", "two", "three"]


def test_after_a_rewind_nothing_of_the_left_branch_remains() -> None:
    shouted = PerMessage(lambda message: message["content"].upper())
    first, *left = messages("one", "two", "three")
    shouted.of((first, *left))

    assert shouted.of((first, *messages("other"))) == ["ONE", "OTHER"]
    assert shouted.of((first,)) == ["ONE"]
    assert shouted.of(()) == []


def test_an_equal_message_is_another_message() -> None:
    seen: list[int] = []
    counted = PerMessage(lambda _: seen.append(1) or len(seen))

    assert counted.of(messages("one")) == [1]
    assert counted.of(messages("one")) == [2]


def test_what_a_caller_does_to_its_list_stays_with_the_caller() -> None:
    shouted = PerMessage(lambda message: message["content"].upper())
    history = messages("one")
    shouted.of(history).clear()

    assert shouted.of(history) == ["ONE"]
