"""The programs that only read, each with its options and operands. What is not listed is asked about."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.programs import words_of
from mcode.permissions.shell.options import Options, Takes, long_options, take_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.shell.words import Word

BUILTINS = frozenset(("cd", "echo", "pwd"))
"""Programs of the list that the shell itself is; no file is looked up for them."""

GLOBS = words_of("ls wc cat head tail grep du stat")
"""Programs whose operands may be patterns: none of their options is reached by a file's name behind `./`."""

_TEXT, _NUMBER, _PATH, _MAYBE = Takes.TEXT, Takes.NUMBER, Takes.PATH, Takes.MAYBE


@dataclass(frozen=True, slots=True)
class Reads:
    """What a command of the list would read."""

    paths: tuple[Word | str, ...] = ()
    """Files and directories, relative to where the command runs."""
    recursive: bool = False
    """Shows the content of everything below its paths, links not followed."""
    no_directories: bool = False
    """Reads through links in a directory that it is given."""


@dataclass(frozen=True, slots=True)
class _Program:
    options: Options
    least: int = 0
    """Operands at least."""
    most: int | None = None
    here: bool = False
    """Without operands it reads the current directory."""
    words: bool = False
    """Operands are no files."""


_PROGRAMS: dict[str, _Program] = {
    "ls": _Program(
        Options(
            "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ",
            {"I": _TEXT, "w": _NUMBER, "T": _NUMBER},
            long_options(
                "all almost-all author directory escape full-time group-directories-first human-readable si inode "
                "numeric-uid-gid no-group literal quote-name recursive reverse size kibibytes",
                text="ignore hide sort time time-style format quoting-style indicator-style block-size",
                maybe="color classify",
                number="width tabsize",
            ),
        ),
        here=True,
    ),
    "cat": _Program(
        Options(
            "AbeEnstTuv",
            {},
            long_options(
                "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
            ),
        )
    ),
    "head": _Program(
        Options(
            "qvz",
            {"n": _NUMBER, "c": _NUMBER},
            long_options("quiet silent verbose zero-terminated", number="lines bytes"),
            numbers=True,
        )
    ),
    "tail": _Program(
        Options(
            "qvz",
            {"n": _NUMBER, "c": _NUMBER},
            long_options("quiet silent verbose zero-terminated", number="lines bytes"),
            numbers=True,
        )
    ),
    "wc": _Program(Options("cmlwL", {}, long_options("bytes chars lines words max-line-length"))),
    "which": _Program(Options("as", {}, long_options("all")), least=1, words=True),
    "pwd": _Program(Options("LP"), most=0),
    "stat": _Program(
        Options("Lft", {"c": _TEXT}, long_options("dereference file-system terse", text="format printf")),
        least=1,
    ),
    "du": _Program(
        Options(
            "0abchkmsSx",
            {"d": _NUMBER, "t": _TEXT, "B": _TEXT},
            long_options(
                "all apparent-size bytes human-readable si summarize total one-file-system separate-dirs inodes",
                number="max-depth",
                text="exclude block-size threshold time-style",
                maybe="time",
            ),
        ),
        here=True,
    ),
    "diff": _Program(
        Options(
            "abBcdeiNnpqstTuwyE",
            {"U": _NUMBER, "C": _NUMBER, "W": _NUMBER, "I": _TEXT},
            long_options(
                "brief report-identical-files ignore-case ignore-all-space ignore-space-change ignore-blank-lines "
                "ignore-trailing-space side-by-side suppress-common-lines text minimal normal show-c-function "
                "expand-tabs initial-tab left-column strip-trailing-cr",
                maybe="color unified context",
                text="label ignore-matching-lines",
                number="width",
            ),
        ),
        least=2,
        most=2,
    ),
}

_GREP = Options(
    "EFGPivwxclLnHhoqsrbazUyTI",
    {"e": _TEXT, "f": _PATH, "m": _NUMBER, "A": _NUMBER, "B": _NUMBER, "C": _NUMBER, "d": _TEXT, "D": _TEXT},
    long_options(
        "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match "
        "word-regexp line-regexp count files-with-matches files-without-match line-number with-filename no-filename "
        "only-matching quiet silent no-messages recursive text null byte-offset initial-tab null-data",
        text="regexp include exclude exclude-dir binary-files directories devices label",
        number="max-count after-context before-context context",
        path="file",
        maybe="color colour",
    ),
    numbers=True,
)

