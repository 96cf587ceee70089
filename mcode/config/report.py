"""Collecting what is wrong with one settings file, with the line where it stands."""

from __future__ import annotations

import json
import re

from mcode.config.settings import Problem, Source

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


class Report:
    """The problems of one source."""

    def __init__(self, source: Source, text: str, *, loud: bool) -> None:
        """`loud`: the file is mcode's own, so what mcode does not know in it is worth a word at start."""
        self.problems: list[Problem] = []
        self._path = source.path
        self._text = text
        self._loud = loud
        self._lines: dict[str, int] | None = None

    def add(self, key: str, text: str, severity: str) -> None:
        self.problems.append(Problem(self._path, key, text, severity, self.line(key)))

    def unknown(self, key: str, text: str) -> None:
        """Report what mcode does not know: quietly in another agent's file."""
        self.add(key, text, "warning" if self._loud or key.startswith("mcode.") else "info")

    def unsupported_event(self, key: str, text: str, *, known: bool) -> None:
        """Report hooks of an event that mcode does not run; quietly where other agents have that event."""
        self.add(key, text, "info" if known else "warning")

    def line(self, key: str) -> int | None:
        """The line of a key path, from 1; None where there is no file or the path is not in it."""
        if self._path is None or not key:
            return None
        if self._lines is None:
            self._lines = lines_of(self._text)
        return self._lines.get(key)


def lines_of(text: str) -> dict[str, int]:
    """Where each value of a JSON text begins: key path such as `permissions.allow[0]` to line, from 1.

    The text must be valid JSON. Scans it once.
    """
    lines: dict[str, int] = {}
    inside: list[tuple[str, int]] = []
    """Of each open container: its path, and the index of its present element, or -1 for an object."""
    path, line, last, previous = "", 1, 0, ""
    for token in TOKEN.finditer(text):
        line += text.count("\n", last, token.start())
        last = token.start()
        mark = token.group()
        around, index = inside[-1] if inside else ("", -1)
        if index >= 0 and previous in "[," and mark != "]":
            index += previous == ","
            inside[-1] = (around, index)
            path = f"{around}[{index}]"
            lines[path] = line
        elif inside and index < 0 and previous in "{," and mark != "}":
            name = json.loads(mark, strict=False)
            path = f"{around}.{name}" if around else name
            lines[path] = line
        if mark in "{[":
            inside.append((path, -1 if mark == "{" else 0))
        elif mark in "}]":
            path, _ = inside.pop()
        previous = mark[0]
    return lines
