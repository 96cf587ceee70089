"""Path patterns of `Read(...)` and `Edit(...)` rules: gitignore patterns with four anchors.

Two readings of one pattern. The *narrow* one is for allow rules: exact letter case, a wildcard at the end does not
descend into directories, every spelling of the path must match. The *wide* one is for deny and ask rules: letter
case and Unicode composition are ignored, a bare name or a one-segment directory counts at any depth, one matching
spelling is enough. This is the only file that imports pathspec.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from mcode.permissions.resolve import is_directory, real_root

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.permissions.resolve import Place
    from mcode.tool import Workspace

_BARE_NAME = re.compile(r"[^/]+")
_ONE_DIRECTORY = re.compile(r"[^/*?\[]+/(?:\*{1,2})?")
_ANYTHING = "/\0\0"
"""Below a directory, a name that no file has: only a pattern for everything in there matches it."""


class Anchor(Enum):
    """Which directory a pattern begins at."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    START = ""


@dataclass(frozen=True, slots=True)
class FilePattern:
    """One pattern, taken apart."""

    anchor: Anchor
    glob: str
    """Gitignore pattern relative to the anchor, without a slash in front."""
    base: Path
    """The directory of the rule's source, for patterns that are anchored there."""
    dotted: bool = False
    """Written with `./` in front: in the current directory, not below it."""

    def covers(self, place: Place, workspace: Workspace) -> bool:
        """Narrow reading: the path and everything that it leads to through links match."""
        regexes = _narrow(self.glob, self.anchor is Anchor.START and not self.dotted)
        bases = self._bases(workspace)
        return all(_covered(spelling, bases, regexes) for spelling in place.spellings)

    def touches(self, place: Place, workspace: Workspace) -> bool:
        """Wide reading: the path, or anything that it leads to through links, matches."""
        regex = _wide(self.glob, self.anchor is Anchor.START)
        bases = self._bases(workspace)
        if self.anchor is Anchor.START:
            bases = (*bases, *(str(root) for root in workspace.additional))
            if _BARE_NAME.fullmatch(self.glob):
                bases = (*bases, "/")
        return any(_touched(spelling, bases, regex) for spelling in place.spellings)

    def names_the_file(self) -> bool:
        """True where the last segment says which file is meant, not just any."""
        return self.glob.rstrip("/").rpartition("/")[2].strip("*?") != ""

    def prepare(self) -> None:
        """Compile both readings now; loads pathspec (about 80 ms the first time)."""
        _narrow(self.glob, self.anchor is Anchor.START and not self.dotted)
        _wide(self.glob, self.anchor is Anchor.START)

    def _bases(self, workspace: Workspace) -> tuple[str, ...]:
        match self.anchor:
            case Anchor.ROOT:
                return ("/",)
            case Anchor.HOME:
                return _both_spellings(workspace.home)
            case Anchor.SOURCE:
                return _both_spellings(self.base)
            case Anchor.START:
                return (str(workspace.start),)


def read_pattern(text: str, base: Path) -> FilePattern | str:
    """Take a rule's path pattern apart; the answer is a sentence where it cannot be used."""
    dotted = False
    if text.startswith("//"):
        anchor, glob = Anchor.ROOT, real_root(text[1:])[1:]
    elif text.startswith("~/"):
        anchor, glob = Anchor.HOME, text[2:]
    elif text.startswith("~"):
        return "a path below the home directory begins with `~/`; other users' homes are not expanded"
    elif text.startswith("/"):
        anchor, glob = Anchor.SOURCE, text[1:]
    else:
        anchor, glob, dotted = Anchor.START, text, text.startswith("./")
        while glob.startswith("./"):
            glob = glob[2:].lstrip("/")
    glob = re.sub("/{2,}", "/", glob)
    fault = _fault(glob)
    return fault or FilePattern(anchor, glob, base, dotted)


