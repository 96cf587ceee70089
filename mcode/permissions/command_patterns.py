"""The patterns of `Bash(...)` rules."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from mcode.permissions.wildcard import Wildcard

COMPARED_LIMIT = 2_000_000
"""Characters that are compared with one pattern at most; a line that holds more to compare counts as reached."""

if TYPE_CHECKING:
    from mcode.permissions.shell.reach import Command, Reach


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """One pattern."""

    text: str
    """As written. A trailing ` *` or `:*` means: this, and optionally more words."""

    @property
    def exact(self) -> bool:
        """True where the pattern has no wildcard."""
        return "*" not in self.text

    def equals(self, line: str) -> bool:
        """Narrow reading, for allow rules: the whole line, character by character."""
        return self.exact and line == self.text

    def reaches(self, reach: Reach) -> bool:
        """Wide reading, for deny and ask rules: the line, or anything that it may run, matches."""
        line = reach.line.text.strip()
        if line == self.text.strip() or self.spans(line):
            return True
        first = _first_word(self.text)
        if "*" in first:
            return any(self._covers_any_name(command, first) for command in reach.commands)
        globbed = (
            (command, command.start + 1)
            for command in reach.globbed
            if fnmatch.fnmatchcase(first.casefold(), command.program)
        )
        compared = 0
        for command, start in chain(reach.runs(first), globbed):
            if not self._may_cover(command, first, start):
                continue
            text = " ".join((first, *command.words[start:]))
            compared += len(text)
            if compared > COMPARED_LIMIT or self.spans(text):
                return True
        return False

    def _may_cover(self, command: Command, first: str, start: int) -> bool:
        """Whether a command of the pattern's program begins as the pattern does, from that word on."""
        if "/" in first and command.name.casefold() != first.casefold():
            return False
        return any(
            " ".join((first, *command.words[start : start + wildcard.beginning.count(" ") + 1])).startswith(
                wildcard.beginning.rstrip(" ")
            )
            for wildcard in _wildcards(self.text)
        )

    def _covers_any_name(self, command: Command, first: str) -> bool:
        """The pattern's first word has a wildcard, so that any program may fit."""
        beginning = first.partition("*")[0]
        # A wildcard in front swallows every word before a match, so the whole part is enough.
        if command.start > 0 and beginning == "":
            return False
        return any(
            self.spans(" ".join((name, *command.arguments)))
            for name in {command.name, command.program}
            if name.startswith(beginning)
        )

    def spans(self, text: str) -> bool:
        """True where the pattern covers this text from end to end, whatever it would run."""
        return any(wildcard.matches(text) for wildcard in _wildcards(self.text))


@lru_cache(maxsize=2048)
def _first_word(pattern: str) -> str:
    words = pattern.removesuffix(":*").split()
    return words[0] if words else ""


@lru_cache(maxsize=2048)
def _wildcards(pattern: str) -> tuple[Wildcard, ...]:
    """The pattern with single blanks, as it is and without its quotes."""
    text = pattern[:-2] + " *" if pattern.endswith(":*") else pattern
    text = " ".join(text.split())
    bare = text.replace('"', "").replace("'", "")
    found: list[Wildcard] = []
    for option in dict.fromkeys((text, bare)):
        if option.endswith(" *"):
            found.append(Wildcard(option[:-2]))
        found.append(Wildcard(option))
    return tuple(found)
