"""Paths in the arguments of file tools: checked, made absolute, judged and used as the same place."""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcode.builtins.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.tool import Workspace

JUDGED_LIMIT = 100
"""Paths whose judgement one task remembers; a call is one task and names one path, hooks may change it."""

_TRIES = 3
_NOWHERE = Path("/dev/null/unresolved")
"""Stands for the target of a path that could not be resolved; no path leads there, so `take` refuses."""

_judged: ContextVar[Mapping[Path, Path]] = ContextVar("judged", default=MappingProxyType({}))
"""Where each path led when the present task judged it last."""


def longest_path() -> int:
    """Bytes that a path may have on this system."""
    try:
        return os.pathconf("/", "PC_PATH_MAX")
    except (OSError, ValueError):
        return 4_096


def make_absolute(text: str, workspace: Workspace, argument: str) -> Path:
    """The path that an argument names, relative ones from the shell's directory; symlinks stay as written.

    Raises ValueError with the reason for text that cannot be a path here.
    """
    _check(text, argument)
    first = text.partition("/")[0]
    if first == "~" and not (workspace.current / "~").exists():
        raise ValueError(
            f"{argument} {text!r}: `~` is not expanded in tool arguments; "
            f"write {workspace.home}{text[1:]} if that is meant"
        )
    path = workspace.current / text
    path = without_parents(path)
    if len(os.fsencode(path)) >= longest_path():
        raise ValueError(f"{argument} is longer than the {longest_path()} bytes that a path may have")
    return path


def _check(text: str, argument: str) -> None:
    if not text:
        raise ValueError(f"{argument} is empty; name a path")
    for character, name in (("\0", "a NUL character"), ("\n", "a newline")):
        if character in text:
            raise ValueError(f"{argument} contains {name}, which mcode does not accept in a path")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{argument} has half a surrogate pair, which is no text") from None
    if size >= longest_path():
        raise ValueError(f"{argument} has {size} bytes; a path may have {longest_path() - 1}")


def without_parents(path: Path) -> Path:
    """Take out `..` where that leads to the same place; behind a symlink it would not, so there it stays."""
    if ".." not in path.parts:
        return path
    short = Path(os.path.normpath(path))
    try:
        return short if resolve(short) == resolve(path) else path
    except RefusalError:
        return path


def resolve(path: Path) -> Path:
    """Where a path leads: symlinks of its existing part followed, the rest appended. Raises RefusalError."""
    for _ in range(_TRIES):
        # A link that goes while it is being followed raises, even where nothing needs to exist.
        with contextlib.suppress(OSError):
            return Path(os.path.realpath(path))
    raise RefusalError(
        f"{path} cannot be resolved, since its symbolic links keep changing. Nothing was done. Try again."
    )


def shown(path: Path, base: Path) -> str:
    """A path as people read it: relative to `base` when inside it, else absolute."""
    try:
        return str(path.relative_to(base))
    except ValueError:
        return str(path)


def printable(path: str) -> str:
    r"""A path as text that JSON can carry: bytes that are not UTF-8 become `\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Targets:
    """Where the paths of calls led when they were judged, so that a call acts on that very place.

    A symlink can change between the judgement and the use. `judge` therefore lists the place itself among the
    paths to be judged, and `take` refuses if the path leads elsewhere by now; from there on, files are only
    opened step by step without following links (`handles`).

    A call is judged and run in one task, and calls at the same time in different ones. So the judgement is
    kept in the task's context: no other call for the same path can use it up or put its own in the place of
    it, and that of a call which never runs goes with its task.
    """

    def judge(self, path: Path) -> tuple[Path, ...]:
        """The path and, if it differs, the place it leads to: both are to be judged."""
        try:
            target = resolve(path)
        except RefusalError:
            target = _NOWHERE
        # A new mapping each time: tasks that were started from this one share the old one.
        before = [(known, place) for known, place in _judged.get().items() if known != path]
        _judged.set({**dict(before[1 - JUDGED_LIMIT :]), path: target})
        return (path,) if target in {path, _NOWHERE} else (path, target)

    def take(self, path: Path) -> Path:
        """The place to act on. Raises RefusalError if the path led elsewhere when this task judged it last."""
        judged = _judged.get().get(path)
        target = resolve(path)
        if judged is None:
            raise RefusalError(
                f"{path} was never judged for this call, so nothing was done with it. That is a fault of mcode's; "
                "repeating the call does not help."
            )
        if judged != target:
            raise RefusalError(
                f"{path} now leads to {target}, which is not where it led when this call was judged: a symbolic "
                "link in the path has changed. Nothing was done. Repeat the call if the link is as it should be."
            )
        return target
