"""What the places that may hold a key have in common: how one fails, and what no key looks like."""

from __future__ import annotations

TIME_LIMIT = 10.0
"""Seconds that a place may take to give the key."""


class NoKeyError(Exception):
    """A place that should give a key gave none; the message says why and holds nothing secret."""


def fault_of(value: str) -> str:
    """Why a text can be no key, to follow its name; empty where it can be one."""
    if not value:
        return "is empty"
    if len(value.splitlines()) > 1:
        return "has more than one line"
    if not (value.isascii() and value.isprintable()) or " " in value:
        return "has blanks or characters that no key has"
    return ""
