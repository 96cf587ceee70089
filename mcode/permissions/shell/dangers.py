"""What in a shell line must be asked about whatever the rules say: removing critical paths, writing protected ones.

A rough look that rather sees too much. It holds in all modes, `bypassPermissions` too.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from typing import TYPE_CHECKING

from mcode.permissions.critical import CriticalPaths
from mcode.permissions.path_names import PROTECTED_DIRECTORIES, PROTECTED_FILES, folded
from mcode.permissions.programs import GIT_ONLY_READING, INTERPRETERS, ONLY_READING, REMOVERS, RUNNERS
from mcode.permissions.shell.files import PATH_LIMIT, directories_of, plain_path, redirects_of, writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.shell.reach import Command, Reach
    from mcode.tool import Workspace

WORD_LIMIT = 500
"""Different words of one line that are looked up as paths; a line with more is asked about."""

_FIND_ACTIONS = frozenset(("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls"))
_FIND_TESTS = (
    "-name",
    "-iname",
    "-path",
    "-regex",
    "-type",
    "-new",
    "-mtime",
    "-mmin",
    "-size",
    "-empty",
    "-maxd",
)

_TOKENS = re.compile(r"[^\w.@%+~*?\[\]-]+")
_NOT_A_FILE = re.compile(r"-\w*m|--message|--exclude(?:-\w+)?|--ignore(?:-\w+)?")


def removal_of_critical_path(reach: Reach, workspace: Workspace) -> str | None:
    """Say what critical path the line removes, or may remove; None where there is none.

    Critical: `/` and what lies directly in it, the home directory, the working directories and their parents,
    everything in any of these, everything directly under a shell variable.
    """
    removals = dict.fromkeys(_removals(reach))
    if not removals:
        return None
    if len(removals) > WORD_LIMIT:
        return f"it removes more than {WORD_LIMIT} paths, and one of them may be critical"
    critical = CriticalPaths(reach, workspace)
    for word, recursive in removals:
        if critical.includes(word, recursive=recursive):
            if critical.names(word):
                return f"it removes {word}, a critical path"
            return f"it removes {word or 'whatever xargs is given'}, which may turn out to be a critical path"
    return None


def _removals(reach: Reach) -> Iterator[tuple[str, bool]]:
    """Each word that a remover gets, and whether it removes directories; an empty word where none is shown."""
    for name in sorted(REMOVERS):
        for command in reach.running(name):
            recursive = _recursive(command)
            yield from ((word, recursive) for word in _operands(command))
    for command in reach.running("xargs"):
        if _recursive(command) and not REMOVERS.isdisjoint(command.arguments):
            yield "", True
    for command in reach.running("find"):
        removes = "-delete" in command.arguments or not REMOVERS.isdisjoint(command.arguments)
        # With a test it removes only some of what it finds.
        if removes and not any(word.startswith(_FIND_TESTS) for word in command.arguments):
            starts = itertools.takewhile(lambda word: not word.startswith(("-", "(", "!")), command.arguments)
            yield from ((word, True) for word in starts)


def write_to_protected_path(reach: Reach, paths: PathPolicy) -> str | None:
    """Say which protected path the line may write and why it is protected; None where there is none."""
    words = dict.fromkeys(_words_that_may_be_written(reach))
    for word in words:
        token = _protected_token(paths.below_tree(word))
        if token is not None:
            return f"`{token}` is protected"
    if len(words) > WORD_LIMIT:
        return f"it names more than {WORD_LIMIT} different words, too many to look for protected paths"
    bases = directories_of(reach, paths.workspace) or (str(paths.workspace.current),)
    for word in words:
        for candidate in dict.fromkeys((word, word.partition("=")[2])):
            path = plain_path(candidate, paths.workspace)
            if path is None or not path.strip("-") or len(path) > PATH_LIMIT:
                continue
            for base in bases:
                reason = paths.protection(paths.locate(path if path.startswith("/") else f"{base}/{path}"))
                if reason is not None:
                    return f"{word}: {reason}"
    return None


def _words_that_may_be_written(reach: Reach) -> Iterator[str]:
    yield from (redirect.target for redirect in redirects_of(reach) if writes(redirect))
    for command in reach.commands:
        if command.start == 0 and not _only_reads(command):
            previous = ""
            for word in command.arguments:
                if not _NOT_A_FILE.fullmatch(previous) and not _NOT_A_FILE.match(word):
                    yield word
                previous = word
    for part in reach.line.parts:
        program = part.words[0].rpartition("/")[2] if part.words else ""
        if program in RUNNERS or program in INTERPRETERS:
            yield from (redirect.target for redirect in part.redirects if redirect.operator in ("<<", "<<<"))


def _only_reads(command: Command) -> bool:
    """True where no argument of the command names a file that it writes."""
    match command.program:
        case "find":
            return _FIND_ACTIONS.isdisjoint(command.arguments)
        case "git":
            reading = command.arguments[:1] and command.arguments[0] in GIT_ONLY_READING
            return bool(reading) and not any(word.startswith("--output") for word in command.arguments)
        case "sort":
            return not any(re.match(r"-\w*o|--o", word) for word in command.arguments)
        case "uniq":
            return len(_operands(command)) < 2
        case program:
            return program in ONLY_READING


def _recursive(command: Command) -> bool:
    return any(
        word == "--recursive" or (re.fullmatch(r"-\w+", word) and "r" in word.lower())
        for word in command.arguments
    )


def _operands(command: Command) -> tuple[str, ...]:
    words = command.arguments
    if "--" in words:
        end = words.index("--")
        return (*(word for word in words[:end] if not word.startswith("-")), *words[end + 1 :])
    return tuple(word for word in words if not word.startswith("-"))


def _protected_token(word: str) -> str | None:
    """A protected name inside the word, or a pattern that the shell may expand to one."""
    for token in _TOKENS.split(folded(word)):
        if token in PROTECTED_DIRECTORIES or token in PROTECTED_FILES:
            return token
        if token.startswith(".") and len(token) > 2 and any(letter in token for letter in "*?["):
            for name in (*sorted(PROTECTED_DIRECTORIES), *sorted(PROTECTED_FILES)):
                if fnmatch.fnmatchcase(name, token):
                    return name
    return None
