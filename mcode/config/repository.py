"""The git repository that a directory lies in, found by reading `.git`, never by starting git.

The only reader of git's files: a folder may have been prepared, so they are read only where they are plain files,
and only so far.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from mcode.config.plain_file import read_plain, resolve

POINTER_LIMIT = 8192
"""Bytes of a `.git` file, `commondir` or `gitdir`; each holds one path."""

CONFIG_LIMIT = 1_000_000
"""Bytes of git's `config` that are looked at."""

BRANCH_LIMIT = 200
"""Characters of a branch's name."""

_BRANCH = re.compile(r"ref: refs/heads/(?P<name>.+)")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMIT_SHOWN = 12
_NOT_IN_A_NAME = re.compile(r"[ <>~^:?*\[\\\x7f]|\.\.|@\{|//|(?:^|/)\.|\.(?:lock)?(?:/|$)|^[-/]|/$")
_HOOKS_PATH = re.compile(r"^\s*hookspath\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Repository:
    root: Path
    """The main checkout, also where the directory lies in a linked worktree."""
    git: Path
    """The git directory of `root`, with its `index`."""


def find_repository(start: Path) -> Repository | None:
    """The nearest repository at or above an absolute, resolved directory; None where there is none."""
    for directory in (start, *start.parents):
        dot_git = directory / ".git"
        try:
            mode = dot_git.stat().st_mode
            if stat.S_ISDIR(mode) and (dot_git / "HEAD").is_file():
                return Repository(directory, dot_git)
        except OSError:
            continue
        if stat.S_ISREG(mode) and (git := _follow(dot_git, "gitdir:")) is not None:
            return _main_checkout(dot_git, git) or Repository(directory, git)
    return None


def branch(start: Path) -> str | None:
    """The branch checked out at an absolute, resolved directory, or the beginning of the commit's name.

    None outside repositories, and for what git would not have named so.
    """
    for directory in (start, *start.parents):
        git = git_directory(directory)
        if git is None:
            continue
        head = _text(git / "HEAD", POINTER_LIMIT)
        if head is None:
            continue
        if _COMMIT.fullmatch(head):
            return head[:_COMMIT_SHOWN]
        found = _BRANCH.fullmatch(head)
        return found["name"] if found and _is_branch(found["name"]) else None
    return None


def git_directory(directory: Path) -> Path | None:
    """What `.git` in this directory is or names, without links; None where there is none. HEAD may be missing."""
    dot_git = directory / ".git"
    try:
        mode = dot_git.stat().st_mode
        if stat.S_ISDIR(mode):
            return resolve(dot_git)
    except OSError:
        return None
    return _follow(dot_git, "gitdir:") if stat.S_ISREG(mode) else None


def git_places(start: Path) -> tuple[Path, ...]:
    """Where git keeps what it obeys for an absolute directory: the git directories that serve it, its hooks."""
    for top in (start, *start.parents):
        git = git_directory(top)
        if git is None:
            continue
        found = [git]
        if (common := _follow(git / "commondir")) is not None:
            found.append(common)
        config = _text(found[-1] / "config", CONFIG_LIMIT, cut=True) or ""
        for named in _HOOKS_PATH.findall(config):
            try:
                found.append(resolve(top / Path(named.strip('"')).expanduser()))
            except (OSError, RuntimeError):
                continue  # no place that could be written
        return tuple(found)
    return ()


def _main_checkout(dot_git: Path, git: Path) -> Repository | None:
    """Where a worktree's `.git` file leads, if the main repository knows this worktree too.

    A `.git` file can name any directory. Without the way back, an unpacked folder could pose as a worktree of
    another project of the user's and take over the rules that were granted there.
    """
    common = _follow(git / "commondir")
    back = _follow(git / "gitdir")
    if common is None or back is None or common.name != ".git":
        return None
    try:
        known = git.parent == common / "worktrees" and back == resolve(dot_git)
    except OSError:
        return None
    return Repository(common.parent, common) if known else None


def _follow(file: Path, prefix: str = "") -> Path | None:
    """The resolved path that a file holds, relative to the file's directory; None where it holds none."""
    text = _text(file, POINTER_LIMIT)
    if text is None or not text.startswith(prefix) or text == prefix:
        return None
    try:
        return resolve(file.parent / text[len(prefix) :].strip())
    except OSError:
        return None


def _text(file: Path, limit: int, *, cut: bool = False) -> str | None:
    """What a plain file holds, without blanks around it; None where it cannot be read, or is longer than `limit`.

    With `cut`, the beginning of a longer one.
    """
    try:
        read = read_plain(file, limit)
    except OSError:
        return None
    return os.fsdecode(read[:limit]).strip() if cut or len(read) <= limit else None


def _is_branch(name: str) -> bool:
    return len(name) <= BRANCH_LIMIT and name.isprintable() and not _NOT_IN_A_NAME.search(name)
