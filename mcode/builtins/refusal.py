"""The error with which a file tool refuses, in words for the model and the user."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from mcode.call import FailureKind
from mcode.errors import McodeError
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from pathlib import Path

UNCHANGED = "Nothing was changed."


class RefusalError(McodeError):
    """A call that cannot be carried out as asked. The text is complete: what, why, what is unchanged."""


_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space, then repeat the call."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space, then repeat the call."),
    errno.EFBIG: (
        "the file would be larger than this process may write (its file size limit)",
        "Write less, or ask the user to raise the limit.",
    ),
    errno.EROFS: ("the file system is mounted read-only", "Choose a path on another file system."),
    errno.EACCES: ("permission denied", "Ask the user to change the permissions."),
    errno.EPERM: (
        "the operation is not permitted (an immutable file, or another owner)",
        "Ask the user about it.",
    ),
    errno.ENAMETOOLONG: ("a name in the path is too long for the file system", "Choose a shorter name."),
    errno.ELOOP: ("symbolic links in the path form a loop", "Use the real path."),
    errno.ENOTDIR: ("a part of the path is not a directory", "Check the path."),
    errno.ENOENT: ("no such file or directory", "Check the path."),
    errno.EISDIR: ("it is a directory", "Name a file in it."),
    errno.EMFILE: ("this process has too many files open", "Repeat the call later."),
    errno.ENFILE: ("the system has too many files open", "Repeat the call later."),
    errno.EBUSY: ("the file is in use as a mount point or by the system", "Ask the user about it."),
}


def explain(error: OSError, doing: str, path: Path, after: str = UNCHANGED) -> RefusalError:
    """Say in words what the system refused; `after` says how the world stands now."""
    fallback = os.strerror(error.errno).lower() if error.errno else str(error)
    reason, advice = _REASONS.get(error.errno or 0, (fallback, ""))
    return RefusalError(f"{doing} {path} failed: {reason}. {after} {advice}".rstrip())


def failed(error: McodeError) -> ToolResult:
    """The result of a call that ended with a refusal."""
    return ToolResult(str(error), failure=FailureKind.TOOL_ERROR, summary="failed")
