"""What changes between two texts: a unified diff, and how many lines come and go."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CONTEXT = 3
"""Unchanged lines shown around a change."""
COMPARED_LINES = 8_000
"""Changed regions with more lines than this are shown as one block: comparing them line by line takes long."""

_Step: TypeAlias = tuple[str, int, int, int, int]
"""Tag (`equal` or another), and the ranges of lines in the old and the new text."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A change as a unified diff. `text` is empty where no line differs."""

    text: str
    added: int
    """Lines that the new text has and the old one has not."""
    removed: int


def compare(old: str | None, new: str, name: str) -> Difference:
    """The difference from `old` (None: no file) to `new`, with `name` in the head of the diff."""
    old_lines = split_lines(old or "")
    new_lines = split_lines(new)
    steps = _steps(old_lines, new_lines)
    changes = [step for step in steps if step[0] != "equal"]
    removed = sum(step[2] - step[1] for step in changes)
    added = sum(step[4] - step[3] for step in changes)
    if not changes:
        return Difference("", 0, 0)
    head = [f"--- {'/dev/null' if old is None else name}", f"+++ {name}"]
    body = [line for hunk in _hunks(steps) for line in _hunk_lines(hunk, old_lines, new_lines)]
    return Difference("\n".join((*head, *body)) + "\n", added, removed)


def split_lines(text: str) -> list[str]:
    r"""Lines with their `\n`; only `\n` ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _steps(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """How the old lines become the new ones; only the region that differs is compared line by line."""
    shorter = min(len(old), len(new))
    start = _equal_until(zip(old, new, strict=False))
    ending = _equal_until(zip(reversed(old), reversed(new), strict=False))
    ending = min(ending, shorter - start)
    old_end, new_end = len(old) - ending, len(new) - ending
    steps: list[_Step] = [("equal", 0, start, 0, start)] if start else []
    if old_end - start + new_end - start > COMPARED_LINES:
        steps.append(("replace", start, old_end, start, new_end))
    else:
        matcher = difflib.SequenceMatcher(None, old[start:old_end], new[start:new_end])
        steps += [
            (tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in matcher.get_opcodes()
        ]
    if ending:
        steps.append(("equal", old_end, len(old), new_end, len(new)))
    return steps


def _equal_until(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _hunks(steps: list[_Step]) -> Iterator[list[_Step]]:
    """Changes with their context; changes that are close together share a hunk."""
    hunk: list[_Step] = []
    for index, (tag, a, b, c, d) in enumerate(steps):
        if tag != "equal":
            hunk.append((tag, a, b, c, d))
            continue
        after = min(CONTEXT, b - a) if hunk else 0
        last = index == len(steps) - 1
        if hunk and (last or b - a > 2 * CONTEXT):
            hunk.append((tag, a, a + after, c, c + after))
            yield hunk
            hunk = []
        if not last:
            before = b - a if hunk else min(CONTEXT, b - a)
            hunk.append((tag, b - before, b, d - before, d))
    if any(step[0] != "equal" for step in hunk):
        yield hunk


def _hunk_lines(hunk: list[_Step], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for tag, a, b, c, d in hunk:
        if tag == "equal":
            yield from _marked(" ", old[a:b])
        else:
            yield from _marked("-", old[a:b])
            yield from _marked("+", new[c:d])


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield "\\ No newline at end of file"


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
