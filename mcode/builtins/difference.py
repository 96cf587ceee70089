"""The unified diff of two texts, and the numbers of lines added and removed."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mcode.builtins.common_ends import common_beginning, common_ending

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
    before, region = _changed_region(old or "", new)
    old_lines, new_lines = split_lines(region[0]), split_lines(region[1])
    steps = _steps(old_lines, new_lines)
    changes = [step for step in steps if step[0] != "equal"]
    removed = sum(step[2] - step[1] for step in changes)
    added = sum(step[4] - step[3] for step in changes)
    if not changes:
        return Difference("", 0, 0)
    head = [f"--- {'/dev/null' if old is None else name}", f"+++ {name}"]
    body = [line for hunk in _hunks(steps) for line in _hunk_lines(hunk, old_lines, new_lines, before)]
    return Difference("\n".join((*head, *body)) + "\n", added, removed)


def split_lines(text: str) -> list[str]:
    r"""Lines with their `\n`; only `\n` ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _changed_region(old: str, new: str) -> tuple[int, tuple[str, str]]:
    """The parts of two texts that hold every change and the lines around, and how many lines come before.

    Large texts mostly agree; only these parts are split into lines.
    """
    start = common_beginning(old, new)
    kept = common_ending(old, new, min(len(old), len(new)) - start)
    start = old.rfind("\n", 0, start) + 1
    for _ in range(CONTEXT):
        start = old.rfind("\n", 0, max(0, start - 1)) + 1
    for _ in range(CONTEXT + 1):
        newline = old.find("\n", len(old) - kept) if kept else -1
        kept = len(old) - newline - 1 if newline >= 0 else 0
    return old.count("\n", 0, start), (old[start : len(old) - kept], new[start : len(new) - kept])


def _steps(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """How the old lines become the new ones."""
    if len(old) + len(new) > COMPARED_LINES:
        return [("replace", 0, len(old), 0, len(new))]
    return list(difflib.SequenceMatcher(None, old, new).get_opcodes())


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


def _hunk_lines(hunk: list[_Step], old: Sequence[str], new: Sequence[str], before: int) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    yield f"@@ -{_range(first[1], last[2], before)} +{_range(first[3], last[4], before)} @@"
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


def _range(start: int, end: int, before: int) -> str:
    """Lines of a hunk as the head of a hunk has them; `before` lines come before the region."""
    length = end - start
    first = before + start + (1 if length else 0)
    return str(first) if length == 1 else f"{first},{length}"
