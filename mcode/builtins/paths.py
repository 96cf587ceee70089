"""Paths in the arguments of file tools: checked, made absolute, judged and used as the same place."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.builtins.refusal import RefusalError

if TYPE_CHECKING:
    from mcode.tool import Workspace

JUDGED_LIMIT = 1_000
"""Paths whose judgement is remembered; older ones are dropped (calls that were judged and never ran)."""

_TRIES = 3
_NOWHERE = Path("/dev/null/unresolved")
"""Stands for the target of a path that could not be resolved; no path leads there, so `take` refuses."""


def longest_path() -> int:
    """Bytes that a path may have on this system."""
    try:
        return os.pathconf("/", "PC_PATH_MAX")
    except (OSError, ValueError):
        return 4_096


def make_absolute(text: str, workspace: Workspace, argument: str = "file_path") -> Path:
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
    """

    def __init__(self) -> None:
        self._judged: dict[Path, set[Path]] = {}

    def judge(self, path: Path) -> tuple[Path, ...]:
        """The path and, if it differs, the place it leads to: both are to be judged."""
        try:
            target = resolve(path)
        except RefusalError:
            target = _NOWHERE
        self._judged.setdefault(path, set()).add(target)
        if len(self._judged) > JUDGED_LIMIT:
            del self._judged[next(iter(self._judged))]
        return (path,) if target in {path, _NOWHERE} else (path, target)

    def take(self, path: Path) -> Path:
        """The place to act on. Raises RefusalError if the path led elsewhere when it was judged."""
        judged = self._judged.pop(path, None)
        target = resolve(path)
        if judged is not None and judged != {target}:
            raise RefusalError(
                f"{path} now leads to {target}, which is not where it led when this call was judged: a symbolic "
                "link in the path has changed. Nothing was done. Repeat the call if the link is as it should be."
            )
        return target
