"""Regular expressions over tools, kept from running away: patterns come from a model, texts from anybody."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.catalog.entry import Entry

PATTERN_LIMIT = 200
"""Characters of a pattern."""

REPEAT_LIMIT = 3
"""Repeats without an end (`*`, `+`, `{2,}`) in one pattern."""

CHOICES_LIMIT = 350_000
"""Ways in which one place of a text may be tried, by all repeats together."""

ENDLESS_CHOICES = (1, 100, 6_700, 333_000)
"""Ways to place so many repeats without an end in a text of TEXT_LIMIT characters."""

TEXT_LIMIT = 200
"""Characters of a description that are matched."""

TIME_LIMIT = 0.25
"""Seconds of work after which matching is ended; waiting for the processor does not count."""

_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\})")
_LIMITED = re.compile(r"(?<!\\)\{(\d*),(\d+)\}|(?<![\\(*+?}])\?")
"""A repeat with an end, or something that may be left out; not what makes another repeat short."""
_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+]|\{)")
_BACK_REFERENCE = re.compile(r"\\[1-9]|\(\?P=")


class PatternError(ValueError):
    """A pattern that is not matched. The message says why and what to do instead."""


def compile_pattern(text: str) -> re.Pattern[str]:
    """A pattern without regard to letter case; raise PatternError on one that is wrong or could take for ever."""
    if len(text) > PATTERN_LIMIT:
        raise PatternError(f"the pattern has {len(text)} characters; at most {PATTERN_LIMIT} are allowed")
    if _REPEATED_GROUP.search(text) or _BACK_REFERENCE.search(text):
        raise PatternError(
            f"the pattern {text} repeats a group or refers back to one; search with words instead"
        )
    repeats = len(_REPEAT.findall(text))
    if repeats > REPEAT_LIMIT:
        raise PatternError(
            f"the pattern {text} has {repeats} repeats without an end; at most {REPEAT_LIMIT} are allowed"
        )
    if _choices(text, repeats) > CHOICES_LIMIT:
        raise PatternError(f"the pattern {text} can be tried in too many ways; search with words instead")
    try:
        return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError) as error:
        raise PatternError(
            f"the pattern {text} is not a regular expression ({error}); search with words instead"
        ) from None


def _choices(text: str, endless: int) -> int:
    """About how many ways there are to try a pattern at one place."""
    choices = ENDLESS_CHOICES[endless]
    for found in _LIMITED.finditer(text):
        least, most = int(found[1] or 0), int(found[2] or 1)
        choices *= max(min(most, TEXT_LIMIT) - least + 1, 1)
    return choices


def matches(pattern: re.Pattern[str], entries: Iterable[tuple[int, Entry]]) -> tuple[dict[int, float], bool]:
    """1.0 for each tool whose name matches, 0.5 where the description does; and whether all were looked at."""
    found: dict[int, float] = {}
    end = time.thread_time() + TIME_LIMIT
    for position, entry in entries:
        if pattern.search(entry.name) or pattern.search(entry.bare_name):
            found[position] = 1.0
        elif pattern.search(entry.title[:TEXT_LIMIT]) or pattern.search(entry.description[:TEXT_LIMIT]):
            found[position] = 0.5
        if time.thread_time() > end:
            return found, False
    return found, True
