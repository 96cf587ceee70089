"""Typed access to parts of JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


def as_object(value: JsonValue) -> JsonObject | None:
    """The value where it is an object, else None."""
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType] -- was Any


def as_list(value: JsonValue) -> list[JsonValue] | None:
    """The value where it is a list, else None."""
    return value if isinstance(value, list) else None  # pyright: ignore[reportUnknownVariableType] -- was Any


def as_texts(value: JsonValue) -> list[str] | None:
    """The value where it is a list of nothing but text, else None."""
    elements = as_list(value)
    if elements is None or not all(isinstance(element, str) for element in elements):
        return None
    return elements
