"""A bounded walk through a directory that skips hidden and ignored files and follows no links."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.builtins.ignore_rules import IgnoreRules, parse_ignore_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENTRY_LIMIT = 50_000
"""Entries that one walk looks at."""
TIME_LIMIT = 5.0
"""Seconds that one walk or search takes."""
DEPTH_LIMIT = 100
"""Directories in directories that are entered; each holds a descriptor while the walk is below it."""

_IGNORE_FILE_LIMIT = 1 << 20
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(slots=True)
class WalkReport:
    """What a walk could not do."""

    stopped: str = ""
    """Why it ended early; empty where it saw everything."""
    unreadable: list[str] = field(default_factory=list[str])
    bad_rules: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    """File, line and text of each line in an ignore file that was skipped."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file that the walk came to."""

    path: str
    """Relative to the root, with `/` between names; bytes that are not UTF-8 as surrogate escapes."""
    name: str
    directory: int
    """Descriptor of its directory, open until the next file is asked for."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """An ignore file's rules, and how a path from the root becomes one from the ignore file's directory."""

    rules: IgnoreRules
    taken: str = ""
    """What the path begins with and the rules do not see: the ignore file lies below the root."""
    added: str = ""
    """What comes before the path: the ignore file lies above the root."""

    def verdict(self, path: str, *, is_directory: bool) -> bool | None:
        return self.rules.verdict(self.added + path[len(self.taken) :], is_directory=is_directory)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What counts in a directory."""

    files: tuple[_Placed, ...] = ()
    """Ignore files, the nearest first."""
    in_repository: bool = False
    """Ignore files count in repositories only."""

    def leaves_out(self, path: str, *, is_directory: bool) -> bool:
        for placed in self.files:
            if (verdict := placed.verdict(path, is_directory=is_directory)) is not None:
                return verdict
        return False


class Walk:
    """One walk from an open directory. `root` is its path, from which the repository around it is found."""

    def __init__(
        self, root: Path, *, hidden: bool = False, entries: int = ENTRY_LIMIT, seconds: float = TIME_LIMIT
    ) -> None:
        self.report = WalkReport()
        self._root = root
        self._hidden = hidden
        self._entries = entries
        self._left = entries
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def files(self, descriptor: int) -> Iterator[FoundFile]:
        """Every file, directory by directory, names sorted."""
        yield from self._directory(descriptor, "", self._scope_above(descriptor), 0)

    def is_over(self) -> bool:
        """True once a limit is reached; the report then says which."""
        if not self.report.stopped and time.monotonic() > self._deadline:
            self.report.stopped = f"after {self._seconds:g} s"
        return bool(self.report.stopped)

    def _directory(self, descriptor: int, path: str, scope: _Scope, depth: int) -> Iterator[FoundFile]:
        try:
            with os.scandir(descriptor) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            self.report.unreadable.append(path or ".")
            return
        scope = self._enter(scope, descriptor, path)
        for entry in entries:
            self._left -= 1
            if self._left < 0:
                self.report.stopped = f"after {self._entries:,} entries"
            if self.is_over():
                return
            if entry.name.startswith(".") and (not self._hidden or entry.name == ".git"):
                continue
            inner = f"{path}{entry.name}"
            kind = _kind(entry)
            if kind == "other" or scope.leaves_out(inner, is_directory=kind == "directory"):
                continue
            if kind == "file":
                yield FoundFile(inner, entry.name, descriptor)
            else:
                yield from self._subdirectory(descriptor, entry.name, inner, scope, depth)

    def _subdirectory(
        self, parent: int, name: str, path: str, scope: _Scope, depth: int
    ) -> Iterator[FoundFile]:
        if depth == DEPTH_LIMIT:
            self.report.unreadable.append(f"{path} (deeper than {DEPTH_LIMIT} directories)")
            return
        try:
            descriptor = os.open(name, _ENTER, dir_fd=parent)
        except OSError:
            self.report.unreadable.append(path)
            return
        try:
            yield from self._directory(descriptor, f"{path}/", scope, depth + 1)
        finally:
            os.close(descriptor)

    def _enter(self, scope: _Scope, descriptor: int, path: str) -> _Scope:
        """What counts inside a directory; the rules of an outer repository end where another begins."""
        if _is_repository(descriptor):
            exclude = self._read_rules(descriptor, path, ".git/info/exclude")
            scope = _Scope(tuple(_Placed(rules, taken=path) for rules in exclude), in_repository=True)
        if not scope.in_repository:
            return scope
        own = self._read_rules(descriptor, path, ".gitignore")
        return _Scope((*(_Placed(rules, taken=path) for rules in own), *scope.files), in_repository=True)

    def _scope_above(self, descriptor: int) -> _Scope:
        """What counts at the root: the ignore files between it and the top of the repository that holds it."""
        files: list[_Placed] = []
        inside = ""
        if _is_repository(descriptor):
            return _Scope()
        for name, place in zip(
            (self._root.name, *(each.name for each in self._root.parents)), self._root.parents, strict=False
        ):
            inside = f"{name}/{inside}"
            try:
                above = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError:
                break
            try:
                is_top = _is_repository(above)
                names = (".gitignore", ".git/info/exclude") if is_top else (".gitignore",)
                for each in names:
                    files += [
                        _Placed(rules, added=inside) for rules in self._read_rules(above, f"{place}/", each)
                    ]
            finally:
                os.close(above)
            if is_top:
                return _Scope(tuple(files), in_repository=True)
        return _Scope()

    def _read_rules(self, descriptor: int, path: str, name: str) -> tuple[IgnoreRules, ...]:
        """The rules of an ignore file in a directory, as a tuple of one; empty where there is none."""
        text = _read_text(descriptor, name)
        if text is None:
            return ()
        rules = parse_ignore_rules(text)
        self.report.bad_rules += [(f"{path}{name}", rule.line, rule.text) for rule in rules.bad]
        return (rules,)


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir(follow_symlinks=False):
            return "directory"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:  # it vanished meanwhile
        return "other"


def _is_repository(descriptor: int) -> bool:
    try:
        os.stat(".git", dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True


def _read_text(descriptor: int, name: str) -> str | None:
    """Text of a small regular file; None for anything else, without ever waiting for it."""
    try:
        opened = os.open(name, _READ, dir_fd=descriptor)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        return os.read(opened, _IGNORE_FILE_LIMIT).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    finally:
        os.close(opened)
