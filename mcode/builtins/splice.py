"""The change that an Edit makes in a text: where the old text stands, and the bytes with the new one in it."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

from mcode.builtins.common_ends import common_beginning, common_ending
from mcode.builtins.content import Content, encode, require_encodable


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is to be replaced by what. Both texts have `\\n` line endings."""

    old: str
    new: str
    everywhere: bool = False


def places(text: str, old: str, *, overlapping: bool) -> list[int]:
    """Where `old` begins in `text`. Overlapping places count when a text has to be unique."""
    found: list[int] = []
    step = 1 if overlapping else len(old)
    index = text.find(old)
    while index >= 0:
        found.append(index)
        index = text.find(old, index + step)
    return found


def line_of(text: str, index: int) -> int:
    """Number of the line, from 1, that holds a position."""
    return text.count("\n", 0, index) + 1


def splice(content: Content, replacement: Replacement, starts: list[int]) -> bytes:
    """The file's bytes with the replacement made at these places of `content.text`.

    Only what differs between old and new is written; a new line takes the ending of the lines around it.
    Raises RefusalError for a character that the file's encoding lacks.
    """
    require_encodable(content.encoding, replacement.new)
    exact = _Exact(content.exact)
    prefix, suffix = _common_ends(replacement.old, replacement.new)
    middle = replacement.new[prefix : len(replacement.new) - suffix]
    pieces: list[str] = []
    written = 0
    for start in starts:
        begin = exact.position(start + prefix)
        end = exact.position(start + len(replacement.old) - suffix)
        pieces += (content.exact[written:begin], exact.with_endings(middle, begin, end))
        written = end
    pieces.append(content.exact[written:])
    return encode(content.encoding, "".join(pieces))


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """Lengths of the beginning and of the ending that two texts share, without overlap."""
    prefix = common_beginning(old, new)
    return prefix, common_ending(old, new, min(len(old), len(new)) - prefix)


class _Exact:
    """A text with its own line endings, addressed by positions in the same text with `\\n` only."""

    def __init__(self, exact: str) -> None:
        self._exact = exact
        endings = re.finditer("\r\n", exact) if "\r\n" in exact else ()
        self._pairs = [match.start() - number for number, match in enumerate(endings)]
        """Position of each `\\r\\n` in the text with `\\n` only."""

    def position(self, index: int) -> int:
        """The position in the exact text that belongs to one in the text with `\\n` only."""
        return index + bisect.bisect_left(self._pairs, index)

    def with_endings(self, new: str, begin: int, end: int) -> str:
        """New text for the span from `begin` to `end`, each line with the ending that belongs there."""
        if not self._pairs or "\n" not in new:
            return new
        old = re.findall("\r?\n", self._exact[begin:end])
        lines = new.split("\n")
        if len(old) != len(lines) - 1:
            old = [old[0] if old else self._ending_near(begin, end)] * (len(lines) - 1)
        return "".join(part for pair in zip(lines, old, strict=False) for part in pair) + lines[-1]

    def _ending_near(self, begin: int, end: int) -> str:
        """The ending of the line that holds the span, else of the line before it."""
        newline = self._exact.find("\n", end)
        if newline < 0:
            newline = self._exact.rfind("\n", 0, begin)
        return "\r\n" if newline > 0 and self._exact[newline - 1] == "\r" else "\n"
