"""Where the commands of a plain line run, and whether what they read may be read unasked."""

from __future__ import annotations

import glob
import itertools
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.git.config import holds_credentials
from mcode.permissions.resolve import is_directory
from mcode.permissions.secret_names import WIDE_FOLDERS, WIDE_NAMES, hides_folder, secret_part
from mcode.permissions.shell.words import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell.reading import SimpleCommand
    from mcode.permissions.shell.table import Reads

MATCH_LIMIT = 200
"""Files that a pattern may stand for; a command with a wider one is asked about."""

PATH_LIMIT = 200
"""Files that a command may name."""

DIRECTORY_LIMIT = 8
"""Directories in which a command may run; a line with more is asked about."""

WALK_LIMIT = 5_000
"""Entries that are looked at below what is read with everything in it."""

FOUND_LIMIT = 20
"""Names of secret files that are left out one by one."""


class Directories:
    """The directories in which the next command of a line may run."""

    def __init__(self, current: str) -> None:
        self._chain = self._before = self._now = (current,)
        self.unknown = ""
        """Why it cannot be told where the next command runs; empty where it can."""

    @property
    def all(self) -> tuple[str, ...]:
        return self._now

    def pass_operator(self, operator: str) -> None:
        """Take note of what stands before the next command.

        Only behind `&&` is it sure that a `cd` has worked; what stands before a `|` changes nothing for the rest.
        """
        if operator == "|":
            self._now = _together(self._before, self._now)
        elif operator != "&&":
            self._chain = self._now = _together(self._chain, self._now)
        self._before = self._now
        if len(self._now) > DIRECTORY_LIMIT:
            self.unknown = f"the line may be in more than {DIRECTORY_LIMIT} directories"

    def change(self, command: SimpleCommand, paths: PathPolicy) -> str:
        """Follow a `cd`; returns why it is not one into a directory of the workspace, or nothing."""
        why = self._follow(command, paths)
        if why:
            self.unknown = why
        return why

    def _follow(self, command: SimpleCommand, paths: PathPolicy) -> str:
        words = command.arguments
        if len(words) != 1 or words[0].glob or words[0].value.startswith("-") or words[0].value == "":
            return "`cd` is followed only with one literal directory"
        found: list[str] = []
        for base in self._now:
            place = paths.locate(words[0].value, Path(base))
            if place.fault or not paths.inside(place):
                return f"`cd {words[0].text}` leads to {place.resolved}, outside the working directories"
            if place.resolved != place.spellings[0]:
                return f"`cd {words[0].text}` passes a link to {place.resolved}"
            found.append(place.resolved)
        # Behind `||` it may not run at all, behind `|` it runs in a shell of its own.
        elsewhere = self._now if command.operator in ("|", "||") else ()
        self._now = _together(elsewhere, found)
        return ""


def _together(*groups: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for group in groups for each in group))


@dataclass(slots=True)
class _Walk:
    """What was found below some directories: each a directory or not, and its name."""

    by_name: set[tuple[bool, str]] = field(default_factory=set[tuple[bool, str]])
    """What has the name of a secret."""
    by_rule: set[tuple[bool, str]] = field(default_factory=set[tuple[bool, str]])
    """What a rule about files speaks of."""
    plain: set[tuple[bool, str]] = field(default_factory=set[tuple[bool, str]])
    ruled: str = ""
    """The first of what a rule speaks of, as a sentence's end."""
    complete: bool = True
    """All was looked at."""

    @property
    def ambiguous(self) -> bool:
        """True where something else has the name of what a rule speaks of: grep leaves out by names alone."""
        return not self.by_rule.isdisjoint(self.plain)

    @property
    def left_out(self) -> set[str]:
        """Options of grep that leave out what is not read unasked."""
        return {
            f"{'--exclude-dir' if is_folder else '--exclude'}={glob.escape(name)}"
            for is_folder, name in self.by_name | self.by_rule
        }