_FIND_ALONE = words_of(
    """
    -print -print0 -prune -not -and -or -a -o ! ( ) , -empty -readable -writable -executable -true -false
    -depth -xdev -mount -daystart -nouser -nogroup
    """
)
_FIND_VALUED = words_of(
    """
    -maxdepth -mindepth -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type
    -xtype -size -mtime -mmin -ctime -cmin -atime -amin -perm -user -group -uid -gid -links -inum -lname
    -ilname
    """
)
_FIND_FILES = frozenset(("-newer", "-anewer", "-cnewer", "-samefile"))
_FIND_EXPRESSION = re.compile(r"-.+|[(),!]")


def reads_of(program: str, words: Sequence[Word]) -> Reads | str:
    """What a command of the list reads; a sentence's end where the command is not in the list as it stands."""
    if any(word.glob for word in words) and program not in GLOBS:
        return "a pattern among its arguments may turn out to be an option"
    match program:
        case "echo":
            return Reads()
        case "grep":
            return _grep(words)
        case "find":
            return _find(words)
        case _:
            return _by_options(program, words)


def is_listed(program: str) -> bool:
    """True for a program that may only read; `cd` and `git` have lists of their own."""
    return program in _PROGRAMS or program in ("echo", "grep", "find")


def _by_options(program: str, words: Sequence[Word]) -> Reads | str:
    listed = _PROGRAMS[program]
    taken = take_apart(words, listed.options)
    if taken.fault:
        return _unknown(program, taken.fault)
    count = len(taken.operands)
    if count < listed.least or (listed.most is not None and count > listed.most):
        return f"{program} with {count} operands is not in the list of reading commands"
    if listed.words:
        return Reads() if not any("/" in word.value for word in taken.operands) else "its operand is a path"
    paths = _files(taken.operands)
    if not taken.operands and listed.here:
        paths = (".",)
    return Reads((*paths, *taken.paths), no_directories=program == "diff")


def _grep(words: Sequence[Word]) -> Reads | str:
    taken = take_apart(words, _GREP)
    if taken.fault:
        return _unknown("grep", taken.fault)
    if "recurse" in (taken.given.get("d"), taken.given.get("directories")):
        return "grep -d recurse is not in the list of reading commands"
    if "read" in (taken.given.get("D"), taken.given.get("devices")):
        return "grep -D read is not in the list of reading commands"
    has_pattern = any(name in taken.given for name in ("e", "regexp", "f", "file"))
    if not has_pattern and not taken.operands:
        return "grep without a pattern is not in the list of reading commands"
    operands = taken.operands
    if not has_pattern and not operands[0].glob:
        operands = operands[1:]
    recursive = "r" in taken.given or "recursive" in taken.given
    paths = _files(operands) or ((".",) if recursive else ())
    return Reads((*paths, *taken.paths), recursive=recursive)


def leaving_out(words: Sequence[Word], exclusions: Sequence[str]) -> str:
    """The words of a listed grep with more options, which leave files out whatever the others pick.

    Of the options that name files the last that fits one counts, and the first says what becomes of all other files:
    behind an `--include` of the user's these come last, else first.
    """
    taken = take_apart(words, _GREP)
    more = (shlex.quote(each) for each in exclusions)
    if "include" not in taken.given:
        return " ".join(("grep", *more, *(word.rendered for word in words)))
    options = (word.rendered for word in taken.options)
    return " ".join(("grep", *options, *more, "--", *(word.rendered for word in taken.operands)))


def _find(words: Sequence[Word]) -> Reads | str:
    rest = [word.value for word in words]
    paths: list[str] = []
    if rest[:1] == ["-P"]:
        rest.pop(0)
    while rest and not _FIND_EXPRESSION.fullmatch(rest[0]):
        paths.append(rest.pop(0))
    found = paths or ["."]
    while rest:
        word = rest.pop(0)
        if word in _FIND_ALONE:
            continue
        if word not in _FIND_VALUED and word not in _FIND_FILES:
            return _unknown("find", word)
        if not rest:
            return f"find {word} lacks a value"
        value = rest.pop(0)
        if word in _FIND_FILES:
            found.append(value)
    return Reads(tuple(found))


def _files(operands: Sequence[Word]) -> tuple[Word, ...]:
    """Without `-`, which is the standard input."""
    return tuple(word for word in operands if word.value != "-")


def _unknown(program: str, option: str) -> str:
    shown = option if len(option) <= 60 else f"{option[:60]}…"
    return f"`{shown}` is not in the list of reading options of {program}"