def _fault(glob: str) -> str:
    """What is wrong with a gitignore pattern; empty where nothing is."""
    if glob.strip() == "" or glob.strip("/") == "":
        return "the path pattern is empty"
    if glob.startswith("!"):
        return "a pattern cannot be negated with `!`"
    if any(segment in (".", "..") for segment in glob.split("/")):
        return "a pattern cannot contain `.` or `..` as a segment"
    bracket = False
    position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "\\":
            if position + 1 == len(glob):
                return "the pattern ends with a single backslash"
            position += 1
        elif letter == "[" and not bracket:
            bracket = True
            position += 1 if glob[position + 1 : position + 2] in ("!", "^") else 0
            position += 1 if glob[position + 1 : position + 2] == "]" else 0
        elif letter == "]":
            bracket = False
        position += 1
    return "a `[` in the pattern is never closed" if bracket else ""


@lru_cache(maxsize=2048)
def _wide(glob: str, relative: bool) -> re.Pattern[str] | None:
    """The wide reading as a regular expression; None where pathspec cannot read it: that matches everything."""
    if relative and (_BARE_NAME.fullmatch(glob) or _ONE_DIRECTORY.fullmatch(glob)):
        return _compile("**/" + glob, re.IGNORECASE)
    return _compile("/" + glob, re.IGNORECASE)


@lru_cache(maxsize=2048)
def _narrow(glob: str, relative: bool) -> tuple[tuple[re.Pattern[str], bool], ...]:
    """The narrow reading: regular expressions, each with whether it descends into a matching directory."""
    last = glob.rstrip("/").rpartition("/")[2]
    descends = last == "**" or not any(letter in last for letter in "*?[")
    options = [("/" + glob, descends)]
    if relative and _BARE_NAME.fullmatch(glob) and last != "**":
        options.append(("**/" + glob, False))
    compiled = [(_compile(pattern, 0), deep) for pattern, deep in options]
    return tuple((regex, deep) for regex, deep in compiled if regex is not None)


def _compile(pattern: str, flags: int) -> re.Pattern[str] | None:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    regex = cast("re.Pattern[str] | None", GitIgnoreSpecPattern(unicodedata.normalize("NFC", pattern)).regex)
    # A newline is an ordinary character of a file name; without DOTALL it would hide the rest from `**`.
    return None if regex is None else re.compile(regex.pattern, flags | re.DOTALL)


def _covered(
    spelling: str, bases: tuple[str, ...], regexes: tuple[tuple[re.Pattern[str], bool], ...]
) -> bool:
    if "\n" in spelling:
        return False
    for base in bases:
        below = _below(spelling, base, fold=False)
        if below is None:
            continue
        for regex, descends in regexes:
            found = regex.match(below)
            if found is not None and (descends or found.end() == len(below)):
                return True
            if regex.match(below + "/") is not None and descends and is_directory(spelling):
                return True
    return False


def _touched(spelling: str, bases: tuple[str, ...], regex: re.Pattern[str] | None) -> bool:
    if regex is None:
        return True
    spelling = unicodedata.normalize("NFC", spelling)
    for base in bases:
        below = _below(spelling, unicodedata.normalize("NFC", base), fold=True)
        if below is None:
            continue
        if regex.match(below) is not None:
            return True
        if regex.match(below + _ANYTHING) is not None and is_directory(spelling):
            return True
    return False


def _below(path: str, base: str, *, fold: bool) -> str | None:
    """The path relative to `base`, empty for `base` itself; None where it lies elsewhere."""
    if base == "/":
        return path[1:]
    head, rest = path[: len(base)], path[len(base) :]
    if head != base and not (fold and head.casefold() == base.casefold()):
        return None
    if rest == "":
        return ""
    return rest[1:] if rest.startswith("/") else None


@lru_cache(maxsize=256)
def _both_spellings(directory: Path) -> tuple[str, ...]:
    spelled, resolved = real_root(str(directory)), str(directory.resolve())
    return (spelled,) if spelled == resolved else (spelled, resolved)
