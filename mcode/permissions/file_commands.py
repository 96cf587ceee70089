"""The few commands that mode acceptEdits runs unasked: `mkdir touch rm rmdir mv cp` on files of the workspace.

Only a line that every shell reads in one way counts: one command, words of letters, digits and `_ . / -`.
(`sed`, which the mode names too, can write and run by its script; it waits for a real reading of the line.)
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from mcode.permissions.path_names import protected_part

if TYPE_CHECKING:
    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place

ENTRY_LIMIT = 2_000
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


def edits_workspace_only(line: str, paths: PathPolicy) -> bool:
    """True where the line is one of these commands and each of its operands may be changed unasked."""
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
    return all(_may_change(word, paths) for word in operands)


def _may_change(word: str, paths: PathPolicy) -> bool:
    # `dir/.`, `dir/` and `dir/..` mean the content of a directory to some programs: what lands where is not plain.
    segments = word.split("/")
    if any(segment in (".", "..") for segment in segments[1:]) or segments[-1] in ("", ".", ".."):
        return False
    place = paths.locate(word)
    if place.fault or not paths.inside(place) or place.resolved in map(str, paths.workspace.roots):
        return False
    return paths.protection(place) is None and paths.secret(place) is None and _holds_nothing_protected(place)


def _holds_nothing_protected(place: Place) -> bool:
    """True where nothing protected lies in the directory, as far as that can be seen in a moment."""
    seen = 0
    for _, directories, files in os.walk(place.resolved):
        seen += len(directories) + len(files)
        if seen > ENTRY_LIMIT or any(protected_part(name) is not None for name in (*directories, *files)):
            return False
    return True


def _is_the_system_s(program: str, paths: PathPolicy) -> bool:
    """True where the name does not find a program that lies in the workspace."""
    found = shutil.which(program)
    return found is not None and not paths.inside(paths.locate(found))
