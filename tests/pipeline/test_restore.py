"""Argument types are restored where the schema says what was meant, and only without loss."""

from __future__ import annotations

from typing import Any

import pytest

from mcode.pipeline.restore import restore_types

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "all": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "properties": {"depth": {"type": "integer"}}},
        "label": {"type": "string"},
        "either": {"type": ["integer", "null"]},
        "free": {},
    },
}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("count", "5", 5),
        ("count", " -12 ", -12),
        ("ratio", "2.5", 2.5),
        ("ratio", "7", 7),
        ("all", "true", True),
        ("names", '["a","b"]', ["a", "b"]),
        ("options", '{"depth": "3"}', {"depth": 3}),
        ("label", 5, "5"),
        ("either", "9", 9),
    ],
)
def test_a_value_of_the_wrong_type_is_read_as_what_was_meant(name: str, given: Any, expected: Any) -> None:
    restored, notes = restore_types({name: given}, SCHEMA)
    assert restored == {name: expected}
    assert len(notes) >= 1
    assert notes[0].startswith(name)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("count", "five"),
        ("count", "5.5"),
        ("count", "0012"),
        ("count", "99999999999999999999"),
        ("count", True),
        ("all", "yes"),
        ("all", 1),
        ("names", "[1,"),
        ("names", '{"a": 1}'),
        ("label", ["a"]),
        ("label", True),
        ("free", "5"),
        ("unknown", "5"),
        ("ratio", "1e5"),
    ],
)
def test_what_would_lose_or_guess_is_left_to_the_schema_to_refuse(name: str, given: Any) -> None:
    assert restore_types({name: given}, SCHEMA) == ({name: given}, ())


def test_good_arguments_come_back_as_the_same_object() -> None:
    arguments = {"count": 5, "label": "5", "names": ["x"], "ratio": 1.0}
    assert restore_types(arguments, SCHEMA)[0] is arguments
