"""Whether what a repository configures for itself is inert: nothing in it makes git run a program or look elsewhere.

The files are read, git is not asked: no process starts in a folder to find out whether processes may start. What is
not understood is not inert. Files of the user and of the system are the user's own and not looked at.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from mcode.config.plain_file import read_plain
from mcode.config.repository import git_directory
from mcode.masking import Masker
from mcode.permissions.resolve import is_file, is_git_directory, parents

SIZE_LIMIT = 256 * 1024
"""Bytes of a configuration file that is read."""

_INERT = re.compile(
    r"""
    core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|autocrlf|eol
        |safecrlf|symlinks|longpaths|quotepath|abbrev|untrackedcache|whitespace|sharedrepository|compression
        |preloadindex|fscache|commitgraph|multipackindex|checkstat|trustctime)
    | extensions\.(?:objectformat|refstorage|worktreeconfig)
    | user\..* | author\..* | committer\..* | pull\..* | init\..* | color\..* | branch\..*
    | remote\..*\.(?:url|pushurl|fetch|push|mirror|tagopt|prune|skipdefaultupdate|gh-resolved)
    | remote\.pushdefault | push\.(?:default|autosetupremote|followtags) | fetch\.(?:prune|prunetags|parallel)
    | rebase\.(?:autostash|autosquash|stat) | merge\.(?:ff|conflictstyle|stat|log)
    | rerere\.(?:enabled|autoupdate) | commit\.(?:gpgsign|verbose) | tag\.(?:gpgsign|sort)
    | status\.(?:short|branch|showuntrackedfiles|relativepaths|aheadbehind)
    | log\.(?:date|decorate|abbrevcommit|follow)
    | diff\.(?:algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context|interhunkcontext)
    | submodule\..*\.(?:url|active|branch) | submodule\.active
    | gc\.(?:auto|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable) | maintenance\.(?:auto|strategy)
    | lfs\.(?:url|repositoryformatversion|.*\.access|.*\.locksverify) | gui\..* | gitg\..*
    | advice\..* | feature\..* | index\.(?:version|threads) | pack\.(?:threads|windowmemory)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONFIGURATIONS = ("config", "config.worktree")
_LONE_TOKEN = re.compile(r"https?://[^/\s:@]{20,}@", re.IGNORECASE)
"""An address that begins with one long word in place of name and password."""

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\](.*)')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*)|[#;].*)?")


def obstacle(directory: str) -> str:
    """Why git may not be run unasked in a directory, as the end of a sentence; empty where nothing hinders."""
    for top in parents(directory):
        if is_git_directory(top):
            return f"{top} is a git directory itself, or a bare repository"
        if not os.path.lexists(f"{top}/.git"):
            continue
        git = git_directory(Path(top))
        if git is None:
            return f"{top}/.git could not be followed to a git directory"
        return _obstacle_of(git)
    return ""


def holds_credentials(path: str) -> bool:
    """True for a repository's configuration in which a credential stands: in an address, a header, or by its name."""
    folder, _, name = path.rpartition("/")
    if name.lower() not in _CONFIGURATIONS:
        return False
    if ".git" not in folder.lower().split("/") and not is_git_directory(folder):
        return False
    try:
        status = os.stat(path)  # noqa: PTH116 -- hot path, and the paths here are text
    except (OSError, ValueError):
        return False
    return _has_credentials(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=256)
def _has_credentials(file: str, *identity: int) -> bool:
    """Read once for each state of the file. What cannot be read here may hold some."""
    del identity
    try:
        raw = read_plain(Path(file), SIZE_LIMIT)
    except OSError:
        return True
    text = raw.decode("utf-8", "replace")
    return len(raw) > SIZE_LIMIT or bool(_LONE_TOKEN.search(text)) or Masker().mask(text) != text


def _obstacle_of(git: Path) -> str:
    common = git
    if is_file(f"{git}/commondir"):
        try:
            common = Path(os.path.realpath(git / os.fsdecode(read_plain(git / "commondir", 4096)).strip()))
        except OSError:
            return f"{git}/commondir cannot be read"
    for file in (common / "config", git / "config.worktree", common / "config.worktree"):
        found = _obstacle_in(file)
        if found:
            return found
    return ""


def _obstacle_in(file: Path) -> str:
    try:
        status = file.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{file} cannot be looked at ({error.strerror})"
    return _judged(str(file), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=256)
def _judged(file: str, *identity: int) -> str:
    """Read once for each state of the file."""
    del identity
    try:
        raw = read_plain(Path(file), SIZE_LIMIT)
    except OSError as error:
        return f"{file} cannot be read ({error.strerror})"
    if len(raw) > SIZE_LIMIT:
        return f"{file} is larger than {SIZE_LIMIT} bytes"
    try:
        keys = keys_of(raw.decode())
    except (UnicodeDecodeError, ValueError) as error:
        return f"{file} could not be read as the configuration of git ({error})"
    for key in keys:
        if not _INERT.fullmatch(key):
            return f"{file} sets {key}, which may make git run a program or read elsewhere"
    return ""


def keys_of(text: str) -> tuple[str, ...]:
    """The keys that a configuration file sets, `section.subsection.key`. Raises ValueError for what is not plain."""
    section = ""
    found: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        rest = line.removesuffix("\r").strip()
        if number == 1:
            rest = rest.removeprefix("\ufeff")
        opened = _SECTION.fullmatch(rest)
        if opened is not None:
            section = opened[1] if opened[2] is None else f"{opened[1]}.{opened[2]}"
            rest = opened[3].strip()
        if rest == "" or rest[0] in "#;":
            continue
        key = _KEY.fullmatch(rest)
        if key is None or not section:
            raise ValueError(f"line {number} is not plain")
        if rest.endswith("\\"):
            raise ValueError(f"line {number} goes on in the next")
        found.append(f"{section}.{key[1]}")
    return tuple(found)
