"""Taking the arguments of a command apart by a list of the options that it may have.

Nothing is guessed: long options count in full spelling only, bundled short ones are split, and what is not in the
list is a fault. Options behind operands count as options, as they do for the programs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcode.permissions.shell.words import Word


class Takes(Enum):
    """What an option's value is."""

    TEXT = "text"
    NUMBER = "number"
    PATH = "path"
    """A file that is read."""
    MAYBE = "maybe"
    """Text, given only behind `=`, or left out."""


_NUMBER = re.compile(r"[+-]?\d+[A-Za-z]*")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a program may have."""

    flags: str = ""
    """Letters that take no value."""
    valued: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    """Letters that take one."""
    long: Mapping[str, Takes | None] = field(default_factory=dict[str, "Takes | None"])
    """Names without `--`."""
    numbers: bool = False
    """Whether `-20` is a number of lines."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stood in a command."""

    operands: tuple[Word, ...]
    paths: tuple[str, ...]
    """Files that options name."""
    given: Mapping[str, str]
    """Each option with its value; a letter or a name without dashes."""
    fault: str = ""
    """What is not in the list."""
    options: tuple[Word, ...] = ()
    """The words that are no operands, each followed by its value; without `--`."""
    before_end: int | None = None
    """Operands in front of `--`; None where there is no `--`."""


def long_options(flags: str = "", **valued: str) -> dict[str, Takes | None]:
    """Long options from words: `flags` take no value; `text`, `number`, `path` and `maybe` name others."""
    found: dict[str, Takes | None] = dict.fromkeys(flags.split())
    for kind, names in valued.items():
        found.update(dict.fromkeys(names.split(), Takes(kind)))
    return found


def take_apart(words: Sequence[Word], options: Options) -> Arguments:
    """Sort words into options and operands; the first that is not in the list is the fault."""
    reader = _Reader(list(words), options)
    while reader.rest and not reader.fault:
        reader.take()
    return Arguments(
        tuple(reader.operands),
        tuple(reader.paths),
        reader.given,
        reader.fault,
        tuple(reader.options),
        reader.before_end,
    )


class _Reader:
    def __init__(self, rest: list[Word], options: Options) -> None:
        self.rest = rest
        self.operands: list[Word] = []
        self.options: list[Word] = []
        self.paths: list[str] = []
        self.given: dict[str, str] = {}
        self.fault = ""
        self.before_end: int | None = None
        self._options = options

    def take(self) -> None:
        word = self.rest.pop(0)
        text = word.value
        if text == "--":
            self.before_end = len(self.operands)
            self.operands += self.rest
            self.rest = []
        elif text == "-" or not text.startswith("-") or word.glob:
            self.operands.append(word)
        else:
            following = self.rest[:1]
            left = len(self.rest)
            self._take_option(text)
            self.options += (word, *following[: left - len(self.rest)])

    def _take_option(self, text: str) -> None:
        if text.startswith("--"):
            self._take_long(text)
        elif self._options.numbers and text[1:].isdecimal():
            self.given["n"] = text[1:]
        else:
            self._take_short(text)

    def _take_long(self, text: str) -> None:
        name, equals, value = text[2:].partition("=")
        if name not in self._options.long:
            self.fault = f"--{name}"
            return
        takes = self._options.long[name]
        if takes is None or takes is Takes.MAYBE:
            if equals and takes is None:
                self.fault = f"--{name}="
            self.given[name] = value
        elif equals:
            self._keep(name, takes, value)
        else:
            self._take_value(name, takes)

    def _take_short(self, text: str) -> None:
        for position, letter in enumerate(text[1:], 1):
            takes = self._options.valued.get(letter)
            if takes is not None:
                attached = text[position + 1 :]
                if attached:
                    self._keep(letter, takes, attached)
                else:
                    self._take_value(letter, takes)
                return
            if letter not in self._options.flags:
                self.fault = f"-{letter}"
                return
            self.given[letter] = ""

    def _take_value(self, name: str, takes: Takes) -> None:
        if takes is Takes.MAYBE:
            self.given[name] = ""
        elif not self.rest or self.rest[0].glob:
            self.fault = f"-{name} without a value"
        else:
            self._keep(name, takes, self.rest.pop(0).value)

    def _keep(self, name: str, takes: Takes, value: str) -> None:
        if takes is Takes.NUMBER and not _NUMBER.fullmatch(value):
            self.fault = f"-{name} with `{value}`, which is no number"
        if takes is Takes.PATH:
            self.paths.append(value)
        self.given[name] = value
