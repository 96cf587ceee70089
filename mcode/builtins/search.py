"""Searches files with ripgrep or with the built-in program; both give the same results."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.builtins.glob_pattern import GlobPattern
from mcode.builtins.handles import open_directory
from mcode.builtins.kinds import require_regular
from mcode.builtins.paths import printable
from mcode.builtins.refusal import RefusalError, explain
from mcode.builtins.regex import to_python
from mcode.builtins.ripgrep import (
    Complaints,
    Query,
    find_ripgrep,
    ripgrep_command,
    ripgrep_complaints,
    worker_command,
    worker_complaints,
)
from mcode.builtins.walk import ENTRY_LIMIT, TIME_LIMIT
from mcode.process.environment import child_environment
from mcode.process.helper import run_helper

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from mcode.process.helper import Printed

LINE_LIMIT = 50_000
"""Matching lines that are taken from one search."""

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of results that are taken from the search program."""
_WORKER_GRACE = 1.0
"""Seconds that mcode's own program, which keeps the limit itself, gets for its start and its report."""
_TROUBLES = 2
"""Highest exit code of a search program that came to its end: something could not be read."""
_SHOWN = 200
"""Characters of a pattern that a refusal repeats."""

_NAMED = 3
"""Files that a notice names; the others are counted."""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line of a file that was printed by a search."""

    number: int
    """From 1."""
    text: str
    matches: bool
    """False for a line of context."""


@dataclass(slots=True)
class FileHits:
    """What was found in one file."""

    path: str
    """Relative to the searched directory; bytes that are not UTF-8 as surrogate escapes."""
    lines: list[FoundLine] = field(default_factory=list[FoundLine])


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search: files with the newest first, and what the reader must know about it."""

    files: tuple[FileHits, ...]
    notices: tuple[str, ...]


