"""File-name patterns of memory settings: `*`, `?`, `[...]`, `**` over directories, `{a,b}` for either."""

from __future__ import annotations

from fnmatch import fnmatchcase

ALTERNATIVES = 256
"""Patterns that the braces of one pattern may stand for; beyond that they are taken literally."""


def matches(pattern: str, path: str) -> bool:
    """True where the whole path fits. Both have slashes; a leading slash must be in both or in neither."""
    parts = path.split("/")
    return any(_fits(_segments(one), parts) for one in expand_braces(pattern))


def expand_braces(pattern: str) -> list[str]:
    """Every pattern that the braces stand for; the pattern itself where that would be too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > ALTERNATIVES:
            return [pattern]
        one = waiting.pop()
        span = _innermost(one)
        if span is None:
            done.append(one)
        else:
            start, end = span
            waiting += [one[:start] + choice + one[end + 1 :] for choice in one[start + 1 : end].split(",")]
    return done


def _innermost(pattern: str) -> tuple[int, int] | None:
    """The first pair of braces that holds a comma and no other brace."""
    start = -1
    for index, letter in enumerate(pattern):
        if letter == "{":
            start = index
        elif letter == "}" and start >= 0:
            if "," in pattern[start:index]:
                return start, index
            start = -1
    return None


def _segments(pattern: str) -> list[str]:
    """The parts between slashes; `**` after `**` says nothing new."""
    parts = pattern.split("/")
    return [
        part for index, part in enumerate(parts) if part != "**" or index == 0 or parts[index - 1] != "**"
    ]


def _fits(pattern: list[str], parts: list[str]) -> bool:
    """Match segment by segment; `reached` holds how many pattern segments may be used up so far."""
    reached = _skip_stars({0}, pattern)
    for part in parts:
        following: set[int] = set()
        for used in reached:
            if used == len(pattern):
                continue
            if pattern[used] == "**":
                following.add(used)
            elif fnmatchcase(part, pattern[used]):
                following.add(used + 1)
        reached = _skip_stars(following, pattern)
        if not reached:
            return False
    return len(pattern) in reached


def _skip_stars(reached: set[int], pattern: list[str]) -> set[int]:
    """`**` also stands for no directory at all."""
    return reached | {used + 1 for used in reached if used < len(pattern) and pattern[used] == "**"}
