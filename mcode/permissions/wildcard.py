"""Patterns whose only special character is `*`, for any run of characters. Matching is linear in the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wildcard:
    """One pattern."""

    pattern: str

    @property
    def beginning(self) -> str:
        """What stands before the first `*`."""
        return self.pattern.partition("*")[0]

    def matches(self, text: str) -> bool:
        """True where the pattern covers the whole text. Letter case counts."""
        first, *rest = self.pattern.split("*")
        if not rest:
            return text == self.pattern
        last = rest.pop()
        if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
            return False
        position, end = len(first), len(text) - len(last)
        for piece in rest:
            found = text.find(piece, position, end)
            if found < 0:
                return False
            position = found + len(piece)
        return True
