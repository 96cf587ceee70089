"""JSON is read strictly: what other readers would guess at is an error that says what and where."""

from __future__ import annotations

import pytest

from mcode import jsontext


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "out of range"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "'b' stands twice"),
        ("[1]", "an array"),
        ("3", "a number"),
        ("null", "null"),
        ('{"a": ', "at character 6"),
        ("[" * 101 + "]" * 101, "deeper than 100"),
        ('{"a":' * 200_000, "deeper than 100"),
        ('{"a": ' + "9" * 5_000 + "}", "digits"),
    ],
)
def test_s_01_what_is_not_one_strict_object_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(jsontext.JsonError, match=words):
        jsontext.parse_object(text)


def test_a_hundred_levels_are_read() -> None:
    assert jsontext.parse("[" * 100 + "]" * 100)
    assert jsontext.parse('{"a":' * 100 + "1" + "}" * 100)


def test_writing_keeps_the_order_of_keys_and_the_text_as_it_is() -> None:
    assert jsontext.dump({"b": 1, "a": "ü\n"}) == '{"b":1,"a":"ü\\n"}'


def test_equal_values_have_one_canonical_text() -> None:
    assert jsontext.canonical({"b": [1, 2], "a": None}) == jsontext.canonical({"a": None, "b": [1, 2]})