class Searcher:
    """Searches with ripgrep where there is one, else with mcode's own program."""

    def __init__(
        self,
        *,
        use_ripgrep: bool = True,
        keep_out: Callable[[Path], bool] | None = None,
        entries: int = ENTRY_LIMIT,
        seconds: float = TIME_LIMIT,
    ) -> None:
        """`keep_out` says which files must not show, whatever was found in them."""
        self._use_ripgrep = use_ripgrep
        self._keep_out = keep_out
        self._entries = entries
        self._seconds = seconds
        self._ripgrep: Path | None = None
        self._is_resolved = False

    async def search(self, query: Query, place: Path, workspace: Sequence[Path]) -> Found:
        """Search a directory or a single file, given by its resolved path. Raises RefusalError."""
        directory, query = await asyncio.to_thread(_settle, query, place)
        await self._resolve(workspace)
        command, standard_input = self._command(query)
        grace = 0 if self._ripgrep is not None else _WORKER_GRACE
        with _entered(directory) as current:
            printed = await run_helper(
                command,
                current,
                child_environment({"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}),
                standard_input,
                seconds=self._seconds + grace,
                output_limit=OUTPUT_LIMIT,
            )
        return await asyncio.to_thread(self._collect, query, directory, printed)

    async def _resolve(self, workspace: Sequence[Path]) -> None:
        if self._use_ripgrep and not self._is_resolved:
            self._ripgrep = await asyncio.to_thread(find_ripgrep, workspace)
            self._is_resolved = True

    def _command(self, query: Query) -> tuple[list[str], bytes]:
        if self._ripgrep is not None:
            return ripgrep_command(self._ripgrep, query)
        try:
            pattern = to_python(query.pattern)
        except ValueError as error:
            raise _bad_pattern(query.pattern, str(error)) from None
        return worker_command(query, pattern, self._entries, self._seconds)

    def _collect(self, query: Query, directory: Path, printed: Printed) -> Found:
        """Make one result of what was printed: read, filtered, newest file first, with notices."""
        if self._ripgrep is not None:
            complaints = ripgrep_complaints(bytes(printed.errors), printed.exit_code)
        else:
            complaints = worker_complaints(bytes(printed.errors))
        complaints.stopped = printed.stopped or _abnormal_end(printed) or complaints.stopped
        if any(file == "/dev/stdin" for file, _, _ in complaints.bad_rules):
            raise _bad_pattern(query.glob or "", "the glob cannot be read")
        if complaints.pattern:
            raise _bad_pattern(query.pattern, complaints.pattern)
        if query.mode == "lines":
            files = _read_lines(printed.output, complaints)
        else:
            names = _read_names(printed.output)
            if len(names) > self._entries:
                complaints.stopped = complaints.stopped or f"after {self._entries:,} files"
            files = [FileHits(path) for path in names[: self._entries]]
        if query.glob is not None and query.only is None:
            glob = GlobPattern(query.glob)
            files = [file for file in files if glob.matches(file.path) is not query.excluding]
        if query.only is None:
            files, kept_out = self._allowed(files, directory)
        else:
            kept_out = 0  # the call named this file, and was judged by that
        notices = _notices(complaints)
        if kept_out:
            notices.append(f"{_count(kept_out, 'file')} left out, since a rule denies reading.")
        if any(not _is_utf8(file.path) for file in files):
            notices.append(
                "Names that are not UTF-8 are shown with \\x escapes; only Bash can use those files."
            )
        return Found(tuple(_newest_first(files, directory)), tuple(notices))

    def _allowed(self, files: list[FileHits], directory: Path) -> tuple[list[FileHits], int]:
        if self._keep_out is None:
            return files, 0
        allowed = [file for file in files if not self._keep_out(directory / file.path)]
        return allowed, len(files) - len(allowed)


def _settle(query: Query, place: Path) -> tuple[Path, Query]:
    """The directory to search in, and the query for it: a single file is searched in its directory."""
    try:
        with open_directory(place.parent) as parent:
            status = parent.status(place.name or ".")
    except OSError as error:
        raise explain(error, "Searching", place, "Nothing was searched.") from None
    if status is None:
        raise RefusalError(f"{place} does not exist. Nothing was searched. Check the path.")
    if stat.S_ISDIR(status.st_mode):
        return place, query
    require_regular(status, place)
    return place.parent, replace(query, only=place.name)


@contextmanager
def _entered(directory: Path) -> Generator[Path]:
    """A path to a directory that stays that directory, where the system offers one."""
    with open_directory(directory) as handle:
        stable = Path(f"/proc/self/fd/{handle.descriptor}")
        yield stable if sys.platform == "linux" and stable.exists() else directory


def _abnormal_end(printed: Printed) -> str:
    """Why a search program ended by itself before it was done; empty where it was done."""
    code = printed.exit_code
    if code is None or 0 <= code <= _TROUBLES:
        return ""
    said = printed.errors.decode("utf-8", "replace").strip().splitlines()
    return f"when its program ended with {code}" + (f": {said[-1]}" if said else "")


def _bad_pattern(pattern: str, reason: str) -> RefusalError:
    shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"
    return RefusalError(
        f"The pattern {shown!r} cannot be used: {reason}. Nothing was searched. Correct the pattern."
    )


def _read_names(output: bytearray) -> list[str]:
    return [os.fsdecode(name.removeprefix(b"./")) for name in bytes(output).split(b"\0")[:-1]]


def _read_lines(output: bytearray, complaints: Complaints) -> list[FileHits]:
    """Read ripgrep's JSON lines. Files in which a NUL came up are binary and left out."""
    files: dict[str, FileHits] = {}
    taken = 0
    for line in bytes(output).split(b"\n")[:-1]:
        record = json.loads(line)
        kind, data = record["type"], record["data"]
        if kind not in {"match", "context", "end"}:
            continue
        path = os.fsdecode(_bytes(data["path"]).removeprefix(b"./"))
        if kind == "end":
            if data["binary_offset"] is not None:
                files.pop(path, None)
            continue
        if taken >= LINE_LIMIT:
            complaints.stopped = complaints.stopped or f"after {LINE_LIMIT:,} lines"
            break
        lines = _bytes(data["lines"]).decode("utf-8", "replace").removesuffix("\n").split("\n")
        hits = files.setdefault(path, FileHits(path))
        hits.lines += [
            FoundLine(number, text.removesuffix("\r"), kind == "match")
            for number, text in enumerate(lines, data["line_number"])
        ]
        taken += len(lines)
    return list(files.values())


def _bytes(value: dict[str, Any]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _newest_first(files: list[FileHits], directory: Path) -> list[FileHits]:
    """Sorted by time of modification, the newest first; by name where that is equal."""

    def age(file: FileHits) -> tuple[int, str]:
        try:
            return -os.lstat(directory / file.path).st_mtime_ns, file.path
        except OSError:  # it vanished meanwhile
            return 0, file.path

    return sorted(files, key=age)


def _notices(complaints: Complaints) -> list[str]:
    notices: list[str] = []
    if complaints.stopped:
        notices.append(
            f"The search stopped {complaints.stopped}; results are incomplete. Narrow path or glob."
        )
    if complaints.unreadable:
        notices.append(f"Could not be searched: {_some(complaints.unreadable)}.")
    if complaints.too_large:
        notices.append(f"Too large to be searched without ripgrep: {_some(complaints.too_large)}.")
    for file, line, text in sorted(set(complaints.bad_rules))[:_NAMED]:
        notices.append(f"Skipped a bad pattern in {printable(file)}, line {line}: {text}")
    return notices


def _some(names: list[str]) -> str:
    ordered = sorted(set(names))
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(printable(name) for name in ordered[:_NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
