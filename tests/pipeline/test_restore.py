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


FOREIGN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "filter": {"$ref": "#/$defs/Filter"},
        "filters": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
        "loose": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "any": {"anyOf": [{"type": "integer"}, {}]},
        "lost": {"$ref": "#/$defs/Nowhere"},
        "round": {"$ref": "#/$defs/Round"},
    },
    "$defs": {
        "Filter": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "Round": {"$ref": "#/$defs/Round"},
    },
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": None}, {"limit": None}),
        ({"filter": '{"size": "3"}'}, {"filter": {"size": 3}}),
        ({"filters": [{"size": "3"}]}, {"filters": [{"size": 3}]}),
        ({"loose": "5"}, {"loose": "5"}),
        ({"any": "5"}, {"any": "5"}),
        ({"lost": "5", "round": "5"}, {"lost": "5", "round": "5"}),
    ],
)
def test_alternatives_and_references_of_foreign_schemas_are_followed(given: Any, expected: Any) -> None:
    assert restore_types(given, FOREIGN)[0] == expected
