"""The lengths of the common beginning and the common end of two texts; fast for large ones."""

from __future__ import annotations

_BLOCK = 1 << 16
"""Characters that are compared at once; a power of two, halved where blocks differ."""


def common_beginning(one: str, other: str) -> int:
    """Characters that two texts have in common at their beginning."""
    most = min(len(one), len(other))
    length, step = 0, _BLOCK
    while step:
        following = length + step
        if following <= most and one[length:following] == other[length:following]:
            length = following
        else:
            step //= 2
    return length


def common_ending(one: str, other: str, most: int) -> int:
    """Characters that two texts have in common at their end, `most` at most."""
    length, step = 0, _BLOCK
    while step:
        following = length + step
        if following <= most and _slice_from_end(one, length, following) == _slice_from_end(
            other, length, following
        ):
            length = following
        else:
            step //= 2
    return length


def _slice_from_end(text: str, near: int, far: int) -> str:
    return text[len(text) - far : len(text) - near]
