"""Headers of the user's own for every request: ANTHROPIC_CUSTOM_HEADERS, and which of them hold secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET_WORDS = ("auth", "key", "token", "secret", "cookie")
"""A custom header with one of these in its name holds a secret."""

SECRET_MINIMUM = 8
"""Characters below which a header's value is a word and no secret."""


def custom_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """ANTHROPIC_CUSTOM_HEADERS, which the SDK adds to every request; names in lower case."""
    lines = environment.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs if value.strip()}


def header_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What is secret in ANTHROPIC_CUSTOM_HEADERS: each such value, without the scheme in front of it."""
    values = [value for name, value in custom_headers(environment).items() if is_secret(name)]
    words = [value.partition(" ")[2].strip() or value for value in values]
    return tuple(word for word in words if len(word) >= SECRET_MINIMUM)


def is_secret(name: str) -> bool:
    """Whether a header of this name, in lower case, holds a secret."""
    return any(word in name for word in SECRET_WORDS)
