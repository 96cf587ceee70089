"""The few commands that mode acceptEdits runs unasked: `mkdir touch rm rmdir mv cp` on files of the workspace.

Only a line that every shell reads in one way counts: one command, words of letters, digits and `_ . / -`.
(`sed`, which the mode names too, can write and run by its script; it waits for a real reading of the line.)
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.path_names import protected_part
from mcode.permissions.resolve import exists, is_directory

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place

ENTRY_LIMIT = 1_000
"""Entries of a directory that are looked at; a command on a larger one is asked about."""

_PLAIN = re.compile(r"[A-Za-z0-9_./-]+(?: +[A-Za-z0-9_./-]+)*")
_OPTIONS: dict[str, frozenset[str]] = {
    "mkdir": frozenset(("-p", "-v", "-pv", "--parents")),
    "touch": frozenset(("-c", "-a", "-m")),
    "rm": frozenset(("-f", "-r", "-R", "-rf", "-fr", "-v", "-d", "--force", "--recursive")),
    "rmdir": frozenset(("-v",)),
    "mv": frozenset(("-f", "-n", "-v")),
    "cp": frozenset(("-r", "-R", "-a", "-p", "-f", "-n", "-v", "-rp", "--recursive")),
}
_RECURSIVE = frozenset(("-r", "-R", "-a", "-rp", "--recursive"))


def edits_workspace_only(line: str, paths: PathPolicy, restricted: Callable[[Place], bool]) -> bool:
    """True where the line is one of these commands and each of its operands may be changed unasked.

    `restricted` tells whether a deny or ask rule speaks of a place.
    """
    if not _PLAIN.fullmatch(line):
        return False
    program, *words = line.split(" ")
    options = _OPTIONS.get(program)
    if options is None or not _is_the_system_s(program, paths):
        return False
    words = [word for word in words if word]
    operands = [word for word in words if not word.startswith("-")]
    if not operands or any(word.startswith("-") and word not in options for word in words):
        return False
    ground = _Ground(paths, restricted)
    if program == "cp" and not ground.takes_copies(words, operands):
        return False
    return all(ground.may_change(word) for word in operands)


@dataclass(frozen=True, slots=True)
class _Ground:
    """Which places such a command may touch."""

    paths: PathPolicy
    restricted: Callable[[Place], bool]

    def may_change(self, word: str) -> bool:
        """True where the operand, and everything in it, may be changed unasked."""
        # `dir/.`, `dir/` and `dir/..` mean the content of a directory to some programs: what lands where is not plain.
        segments = word.split("/")
        if any(segment in (".", "..") for segment in segments[1:]) or segments[-1] in ("", ".", ".."):
            return False
        place = self.paths.locate(word)
        roots = {str(root) for root in self.paths.workspace.roots}
        if place.fault or place.resolved in roots or not self.paths.inside(place):
            return False
        if self.paths.protection(place) is not None or self.paths.secret(place) is not None:
            return False
        return not self.restricted(place) and self._content_is_free(place)

    def takes_copies(self, words: list[str], operands: list[str]) -> bool:
        """True where no link that is already there can lead a copy out of the workspace."""
        *sources, destination = operands
        targets = [destination]
        if is_directory(self.paths.locate(destination).resolved):
            targets = [f"{destination}/{source.rpartition('/')[2]}" for source in sources]
        if any(word in _RECURSIVE for word in words):
            # Below an existing directory there may be links; a copy writes through them.
            return not any(exists(self.paths.locate(each).resolved) for each in targets)
        return all(self.may_change(each) for each in targets)

    def _content_is_free(self, place: Place) -> bool:
        """True where nothing protected lies in the directory, as far as that can be seen in a moment."""
        seen = 0
        waiting = [place.resolved] if is_directory(place.resolved) else []
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > ENTRY_LIMIT or protected_part(entry.name) is not None:
                            return False
                        if self.restricted(self.paths.locate(entry.path)):
                            return False
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except OSError:
                return False
        return True


def _is_the_system_s(program: str, paths: PathPolicy) -> bool:
    """True where the name does not find a program that lies in the workspace."""
    found = shutil.which(program)
    return found is not None and not paths.inside(paths.locate(found))
