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
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from mcode.permissions.resolve import is_directory, lowered, place_of, real_root

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.permissions.resolve import Place
    from mcode.tool import Workspace

_BARE_NAME = re.compile(r"[^/]+")
_ONE_DIRECTORY = re.compile(r"[^/*?\[]+/(?:\*{1,2})?")
_NOBODY = "\0\0"
"""A name that no file has: below a directory, only a pattern for everything in there matches it."""


class Anchor(Enum):
    """Which directory a pattern begins at."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    START = ""


@dataclass(frozen=True)
class FilePattern:
    """One pattern, taken apart. (No slots: its compiled forms are kept with it.)"""

    anchor: Anchor
    glob: str
    """Gitignore pattern relative to the anchor, without a slash in front."""
    base: Path
    """The directory of the rule's source, for patterns that are anchored there."""
    dotted: bool = False
    """Written with `./` in front: in the current directory, not below it."""

    def covers(self, place: Place, workspace: Workspace) -> bool:
        """Narrow reading: the path and everything that it leads to through links match."""
        bases = self._bases(workspace)
        if all(_covered(spelling, bases, self._narrow) for spelling in place.spellings):
            return True
        twins = [workspace.twin(spelling) for spelling in place.spellings]
        return all(twin is not None and _covered(twin, bases, self._narrow) for twin in twins)

    def touches(self, place: Place, workspace: Workspace) -> bool:
        """Wide reading: the path, or anything that it leads to through links, matches."""
        regex = self._wide
        if regex is None:
            return True
        bases = self._wide_bases(workspace)
        for spelling, path in _names(place, workspace):
            outside = self._bare
            for base in bases:
                below = _below(spelling, base)
                if below is None:
                    continue
                outside = False
                if not regex.match(f"{below}/{_NOBODY}" if below else _NOBODY):
                    continue
                if regex.match(below) or is_directory(path):
                    return True
            if outside and regex.match(spelling.rpartition("/")[2]):
                return True
        return False

    def touched_among(self, names: Iterable[str], top: str, workspace: Workspace) -> list[str]:
        """Wide reading for many plain files below a directory at once: those of the names that match."""
        regex = self._wide
        if regex is None:
            return list(names)
        beginnings = {lowered(each) for each in (top, workspace.twin(top)) if each is not None}
        leads: list[tuple[str, str]] = []
        for beginning in beginnings:
            for base in self._wide_bases(workspace):
                inside, above = _below(beginning, base), _below(base, beginning)
                if inside is not None:
                    leads.append((f"{inside}/" if inside else "", ""))
                elif above is not None:
                    leads.append(("", f"{above}/"))
        found: list[str] = []
        for name in names:
            low = lowered(name)
            if (self._bare and regex.match(low.rpartition("/")[2])) or any(
                low.startswith(base) and regex.match(lead + low[len(base) :]) for lead, base in leads
            ):
                path = f"{top}/{name}"
                if self.touches(place_of(path, (path,)), workspace):
                    found.append(name)
        return found

    def names_the_file(self) -> bool:
        """True where the last segment says which file is meant, not just any."""
        return self._last.strip("*?") != ""

    def prepare(self) -> None:
        """Compile both readings now; loads pathspec (about 80 ms the first time)."""
        _ = self._narrow, self._wide

    @cached_property
    def _bare(self) -> bool:
        """True for a relative pattern of one segment, which counts at any depth."""
        return self.anchor is Anchor.START and _BARE_NAME.fullmatch(self.glob) is not None

    @cached_property
    def _last(self) -> str:
        return self.glob.rstrip("/").rpartition("/")[2]

    @cached_property
    def _wide(self) -> re.Pattern[str] | None:
        """None where pathspec cannot read the pattern: that matches everything."""
        one_directory = self.anchor is Anchor.START and _ONE_DIRECTORY.fullmatch(self.glob)
        return _compile(("**/" if self._bare or one_directory else "/") + lowered(self.glob), re.IGNORECASE)

    @cached_property
    def _narrow(self) -> tuple[tuple[re.Pattern[str], bool], ...]:
        """Each regular expression with whether it descends into a directory that matches."""
        descends = self._last == "**" or not any(letter in self._last for letter in "*?[")
        options = [("/" + self.glob, descends)]
        if self._bare and not self.dotted and self._last != "**":
            options.append(("**/" + self.glob, False))
        compiled = [(_compile(pattern, 0), deep) for pattern, deep in options]
        return tuple((regex, deep) for regex, deep in compiled if regex is not None)

    def _bases(self, workspace: Workspace) -> tuple[str, ...]:
        if self.anchor is Anchor.ROOT:
            return ("/",)
        if self.anchor is Anchor.SOURCE:
            return _spellings(self.base)
        return _spellings(workspace.home if self.anchor is Anchor.HOME else workspace.start)

    def _wide_bases(self, workspace: Workspace) -> tuple[str, ...]:
        """Relative patterns count in every working directory."""
        bases = _lowered(self._bases(workspace))
        if self.anchor is Anchor.START and workspace.additional:
            bases += tuple(base for each in workspace.additional for base in _lowered(_spellings(each)))
        return bases


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


def _compile(pattern: str, flags: int) -> re.Pattern[str] | None:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    regex = cast("re.Pattern[str] | None", GitIgnoreSpecPattern(unicodedata.normalize("NFC", pattern)).regex)
    # A newline is an ordinary character of a file name; without DOTALL it would hide the rest from `**`.
    return None if regex is None else re.compile(regex.pattern, flags | re.DOTALL)


def _names(place: Place, workspace: Workspace) -> Iterable[tuple[str, str]]:
    """The spellings as they are compared, each with the path; in a worktree those of what it was made from as well."""
    yield from zip(place.folded, place.spellings, strict=True)
    if workspace.tree is not None:
        tree, origin = lowered(str(workspace.tree)), lowered(str(workspace.origin))
        for spelling, path in zip(place.folded, place.spellings, strict=True):
            below = _below(spelling, tree)
            if below is not None:
                yield f"{origin}/{below}".rstrip("/"), path


def _covered(
    spelling: str, bases: tuple[str, ...], regexes: tuple[tuple[re.Pattern[str], bool], ...]
) -> bool:
    if "\n" in spelling:
        return False
    for base in bases:
        below = _below(spelling, base)
        if below is None:
            continue
        for regex, descends in regexes:
            found = regex.match(below)
            if found is not None and (descends or found.end() == len(below)):
                return True
            if regex.match(below + "/") is not None and descends and is_directory(spelling):
                return True
    return False


def _below(path: str, base: str) -> str | None:
    """The path relative to `base`, empty for `base` itself; None where it lies elsewhere."""
    if base == "/":
        return path[1:]
    if not path.startswith(base):
        return None
    rest = path[len(base) :]
    return rest[1:] if rest[:1] in ("", "/") else None


@lru_cache(maxsize=256)
def _spellings(directory: Path) -> tuple[str, ...]:
    """A directory as written and as it resolves."""
    return tuple(dict.fromkeys((real_root(str(directory)), str(directory.resolve()))))


@lru_cache(maxsize=256)
def _lowered(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(lowered, paths)))
