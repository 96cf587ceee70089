"""The one place that judges paths: inside the workspace or not, protected, secret, readable without asking."""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING

from mcode.config.repository import git_places
from mcode.permissions.git import config as git
from mcode.permissions.path_names import protected_part
from mcode.permissions.resolve import identity, is_directory, is_git_directory, locate, parents, place_of
from mcode.permissions.secret_names import hides_folder, secret_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mcode.permissions.resolve import Place
    from mcode.tool import Workspace


_PLAIN = re.compile(r"[\w./@%+,=:-]*")


class PathPolicy:
    """What may be done to which path of this session without asking, by the path alone."""

    def __init__(
        self, workspace: Workspace, *, own: Iterable[Path] = (), readable: Sequence[Path] = ()
    ) -> None:
        """`own`: directories of settings and sessions, which are protected. `readable`: files and directories of
        the session outside the workspace that are read without asking.
        """
        self.workspace = workspace
        self._own = tuple(str(path.resolve()) for path in own)
        self._readable = tuple(str(path.resolve()) for path in readable)
        self._git = frozenset(str(found) for root in workspace.roots for found in git_places(root))

    def beside(self, workspace: Workspace) -> PathPolicy:
        """The same for a sub-agent's working directories."""
        view = copy(self)
        view.workspace = workspace
        if workspace.tree is not None:
            places = (str(found) for root in workspace.roots for found in git_places(root))
            view._git = self._git.union(places)  # noqa: SLF001 -- the same class
        return view

    def below_tree(self, word: str) -> str:
        """A plain word without the path of the sub-agent's worktree: where that lies makes nothing in it protected."""
        tree = self.workspace.tree
        if tree is None or ".." in word or not _PLAIN.fullmatch(word):
            return word
        return word.replace(f"{tree}/", "")

    def locate(self, path: Path | str, directory: Path | None = None) -> Place:
        """Resolve a path, seen from `directory` (the workspace's current one) where it is relative."""
        place = locate(str(path), str(directory or self.workspace.current))
        spelled = place.spellings[0]
        if spelled != place.resolved and self._root_of(spelled) is None and self.inside(place):
            renamed = self._in_terms_of_a_root(spelled)
            if renamed is not None:
                return place_of(place.given, (renamed, *place.spellings[1:]))
        return place

    def inside(self, place: Place) -> bool:
        """True where the resolved path is a working directory or lies in one.

        Compared by components, and by the file system's identity of each parent where the spelling differs.
        """
        if place.fault:
            return False
        if self._root_of(place.resolved) is not None:
            return True
        roots = {identity(str(root)) for root in self.workspace.roots} - {None}
        return any(identity(parent) in roots for parent in parents(place.resolved))

    def readable(self, place: Place) -> bool:
        """True for the session's own side files."""
        return not place.fault and any(_within(place.resolved, base) for base in self._readable)

    def protection(self, place: Place) -> str | None:
        """Why writing this place always asks; None where it does not."""
        for spelling in place.spellings:
            part = protected_part(self._in_tree(spelling) or spelling)
            if part is not None:
                return f"`{part}` is protected"
        for base in self._own:
            if _within(place.resolved, base) and self._in_tree(place.resolved) is None:
                return f"it lies in the settings directory {base}"
        for base in self._git:
            if _within(place.resolved, base):
                return f"it lies in the git directory or hooks directory {base}"
        for parent in parents(place.resolved):
            if is_git_directory(parent):
                return f"{parent} is a git directory"
        return None

    def secret(self, place: Place) -> str | None:
        """Why reading this place shows secrets; None where it does not look so."""
        for spelling in place.spellings:
            part = secret_part(spelling)
            if part is not None and (hides_folder(spelling) or not is_directory(place.resolved)):
                return f"`{part}` is the name of a file that holds credentials"
        if git.holds_credentials(place.resolved):
            return "it configures git and holds credentials"
        return None

    def why_reading_asks(self, place: Place, *, content: bool = True) -> str:
        """Why reading this place needs permission, as a sentence's end; empty where it is read without asking.

        The one answer for file tools, arguments of commands and mentions. `content` is False where only names and
        sizes are shown.
        """
        if place.fault:
            return f"{place.spellings[0]}: {place.fault}"
        if self.readable(place):
            return ""
        secret = self.secret(place) if content else None
        if secret is not None:
            return f"reading {place.resolved} asks: {secret}"
        if not self.inside(place):
            leads = "" if place.resolved == place.given else f" (it leads to {place.resolved})"
            return f"{place.given}{leads} is outside the working directories"
        return ""

    def _in_tree(self, path: str) -> str | None:
        """The path below the sub-agent's worktree; None for what is not in there, and for its top."""
        tree = self.workspace.tree
        return path[len(str(tree)) + 1 :] if tree is not None and path.startswith(f"{tree}/") else None

    def _root_of(self, path: str) -> str | None:
        for root in self.workspace.roots:
            if _within(path, str(root)):
                return str(root)
        return None

    def _in_terms_of_a_root(self, spelled: str) -> str | None:
        """Rewrite a path that reaches a root by another name; what follows the root stays as spelled."""
        roots = {identity(str(root)): str(root) for root in self.workspace.roots}
        for parent in reversed(parents(spelled)):
            root = roots.get(identity(parent))
            if root is not None:
                return root + spelled[len(parent) :]
        return None


def _within(path: str, base: str) -> bool:
    return path == base or path.startswith(base if base.endswith("/") else base + "/")
