"""The search program for machines without ripgrep. It prints what ripgrep would print.

It runs as a process of its own, since a regular expression of Python can take for ever and cannot be stopped
from within. Standard input is a JSON object, the fields of `Task`; the current directory is the root.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.builtins.glob_pattern import GlobPattern
from mcode.builtins.walk import FoundFile, Walk

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_LIMIT = 32 * 1024 * 1024
"""Bytes of a file that is searched; larger ones are named."""
_BUFFER = 65_536
"""ripgrep notices a NUL no further than to the end of the buffer in which it finds the first match."""
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Task:
    """What to search for, as it comes through standard input."""

    mode: str
    """`list`: every file; `names`: files with a match; `lines`: matching lines."""
    only: str | None
    """Name of the one file to search in the current directory; None to walk."""
    hidden: bool
    glob: str | None
    """Which files, by a pattern for their whole path."""
    excluding: bool
    """True where the pattern says which files are left out instead."""
    pattern: str
    flags: int
    multiline: bool
    before: int
    after: int
    entries: int
    seconds: float


def main() -> None:
    """Carry out the task on standard input."""
    task = Task(**json.load(sys.stdin))
    walk = Walk(Path.cwd(), hidden=task.hidden, entries=task.entries, seconds=task.seconds)
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    files = walk.files(here) if task.only is None else iter([FoundFile(task.only, task.only, here)])
    glob = GlobPattern(task.glob) if task.glob is not None else None
    chosen = (file for file in files if glob is None or glob.matches(file.path) is not task.excluding)
    problems = _list(chosen) if task.mode == "list" else _Search(task, walk).run(chosen)
    sys.stdout.flush()
    report = {
        "stopped": walk.report.stopped,
        "unreadable": walk.report.unreadable,
        "bad_rules": walk.report.bad_rules,
        "too_large": problems,
    }
    sys.stderr.write(json.dumps(report))


def _list(files: Iterator[FoundFile]) -> list[str]:
    for file in files:
        _write(b"./" + os.fsencode(file.path) + b"\0")
    return []


class _Search:
    """Looks for the pattern in one file after the other."""

    def __init__(self, task: Task, walk: Walk) -> None:
        self._task = task
        self._walk = walk
        self._expression = re.compile(task.pattern, task.flags)

    def run(self, files: Iterator[FoundFile]) -> list[str]:
        """Print what is found; returns the files that are too large."""
        too_large: list[str] = []
        for file in files:
            if self._walk.is_over():
                break
            try:
                raw = _read(file)
            except OSError:
                self._walk.report.unreadable.append(file.path)
                continue
            if raw is None:
                too_large.append(file.path)
            else:
                self._search(file, raw)
        return too_large

    def _search(self, file: FoundFile, raw: bytes) -> None:
        text, encoding = _text(raw)
        names_only = self._task.mode == "names"
        if not names_only and "\0" in text:
            return
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        hits: list[int] = []
        for number in self._hits(text, lines):
            hits.append(number)
            if names_only:
                break
        if not hits:
            return
        if names_only:
            seen = len("\n".join(lines[: hits[0] + 1]).encode(encoding, "surrogateescape"))
            if "\0" not in text or b"\0" not in raw[: -(-seen // _BUFFER) * _BUFFER]:
                _write(b"./" + os.fsencode(file.path) + b"\0")
            return
        self._print(file, lines, hits)

    def _hits(self, text: str, lines: list[str]) -> Iterator[int]:
        """Indices of the lines that a match touches, in order."""
        if not self._task.multiline:
            search = self._expression.search
            yield from (index for index, line in enumerate(lines) if search(line.removesuffix("\r")))
            return
        text = text.replace("\r\n", "\n")
        last = -1
        counted = line = 0
        for match in self._expression.finditer(text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            end = line + text.count("\n", match.start(), max(match.start(), match.end() - 1))
            yield from range(max(line, last + 1), min(end + 1, len(lines)))
            last = max(last, end)

    def _print(self, file: FoundFile, lines: list[str], hits: list[int]) -> None:
        matched = set(hits)
        shown = sorted(
            {
                index
                for hit in hits
                for index in range(
                    max(0, hit - self._task.before), min(len(lines), hit + self._task.after + 1)
                )
            }
        )
        path = _as_json(os.fsencode(file.path))
        for index in shown:
            record = {
                "type": "match" if index in matched else "context",
                "data": {
                    "path": path,
                    "lines": _as_json(lines[index].encode("utf-8", "surrogateescape") + b"\n"),
                    "line_number": index + 1,
                },
            }
            _write(json.dumps(record).encode() + b"\n")
        end = {"type": "end", "data": {"path": path, "binary_offset": None}}
        _write(json.dumps(end).encode() + b"\n")


def _read(file: FoundFile) -> bytes | None:
    """The whole file; None if it is too large."""
    descriptor = os.open(file.name, _READ, dir_fd=file.directory)
    with os.fdopen(descriptor, "rb") as stream:
        raw = stream.read(FILE_LIMIT + 1)
    return raw if len(raw) <= FILE_LIMIT else None


def _text(raw: bytes) -> tuple[str, str]:
    """The text and its encoding: by a byte order mark, else UTF-8."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if raw.startswith(mark):
            return raw[len(mark) :].decode(encoding, "replace"), encoding
    return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"), "utf-8"


def _as_json(raw: bytes) -> dict[str, Any]:
    """Bytes as ripgrep puts them into JSON."""
    try:
        return {"text": raw.decode()}
    except UnicodeDecodeError:
        import base64

        return {"bytes": base64.b64encode(raw).decode()}


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
