"""Where a path leads: every spelling of it on the way through symbolic links, and the place itself."""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass
from functools import cache

LINK_LIMIT = 40
"""Symbolic links that are followed; the kernel gives up at about as many."""


@dataclass(frozen=True, slots=True)
class Place:
    """One path of a call, resolved once; all checks look at this value."""

    given: str
    """The path as the tool names it: absolute, unresolved."""
    spellings: tuple[str, ...]
    """Absolute paths without `.` and `..` that name the place: as given, after each link, resolved (last)."""
    folded: tuple[str, ...]
    """The spellings with Unicode composed and in lower case, in which deny and ask rules are compared."""
    fault: str = ""
    """Why the path cannot be resolved; such a call is never let through unasked."""

    @property
    def resolved(self) -> str:
        """The place itself: no symbolic link in it, as far as it exists."""
        return self.spellings[-1]


def locate(path: str, directory: str) -> Place:
    """Resolve `path`, seen from `directory` where it is relative. Opens nothing, raises nothing."""
    given = path if path.startswith("/") else f"{directory}/{path}"
    if "\0" in given:
        return place_of(given, (given.replace("\0", "?"),), "the path contains a NUL character")
    spellings = [real_root("/" + os.path.normpath(given).lstrip("/"))]
    current, fault = "/", ""
    rest = [part for part in reversed(given.split("/")) if part not in ("", ".")]
    links = 0
    while rest:
        part = rest.pop()
        if part == "..":
            current = os.path.dirname(current)  # noqa: PTH120 -- runs for every component of every path
            continue
        step = f"{current}/{part}" if current != "/" else f"/{part}"
        target = _link_target(step)
        if target is None:
            current = step
            continue
        links += 1
        if links > LINK_LIMIT:
            fault = f"the path passes more than {LINK_LIMIT} symbolic links"
            break
        if target.startswith("/"):
            current = "/"
        rest.extend(part for part in reversed(target.split("/")) if part not in ("", "."))
        spelled = os.path.normpath("/".join((current, *reversed(rest))))
        spellings.append(real_root("/" + spelled.lstrip("/")))
    passed = tuple(spelling for spelling in dict.fromkeys(spellings) if spelling != current)
    return place_of(given, (*passed, current), fault)


def place_of(given: str, spellings: tuple[str, ...], fault: str = "") -> Place:
    """A place from its spellings, the resolved one last."""
    return Place(given, spellings, tuple(map(lowered, spellings)), fault)


def lowered(text: str) -> str:
    """Composed and in lower case. (Not case-folded: that may change the length.)"""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def real_root(path: str) -> str:
    """Replace a link directly under `/` (such as `/tmp` or `/bin` on some systems) by what it points to."""
    first, slash, rest = path[1:].partition("/")
    target = _root_links().get(first)
    return path if target is None else f"{target}{slash}{rest}"


def identity(path: str) -> tuple[int, int] | None:
    """What the file system knows the file by: device and inode; None where there is no such file."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- hot path, and the paths here are text
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def exists(path: str) -> bool:
    """True where something lies there, links followed; False as well where it cannot be looked at."""
    return identity(path) is not None


def is_directory(path: str) -> bool:
    """True for an existing directory, links followed; False as well where it cannot be looked at."""
    return _has_type(path, stat.S_IFDIR)


def is_file(path: str) -> bool:
    """True for an existing regular file, links followed; False as well where it cannot be looked at."""
    return _has_type(path, stat.S_IFREG)


def is_git_directory(path: str) -> bool:
    """True for what git takes for a repository's own directory, whatever its name is."""
    return is_file(f"{path}/HEAD") and is_directory(f"{path}/objects") and is_directory(f"{path}/refs")


def parents(path: str) -> tuple[str, ...]:
    """The path and all its parents, the longest first."""
    found: list[str] = []
    while path not in ("/", ""):
        found.append(path)
        path = path.rpartition("/")[0]
    return (*found, "/")


def _has_type(path: str, kind: int) -> bool:
    try:
        return stat.S_IFMT(os.stat(path).st_mode) == kind  # noqa: PTH116 -- hot path, and paths here are text
    except (OSError, ValueError):
        return False


def _link_target(path: str) -> str | None:
    try:
        if not stat.S_ISLNK(os.lstat(path).st_mode):
            return None
        return os.readlink(path)  # noqa: PTH115 -- the target's own spelling, not a Path
    except OSError:
        return None


@cache
def _root_links() -> dict[str, str]:
    links: dict[str, str] = {}
    try:
        with os.scandir("/") as entries:
            for entry in entries:
                if entry.is_symlink():
                    links[entry.name] = os.path.realpath(entry.path)
    except OSError:
        return {}
    return links
