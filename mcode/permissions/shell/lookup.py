"""Which file a program's name finds, and whether somebody else could have put it there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.process.environment import absolute_path_list

if TYPE_CHECKING:
    from mcode.permissions.paths import PathPolicy

_SYSTEM_GROUPS = 100
"""Groups with lower numbers are the system's own: root, staff, admin."""


class Programs:
    """The programs on the search path that commands get."""

    def __init__(self, path: str, paths: PathPolicy) -> None:
        """`path` is the PATH of child processes."""
        self._directories = absolute_path_list(path).split(os.pathsep)
        self._paths = paths

    def doubt(self, name: str) -> str:
        """Why the program of this name may be another than the system's, as a sentence's end; empty where not."""
        found = next((each for each in self._candidates(name) if _is_program(each)), None)
        if found is None:
            return f"no program {name} is found on PATH"
        real = os.path.realpath(found)
        for file in dict.fromkeys((found, real)):
            if self._paths.inside(self._paths.locate(file)):
                return f"the program {name} is {file}, which lies in the workspace"
            for place in (file, str(Path(file).parent)):
                if _others_can_write(place):
                    return f"the program {name} is {file}, and others can write {place}"
        return ""

    def _candidates(self, name: str) -> list[str]:
        return [f"{directory}/{name}" for directory in self._directories]


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)  # noqa: PTH116 -- hot path, text
    except OSError:
        return False


def _others_can_write(path: str) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116 -- hot path, and the paths here are text
    except OSError:
        return True
    if status.st_mode & stat.S_IWOTH or status.st_uid not in (0, os.geteuid()):
        return True
    by_group = bool(status.st_mode & stat.S_IWGRP)
    return (
        by_group and status.st_gid >= _SYSTEM_GROUPS and status.st_gid not in (os.getegid(), *os.getgroups())
    )
