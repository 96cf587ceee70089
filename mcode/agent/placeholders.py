"""Parses the text of a command file: the shell commands to run, and the places where arguments are inserted.

The file alone says what is run and what is inserted: nothing that an argument brings in is looked at again.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_COMMAND = re.compile(
    r"(?:(?<=\s)|^)!`([^`\n]+)`|^[ \t]*```![ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL
)
_PLACE = re.compile(
    r"\\(?P<kept>\$(?:\d+|ARGUMENTS\b|[A-Za-z_]\w*))"
    r"|\$ARGUMENTS\[(?P<index>\d+)\]"
    r"|\$(?P<all>ARGUMENTS)\b"
    r"|\$(?P<number>\d+)"
    r"|\$\{(?:CLAUDE|MCODE)_(?P<fact>[A-Z_]+)\}"
    r"|\$(?P<name>[A-Za-z_]\w*)"
)
_GEMINI_PLACE = re.compile(r"\{\{(?P<all>args)\}\}")


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the message."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A shell command whose output stands here."""

    command: str


@dataclass(frozen=True, slots=True)
class Given:
    """What is put in place of placeholders."""

    arguments: str
    """The whole text behind the name."""
    names: Sequence[str] = ()
    """Names of the positional arguments."""
    facts: Mapping[str, str] | None = None
    """Values of `${CLAUDE_...}` by what follows CLAUDE_."""

    @property
    def words(self) -> Sequence[str]:
        """The arguments, split as a shell would; at blanks where a quote is not closed."""
        try:
            return shlex.split(self.arguments)
        except ValueError:
            return self.arguments.split()


def parts_of(body: str, dialect: str) -> Iterator[Text | Run]:
    """The text and the commands of a file, in order. `dialect` is `claude`, `gemini` or `codex`."""
    if dialect == "gemini":
        yield from _gemini_parts(body)
        return
    at = 0
    for found in _COMMAND.finditer(body):
        yield Text(body[at : found.start()])
        yield Run((found[1] or found[2] or "").strip())
        at = found.end()
    yield Text(body[at:])


def filled(parts: Sequence[Text | Run], given: Given, dialect: str) -> list[Text | Run]:
    """The parts with everything in its place; arguments that no part mentions stand in a last line."""
    texts = [part.text if isinstance(part, Text) else part.command for part in parts]
    fill = _Filler(given, texts, dialect)
    result: list[Text | Run] = [
        Text(fill(text)) if isinstance(part, Text) else Run(fill(text))
        for part, text in zip(parts, texts, strict=True)
    ]
    if given.arguments and not fill.mentioned:
        ending = "\n\n" if dialect == "gemini" else "\n\nARGUMENTS: "
        result.append(Text(f"{ending}{given.arguments}"))
    return result


class _Filler:
    """Puts values in place; tells whether an argument was mentioned anywhere."""

    def __init__(self, given: Given, texts: Sequence[str], dialect: str) -> None:
        self._given = given
        self._words = given.words
        self._pattern = _GEMINI_PLACE if dialect == "gemini" else _PLACE
        self._first = 0 if dialect == "gemini" else self._counts_from(texts, dialect)
        self.mentioned = False

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._value, text)

    def _counts_from(self, texts: Sequence[str], dialect: str) -> int:
        """One where `$1` is the first argument: in Codex's files, and where a file has `$1` and no `$0`."""
        numbers = {found["number"] for text in texts for found in _PLACE.finditer(text)}
        return 1 if dialect == "codex" or ("1" in numbers and "0" not in numbers) else 0

    def _value(self, found: re.Match[str]) -> str:
        groups = found.groupdict()
        if groups.get("kept"):
            return groups["kept"]
        if groups.get("all"):
            self.mentioned = True
            return self._given.arguments
        if groups.get("index"):
            return self._word(int(groups["index"]), found[0])
        if groups.get("number"):
            return self._word(int(groups["number"]) - self._first, found[0])
        if groups.get("fact"):
            return (self._given.facts or {}).get(groups["fact"], found[0])
        return self._named(groups["name"], found[0])

    def _word(self, at: int, written: str) -> str:
        self.mentioned = True
        return self._words[at] if 0 <= at < len(self._words) else written

    def _named(self, name: str, written: str) -> str:
        if name not in self._given.names:
            return written
        self.mentioned = True
        at = list(self._given.names).index(name)
        return self._words[at] if at < len(self._words) else ""


def _gemini_parts(body: str) -> Iterator[Text | Run]:
    """`!{command}` with balanced braces, and `@{path}`, which is a mention like any other."""
    at = 0
    while (begin := body.find("!{", at)) >= 0:
        depth, end = 0, -1
        for index in range(begin + 1, len(body)):
            depth += {"{": 1, "}": -1}.get(body[index], 0)
            if depth == 0:
                end = index
                break
        if end < 0:
            break
        yield Text(_mentions(body[at:begin]))
        yield Run(body[begin + 2 : end].strip())
        at = end + 1
    yield Text(_mentions(body[at:]))


def _mentions(text: str) -> str:
    return re.sub(r"@\{([^{}\n\"]+)\}", r'@"\1"', text)
