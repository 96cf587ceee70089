"""Which commands a shell line may run: itself, and through wrappers, `-c` strings and substitutions."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.programs import JOINING, OPTIONS_LIMIT, RUNNERS, SHELLS, SUBCOMMANDED
from mcode.permissions.shell.lines import fragments, read_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.permissions.shell.lines import Part, RoughLine

STRING_DEPTH = 4
"""Command strings within command strings that are followed."""

_MAY_BE_A_LINE = re.compile(r"[\s;&|<>()$`'\"\\]")
_OPTION_BEFORE_VALUE = re.compile(r"-[A-Za-z]|--?[\w-]+=")


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """A command that may run: the words of a part from `start` on."""

    words: tuple[str, ...]
    start: int = 0

    @property
    def name(self) -> str:
        """The program as written."""
        return self.words[self.start]

    @property
    def program(self) -> str:
        """The program's name without directories, in lower case."""
        return self.name.rpartition("/")[2].casefold()

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[self.start + 1 :]

    @property
    def beginnings(self) -> Iterator[int]:
        """Where the arguments begin in `words`; also behind options in front, of which each may have a value."""
        first = self.start + 1
        yield first
        if self.program not in SUBCOMMANDED:
            return
        behind_option = False
        for place, word in enumerate(self.words[first : first + OPTIONS_LIMIT], first):
            is_option = word.startswith(("-", "+"))
            if not is_option and place > first:
                yield place
            if not is_option and not behind_option:
                return
            behind_option = is_option


class Reach:
    """All commands that a line may run, as far as a rough reading shows; some may be mere words."""

    def __init__(self, line: RoughLine) -> None:
        self.line = line
        self.commands = tuple(_commands(line, 0))
        self._by_program: dict[str, list[Command]] = defaultdict(list)
        for command in self.commands:
            self._by_program[command.program].append(command)
        self.globbed = tuple(
            command for command in self.commands if command.start == 0 and _is_glob(command.program)
        )
        """Commands whose name the shell makes out of a pattern, such as `c?rl`."""
        self._runs: dict[str, tuple[tuple[Command, int], ...]] = {}

    def running(self, program: str) -> tuple[Command, ...]:
        """The commands of one program, named with or without its directory."""
        return tuple(self._by_program.get(program.rpartition("/")[2].casefold(), ()))

    def runs(self, program: str) -> tuple[tuple[Command, int], ...]:
        """The commands of one program, each with every place where its arguments may begin, no place twice."""
        found = self._runs.get(program)
        if found is None:
            places = {
                (id(command.words), command.name, start): (command, start)
                for command in self.running(program)
                for start in command.beginnings
            }
            found = self._runs[program] = tuple(places.values())
        return found


def _is_glob(program: str) -> bool:
    special = any(letter in program for letter in "*?[")
    return special and any(letter.isalnum() for letter in program)


def _commands(line: RoughLine, depth: int) -> Iterator[Command]:
    doubtful = bool(line.doubt)
    for part in line.parts:
        if part.words:
            yield Command(part.words)
            if Command(part.words).program in RUNNERS:
                yield from _run_by(part, depth)
                doubtful = doubtful or _reads_commands(part)
    if depth < STRING_DEPTH:
        # `test -v`, `let`, `declare` and arithmetic expand such text a second time.
        for text in line.quoted:
            yield from _commands(read_line(text), depth + 1)
    if doubtful:
        yield from _each_word(line.text)


def _each_word(text: str) -> Iterator[Command]:
    for words in fragments(text):
        yield from (Command(words, start) for start in range(len(words)))


def _run_by(part: Part, depth: int) -> Iterator[Command]:
    """What a runner may run: its arguments from each word on, and each argument that may be a line."""
    yield from (Command(part.words, start) for start in range(1, len(part.words)))
    strings = [*part.words[1:], *(redirect.target for redirect in part.redirects)]
    if Command(part.words).program in JOINING:
        strings = [" ".join(part.words[1:])]
    for string in strings:
        for text in dict.fromkeys((string, _OPTION_BEFORE_VALUE.sub("", string, count=1))):
            if not _MAY_BE_A_LINE.search(text):
                continue
            if depth < STRING_DEPTH:
                yield from _commands(read_line(text), depth + 1)
            else:
                yield from _each_word(text)


def _reads_commands(part: Part) -> bool:
    """True where a shell takes its commands from its input."""
    command = Command(part.words)
    return command.program in SHELLS and not any(
        word.startswith("-") and "c" in word for word in command.arguments
    )
