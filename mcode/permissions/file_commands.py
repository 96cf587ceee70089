"""The few commands that mode acceptEdits runs unasked: `mkdir touch rm rmdir mv cp sed` on files of the workspace."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.path_names import protected_part
from mcode.permissions.resolve import exists, is_directory
from mcode.permissions.secret_names import names_its_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place

ENTRY_LIMIT = 1_000
"""Entries of a directory that are looked at; a command on a larger one is asked about."""

_OPTIONS: dict[str, frozenset[str]] = {
    "mkdir": frozenset(("-p", "-v", "-pv", "--parents")),
    "touch": frozenset(("-c", "-a", "-m")),
    "rm": frozenset(("-f", "-r", "-R", "-rf", "-fr", "-v", "-d", "--force", "--recursive")),
    "rmdir": frozenset(("-v",)),
    "mv": frozenset(("-f", "-n", "-v")),
    "cp": frozenset(("-r", "-R", "-a", "-p", "-f", "-n", "-v", "-rp", "--recursive")),
}
_SED_FLAGS = frozenset(
    ("-n", "-E", "-r", "-i", "-s", "--quiet", "--silent", "--regexp-extended", "--in-place")
)
_ADDRESS = r"(?:\d+|\$|/[^/\\\n\[]*/)"
_SED_BEGINNING = re.compile(rf"(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)?")
_MOVING = frozenset(("mv", "cp"))
"""A link that is moved or copied may lead elsewhere than it did, and the next command of the line goes through it."""

_RECURSIVE = frozenset(("-r", "-R", "-a", "-rp", "--recursive"))


def edits_workspace_only(
    words: Sequence[str], directory: Path, paths: PathPolicy, restricted: Callable[[Place], bool]
) -> bool:
    """True where a command is one of these, and each of its operands may be changed unasked.

    `words` are literal, `directory` is where it runs. `restricted` tells whether a deny or ask rule speaks of a place.
    """
    program, *rest = words
    ground = _Ground(paths, directory, restricted)
    if program == "sed":
        operands = _operands_of_sed(rest)
        return bool(operands) and all(ground.may_change(word) for word in operands)
    options = _OPTIONS.get(program)
    if options is None:
        return False
    operands = [word for word in rest if not word.startswith("-")]
    if not operands or any(word.startswith("-") and word not in options for word in rest):
        return False
    if program == "cp" and not ground.takes_copies(rest, operands):
        return False
    may_move = program not in _MOVING or not any(
        ground.holds_links(word) or ground.hides(word) for word in operands
    )
    return may_move and all(ground.may_change(word) for word in operands)


def _operands_of_sed(words: list[str]) -> list[str]:
    """The files of a sed whose scripts only replace and print; empty for any other."""
    scripts: list[str] = []
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0))
        elif word.startswith("-") and word not in _SED_FLAGS:
            return []
        elif not word.startswith("-"):
            operands.append(word)
    if not scripts and operands:
        scripts.append(operands.pop(0))
    return operands if all(map(_only_replaces, scripts)) else []


def _only_replaces(script: str) -> bool:
    """True for `s///` and `p` behind an address or two, written so that every sed reads it in one way."""
    beginning = _SED_BEGINNING.match(script)
    command = script[beginning.end() :] if beginning is not None else script
    if command == "p":
        return True
    if len(command) < 4 or command[0] != "s" or "\n" in script or command[1].isalnum() or command[1] in "\\ ":
        return False
    mark = command[1]
    return command.count(mark) == 3 and re.fullmatch(r"[gpiI0-9]*", command.rpartition(mark)[2]) is not None


@dataclass(frozen=True, slots=True)
class _Ground:
    """Which places such a command may touch."""

    paths: PathPolicy
    directory: Path
    restricted: Callable[[Place], bool]

    def may_change(self, word: str) -> bool:
        """True where the operand, and everything in it, may be changed unasked."""
        # `dir/.`, `dir/` and `dir/..` mean the content of a directory to some programs: what lands where is not plain.
        segments = word.split("/")
        if any(segment in (".", "..") for segment in segments[1:]) or segments[-1] in ("", ".", ".."):
            return False
        place = self.paths.locate(word, self.directory)
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
        if is_directory(self.paths.locate(destination, self.directory).resolved):
            targets = [f"{destination}/{source.rpartition('/')[2]}" for source in sources]
        if any(word in _RECURSIVE for word in words):
            # Below an existing directory there may be links; a copy writes through them.
            return not any(exists(self.paths.locate(each, self.directory).resolved) for each in targets)
        return all(self.may_change(each) for each in targets)

    def holds_links(self, word: str) -> bool:
        """True where the operand is a symbolic link or has one in it, or is too large to tell."""
        place = self.paths.locate(word, self.directory)
        if place.resolved != place.spellings[0]:
            return True
        return not _all_below(place, lambda entry: not entry.is_symlink())

    def hides(self, word: str) -> bool:
        """True where what is in the directory is a secret by the directory's name."""
        return any(map(names_its_secrets, self.paths.locate(word, self.directory).spellings))

    def _content_is_free(self, place: Place) -> bool:
        """True where nothing protected lies in the directory, as far as that can be seen in a moment."""
        return _all_below(
            place,
            lambda entry: (
                protected_part(entry.name) is None and not self.restricted(self.paths.locate(entry.path))
            ),
        )


def _all_below(place: Place, fits: Callable[[os.DirEntry[str]], bool]) -> bool:
    """True where each entry in and below a directory fits. False, too, where not all of them can be looked at."""
    seen = 0
    waiting = [place.resolved] if is_directory(place.resolved) else []
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > ENTRY_LIMIT or not fits(entry):
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except OSError:
        return False
    return True
