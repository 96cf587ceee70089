"""Which tracked files something other than mcode's tools has changed since a given time, as far as git can tell.

Files of the work tree are compared with the commit that was checked out then. Of those that differ, the ones count
that were touched since, and that do not hold what mcode's tools left in them. What git does not track, and what was
changed before the moment and put back to the commit since, cannot be seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.agent.inert_git import InertGit
from mcode.session.undo import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LIMIT = 2.0
"""Seconds that the answer may take."""

_CLOCK_STEP = 0.02
"""Seconds by which a file system's clock may be behind."""

_LISTED_BYTES = 1_000_000
_HASHED_BYTES = 16 * 1024 * 1024

_COMPARE = (
    *("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    *("--no-renames", "--name-only", "-z"),
)


@dataclass(frozen=True, slots=True)
class TrackedChanges:
    """What was found, or why nothing can be said."""

    paths: tuple[str, ...] = ()
    """Absolute, in the order of their names."""
    unknown: str = ""
    """Why it cannot be told, as the end of a sentence; empty where `paths` is the answer."""


async def tracked_changes(
    directory: Path, environment: Mapping[str, str], since: float, left: Mapping[str, str]
) -> TrackedChanges:
    """Look at the work tree around an absolute directory, for at most LIMIT seconds.

    `environment`: mcode's own. `since`: seconds since the epoch. `left`: hashes of what mcode's tools left in
    files, or ABSENT, by absolute path. Whatever goes wrong is a reason in the answer.
    """
    try:
        async with asyncio.timeout(LIMIT):
            return await _look(directory, environment, since, left)
    except TimeoutError:
        return TrackedChanges(unknown=f"git had not answered after {LIMIT:g} s")
    except (OSError, ValueError) as error:
        return TrackedChanges(unknown=f"git could not be run ({error})")


async def _look(
    directory: Path, environment: Mapping[str, str], since: float, left: Mapping[str, str]
) -> TrackedChanges:
    top = await asyncio.to_thread(_work_tree, directory)
    if top is None:
        return TrackedChanges(unknown=f"{directory} is in no git work tree")
    git = InertGit.outside((top,), environment)
    if git is None:
        return TrackedChanges(unknown="git was not found outside the work tree")
    # A second earlier: what was committed in the second of the moment is told apart by when the file was touched.
    for commit in (f"HEAD@{{{int(since) - 1}}}", "HEAD", ""):  # no record of moves; no commit yet
        words = (*_COMPARE, *([commit] if commit else []), "--")
        answer = await git.answer(top, *words, output_limit=_LISTED_BYTES, grace=0.1)
        if not answer.fault:
            break
    else:
        return TrackedChanges(unknown=answer.fault)
    if not answer.is_whole:
        return TrackedChanges(unknown="more files differ from the commit than git can list here")
    names = [os.fsdecode(name) for name in answer.data.split(b"\0") if name]
    deadline = time.monotonic() + LIMIT
    return await asyncio.to_thread(_of_others, top, names, since - _CLOCK_STEP, left, deadline)


def _work_tree(directory: Path) -> Path | None:
    directory = directory.resolve()
    return next((top for top in (directory, *directory.parents) if os.path.lexists(top / ".git")), None)


def _of_others(
    top: Path, names: list[str], since: float, left: Mapping[str, str], deadline: float
) -> TrackedChanges:
    found: list[str] = []
    for name in sorted(names):
        if time.monotonic() > deadline:  # nobody waits any more
            break
        path = top / name
        if _touched(path) >= since and (str(path) not in left or left[str(path)] != _content(path)):
            found.append(str(path))
    return TrackedChanges(tuple(found))


def _touched(path: Path) -> float:
    """When a file was last changed in any way, or its nearest directory that is left, where it is gone."""
    for place in (path, *path.parents):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return place.lstat().st_ctime
    return 0.0


def _content(path: Path) -> str:
    """The hash of what a file holds, ABSENT where there is none; empty for what cannot be told."""
    try:
        with path.open("rb") as file:
            data = file.read(_HASHED_BYTES + 1)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= _HASHED_BYTES else ""