class Reading:
    """Whether places may be read unasked; `permitted` and `restricted` ask the rules about files."""

    def __init__(
        self,
        paths: PathPolicy,
        permitted: Callable[[Place], bool],
        restricted: Callable[[Place], bool] | None,
        *,
        ruled_only: bool = False,
    ) -> None:
        """`restricted` is None where no deny or ask rule speaks of files. `ruled_only`: nothing but these counts."""
        self._paths = paths
        self._ruled_only = ruled_only
        self._permitted = permitted
        self._restricted = restricted

    def fault(self, reads: Reads, directories: Sequence[str], *, content: bool) -> str:
        """Why what a command reads is asked about; empty where it may be read. `content`: it shows more than names."""
        if len(reads.paths) * len(directories) > PATH_LIMIT:
            return f"it names more than {PATH_LIMIT} files, too many to look at each"
        for directory in directories:
            for path in reads.paths:
                for place in self._places(path, directory):
                    if place is None:
                        return f"`{path.value if isinstance(path, Word) else path}` stands for too many files"
                    found = self._fault_of(place, content=content)
                    if found:
                        return found
                    if reads.no_directories and is_directory(place.resolved):
                        within = self.ruled_below((place.resolved,))
                        if within or not self._ruled_only:
                            return (
                                within or f"{place.given} is a directory, in which links may lead elsewhere"
                            )
        return ""

    def ruled_below(self, tops: Iterable[str], *, hidden: bool = True) -> str:
        """That a rule speaks of a file below some directories, as a sentence's end; empty where none is seen.

        `hidden`: files and directories count whose names begin with a dot.
        """
        if self._restricted is None:
            return ""
        return self._walk(tops, hidden=hidden).ruled

    def left_out(self, reads: Reads, directories: Sequence[str]) -> tuple[str, ...] | str:
        """Options of grep that leave out files of secrets below what it reads; or why it is asked about."""
        tops = [
            place.resolved
            for directory in directories
            for path in reads.paths
            for place in self._places(path, directory)
            if place is not None and is_directory(place.resolved)
        ]
        walk = self._walk(tops)
        if walk.complete and len(walk.left_out) <= FOUND_LIMIT and not walk.ambiguous:
            return tuple(sorted(walk.left_out))
        if self._restricted is not None and not walk.complete:
            return f"more than {WALK_LIMIT} files would have to be compared with the rules about files"
        if walk.ruled:
            return walk.ruled
        return tuple(
            [*(f"--exclude={_any_case(each)}" for each in WIDE_NAMES)]
            + [f"--exclude-dir={_any_case(each)}" for each in (*WIDE_FOLDERS, ".git")]
        )

    def _walk(self, tops: Iterable[str], *, hidden: bool = True) -> _Walk:
        walk, waiting, seen = _Walk(), list(tops), 0
        walk.plain.update((True, top.rpartition("/")[2]) for top in waiting)
        while waiting:
            for entry in _entries(waiting.pop()):
                if not hidden and entry.name.startswith("."):
                    continue
                seen += 1
                if seen > WALK_LIMIT:
                    walk.complete = False
                    return walk
                kind = entry.is_dir(follow_symlinks=False), entry.name
                if self._restricted is not None and self._restricted(self._paths.locate(entry.path)):
                    walk.ruled = walk.ruled or f"a rule about files speaks of {entry.path}"
                    walk.by_rule.add(kind)
                elif not self._ruled_only and self._is_secret(entry.path, is_folder=kind[0]):
                    walk.by_name.add(kind)
                else:
                    walk.plain.add(kind)
                    waiting += [entry.path] if kind[0] else []
        return walk

    def _is_secret(self, path: str, *, is_folder: bool) -> bool:
        """True for what a search leaves out; a git directory as a whole where its configuration holds credentials."""
        if is_folder:
            return hides_folder(path) or holds_credentials(f"{path}/config")
        return secret_part(path) is not None or holds_credentials(path)

    def _fault_of(self, place: Place, *, content: bool) -> str:
        if content and self._restricted is not None and self._restricted(place):
            return f"a rule about files speaks of {place.given}"
        if place.resolved == "/dev/null" or self._permitted(place):
            return ""
        return self._paths.why_reading_asks(place, content=content) or (_odd_kind(place) if content else "")

    def _places(self, path: Word | str, directory: str) -> Iterator[Place | None]:
        """What a word stands for, seen from a directory; None after too many."""
        if isinstance(path, str) or not path.glob:
            yield self._paths.locate(path if isinstance(path, str) else path.value, Path(directory))
            return
        rendered = path.rendered
        found = glob.iglob(rendered, root_dir=directory)  # noqa: PTH207 -- matches lazily, and as the shell does
        matches = list(itertools.islice(found, MATCH_LIMIT + 1))
        for match in matches[:MATCH_LIMIT] or [rendered]:
            yield self._paths.locate(match, Path(directory))
        if len(matches) > MATCH_LIMIT:
            yield None


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as found:
            return list(itertools.islice(found, WALK_LIMIT + 1))
    except OSError:
        return []


def _odd_kind(place: Place) -> str:
    try:
        mode = os.stat(place.resolved).st_mode  # noqa: PTH116 -- hot path, and the paths here are text
    except OSError:
        return ""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return f"{place.given} is neither a file nor a directory"


def _any_case(pattern: str) -> str:
    """The pattern for names in any letter case."""
    return "".join(f"[{each.lower()}{each.upper()}]" if each.isalpha() else each for each in pattern)
