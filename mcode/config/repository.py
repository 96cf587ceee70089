"""The git repository that a directory lies in, found by reading `.git`, never by starting git."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.plain_file import read_plain, resolve

if TYPE_CHECKING:
    from pathlib import Path

POINTER_LIMIT = 8192
"""Bytes of a `.git` file, `commondir` or `gitdir`; each holds one path."""


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
    try:
        text = os.fsdecode(read_plain(file, POINTER_LIMIT)).strip()
        if not text.startswith(prefix) or text == prefix:
            return None
        return resolve(file.parent / text[len(prefix) :].strip())
    except OSError:
        return None
