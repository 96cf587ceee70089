"""Paths whose removal is always asked about: `/`, its children, the home, the workspace and their parents."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mcode.permissions.path_names import folded
from mcode.permissions.resolve import identity, parents
from mcode.permissions.shell.files import directories_of, plain_path, without_braces

if TYPE_CHECKING:
    from mcode.permissions.shell.reach import Reach
    from mcode.tool import Workspace

_EVERYTHING = ("*", ".*", "**", "?*", "*.*")
_VARIABLE = r"(?:\$[\w@*#?$!-]+|\$\{[^}]*\}|\$\([^()]*\)|`[^`]*`)"
_VARIABLE_WORD = re.compile(rf"(?P<before>[^$`]*){_VARIABLE}+(?P<after>[^$`]*)")
_LITERAL = re.compile(r"(?:~(?=/|$)|/)?[\w./@%+,=:-]*")
_DIRECTLY_UNDER = re.compile(r"/+|/*[^/]*[*?\[][^/]*/*")


class CriticalPaths:
    """The critical paths for the commands of one line."""

    def __init__(self, reach: Reach, workspace: Workspace) -> None:
        self._workspace = workspace
        self._directories = directories_of(reach, workspace)
        guarded = {"/", *parents(str(workspace.home)), *parents(os.path.realpath(workspace.home))}
        for root in (*workspace.roots, workspace.current):
            guarded.update(parents(str(root)))
        self._names = {folded(each) for each in guarded}
        self._identities = {identity(each) for each in guarded} - {None}

    def includes(self, word: str, *, recursive: bool) -> bool:
        """True where the word of a command that removes may stand for a critical path.

        `recursive`: the command removes directories, so that a word which may be anything counts.
        """
        if word == "":
            return recursive
        return any(self._is_critical_word(option, recursive) for option in without_braces(word))

    def names(self, word: str) -> bool:
        """True where the word is a critical path as it stands, with nothing in it that the shell expands."""
        return word != "" and _LITERAL.fullmatch(word) is not None and self._directories is not None

    def _is_critical_word(self, word: str, recursive: bool) -> bool:
        path = plain_path(word, self._workspace)
        if path is None:
            return self._is_critical_variable(word, recursive)
        if not path.startswith("/") and self._directories is None:
            return recursive
        directory, _, last = path.rpartition("/")
        if last in _EVERYTHING:
            path = directory or ("/" if path.startswith("/") else ".")
        if path.startswith("/"):
            return self._is_critical(path)
        return any(self._is_critical(f"{base}/{path}") for base in self._directories or ())

    def _is_critical_variable(self, word: str, recursive: bool) -> bool:
        """A variable alone may be any path; what has a fixed name below one is not directly under it."""
        found = _VARIABLE_WORD.fullmatch(word)
        if found is None:
            return recursive or word[-1:] in "/*"
        if found["after"] != "":
            return _DIRECTLY_UNDER.fullmatch(found["after"]) is not None
        before = plain_path(found["before"], self._workspace) or ""
        return recursive and (before == "" or self._is_critical(before))

    def _is_critical(self, path: str) -> bool:
        for spelled in (os.path.normpath(path), os.path.realpath(path)):
            absolute = "/" + spelled.lstrip("/")
            if absolute.count("/") == 1 or folded(absolute) in self._names:
                return True
            if identity(absolute) in self._identities:
                return True
        return False
