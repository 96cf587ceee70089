"""Step 7: the model gets a result cut to size; the rest stays in a file it can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TAIL_SHARE = 3
"""One part in this many of the room goes to the end of a cut text, the rest to its beginning."""


def fit(text: str, limit: int, spill: Callable[[str], Path]) -> str:
    """Cut text to about `limit` characters, head and tail, and say what is missing and where the whole is.

    `spill` keeps the whole text and returns its path; it is called only when something is cut.
    """
    if len(text) <= limit:
        return text
    path = spill(text)
    tail = limit // TAIL_SHARE
    head = limit - tail
    beginning = _to_line_end(text[:head])
    ending = _from_line_start(text[len(text) - tail :])
    missing = len(text) - len(beginning) - len(ending)
    return f"{beginning}\n[… {missing} characters left out; the whole text is in {path} …]\n{ending}"


def with_notes(text: str, notes: tuple[str, ...]) -> str:
    """Put notes that the model must see behind a result."""
    return "\n\n".join((text, *notes)) if notes else text


def _to_line_end(text: str) -> str:
    end = text.rfind("\n")
    return text[:end] if end > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    start = text.find("\n")
    return text[start + 1 :] if 0 <= start < len(text) // 2 else text
