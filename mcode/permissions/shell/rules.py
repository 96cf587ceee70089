"""Which commands of a plain line an allow rule covers: narrowly, and through wrappers that run a command unchanged."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mcode.permissions.programs import WRITES_ALL, WRITES_LAST, words_of
from mcode.permissions.shell.reading import Form, read_shell
from mcode.permissions.shell.tree import ParserMissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.permissions.command_patterns import CommandPattern
    from mcode.permissions.shell.reading import SimpleCommand
    from mcode.permissions.shell.words import Word

CHANGES_THE_SHELL = words_of(
    """
    alias unalias hash enable set shopt exec eval export unset readonly local typeset declare trap source .
    pushd popd read mapfile readarray getopts let bind complete compgen fc history
    """
)
"""Builtins after which a name may mean another program, or another directory is current."""

_ONLY_EXACT = words_of("watch setsid ionice flock")
_FIND_ACTS = words_of("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_SIGNAL = re.compile(r"[A-Za-z0-9]+")
_MODE = re.compile(r"-[ioe](?:0|L|\d+[A-Za-z]*)?")


def covers(pattern: CommandPattern, command: SimpleCommand) -> bool:
    """True where the pattern of an allow rule covers the command, or what its wrappers run."""
    return any(_covers(pattern, words) for words in unwrapped(command.words))


def only_exactly(command: SimpleCommand) -> bool:
    """True where no rule with a wildcard covers the command, since it runs or changes what the rule does not show."""
    found = unwrapped(command.words)
    if any(words[0].value == "xargs" for words in found[:-1]):
        program = found[-1][0].value.rpartition("/")[2]
        if program in WRITES_ALL or program in WRITES_LAST:
            return True
    return any(
        words[0].value in _ONLY_EXACT
        or (words[0].value == "find" and not _FIND_ACTS.isdisjoint(word.value for word in words))
        for words in found
    )


def changes_the_shell(command: SimpleCommand) -> bool:
    """True where names in the rest of the line may mean something else after this command."""
    for words in unwrapped(command.words):
        name = words[0].value
        if name in CHANGES_THE_SHELL or (name == "cd" and len(words) < len(command.words)):
            return True
        if name in ("printf", "test", "[") and any(word.value.startswith("-v") for word in words[1:]):
            return True
    return command.program in ("builtin", "command") and command.arguments[:1] != ()


def unwrapped(words: Sequence[Word]) -> tuple[tuple[Word, ...], ...]:
    """The words, and what is left of them behind each wrapper in front."""
    found = [tuple(words)]
    while True:
        rest = _behind_wrapper(found[-1])
        if not rest or not rest[0].bare or rest[0].glob or "=" in rest[0].value:
            return tuple(found)
        found.append(rest)


def _covers(pattern: CommandPattern, words: tuple[Word, ...]) -> bool:
    rendered = " ".join(word.rendered for word in words)
    if pattern.exact:
        return pattern.text.strip() == rendered or _words_of_rule(pattern.text) == _meaning(words)
    return pattern.spans(rendered) or pattern.spans(" ".join(word.text for word in words))


@lru_cache(maxsize=512)
def _words_of_rule(pattern: str) -> tuple[tuple[str, bool], ...] | None:
    """The words of an exact rule; None where it is not one plain command."""
    try:
        reading = read_shell(pattern)
    except ParserMissingError:
        return None
    if reading.form is not Form.PLAIN or len(reading.commands) != 1:
        return None
    command = reading.commands[0]
    return None if command.files or command.redirects or command.assignments else _meaning(command.words)


def _meaning(words: Sequence[Word]) -> tuple[tuple[str, bool], ...]:
    """What words stand for, however they are quoted."""
    return tuple((word.value, word.glob) for word in words)


def _behind_wrapper(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words behind a wrapper; empty where there is none, or one with options that are not known."""
    skip = _WRAPPERS.get(words[0].value)
    count = skip([word.value for word in words[1:]]) if skip is not None else None
    return words[1 + count :] if count is not None else ()


def _skip_none(words: list[str]) -> int | None:
    return None if words[:1] and words[0].startswith("-") else 0


def _skip_timeout(words: list[str]) -> int | None:
    index = 0
    while index < len(words) and words[index].startswith("-"):
        word = words[index]
        if word in ("--preserve-status", "--foreground", "-v", "--verbose"):
            index += 1
        elif word in ("-k", "--kill-after", "-s", "--signal"):
            if index + 1 >= len(words) or not _SIGNAL.fullmatch(words[index + 1].replace(".", "")):
                return None
            index += 2
        elif re.fullmatch(r"--(?:kill-after|signal)=[A-Za-z0-9.]+|-[ks][A-Za-z0-9.]+", word):
            index += 1
        else:
            return None
    return index + 1 if index < len(words) and _DURATION.fullmatch(words[index]) else None


def _skip_nice(words: list[str]) -> int | None:
    if words[:1] and words[0] in ("-n", "--adjustment"):
        return 2 if len(words) > 1 and re.fullmatch(r"-?\d+", words[1]) else None
    if words[:1] and words[0].startswith("-"):
        return 1 if re.fullmatch(r"-n?-?\d+|--adjustment=-?\d+", words[0]) else None
    return 0


def _skip_stdbuf(words: list[str]) -> int | None:
    index = 0
    while index < len(words) and words[index].startswith("-"):
        if not _MODE.fullmatch(words[index]):
            return None
        index += 2 if len(words[index]) == 2 else 1
    return index or None


_WRAPPERS: dict[str, Callable[[list[str]], int | None]] = {
    "timeout": _skip_timeout,
    "nice": _skip_nice,
    "nohup": _skip_none,
    "stdbuf": _skip_stdbuf,
    "command": _skip_none,
    "builtin": _skip_none,
    "noglob": _skip_none,
    "xargs": _skip_none,
}
