"""The one place that judges paths: inside the workspace or not, protected, secret, readable without asking."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.path_names import protected_part, secret_part
from mcode.permissions.resolve import identity, is_directory, is_file, locate, parents, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.permissions.resolve import Place
    from mcode.tool import Workspace

_HOOKS_PATH = re.compile(r"^\s*hookspath\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_GIT_FILE_LIMIT = 1_000_000


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
        self._git = frozenset(found for root in workspace.roots for found in _git_directories(root))

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
            part = protected_part(spelling)
            if part is not None:
                return f"`{part}` is protected"
        for base in self._own:
            if _within(place.resolved, base):
                return f"it lies in the settings directory {base}"
        for base in self._git:
            if _within(place.resolved, base):
                return f"it lies in the git directory or hooks directory {base}"
        for parent in parents(place.resolved):
            if _is_git_directory(parent):
                return f"{parent} is a git directory"
        return None

    def secret(self, place: Place) -> str | None:
        """Why reading this place shows secrets; None where it does not look so."""
        for spelling in place.spellings:
            part = secret_part(spelling)
            if part is not None:
                return f"`{part}` is the name of a file that holds credentials"
        return None

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


def _is_git_directory(path: str) -> bool:
    return is_file(f"{path}/HEAD") and is_directory(f"{path}/objects") and is_directory(f"{path}/refs")


def _git_directories(root: Path) -> tuple[str, ...]:
    """The git directory that serves `root`, wherever it lies, and the hooks directory that it names."""
    for parent in (root, *root.parents):
        entry = parent / ".git"
        if is_directory(str(entry)):
            return _with_hooks(entry.resolve(), parent)
        if is_file(str(entry)):
            named = _read(entry).partition("gitdir:")[2].strip()
            return _with_hooks((parent / named).resolve(), parent) if named else ()
    return ()


def _with_hooks(directory: Path, top: Path) -> tuple[str, ...]:
    found = [str(directory)]
    common = _read(directory / "commondir").strip()
    if common:
        directory = (directory / common).resolve()
        found.append(str(directory))
    for named in _HOOKS_PATH.findall(_read(directory / "config")):
        hooks = Path(named.strip('"')).expanduser()
        found.append(str((top / hooks).resolve()))
    return tuple(found)


def _read(path: Path) -> str:
    """A small text file of git's; empty where it is missing, too large or not readable."""
    try:
        if path.stat().st_size > _GIT_FILE_LIMIT:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
