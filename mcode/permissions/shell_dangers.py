"""What in a shell line must be asked about whatever the rules say: removing critical paths, writing protected ones.

A rough look that rather sees too much. It holds in all modes, `bypassPermissions` too.
"""

from __future__ import annotations

import fnmatch
import os
import re
from typing import TYPE_CHECKING

from mcode.permissions.path_names import PROTECTED_DIRECTORIES, PROTECTED_FILES, folded
from mcode.permissions.programs import GIT_ONLY_READING, INTERPRETERS, ONLY_READING, REMOVERS, RUNNERS
from mcode.permissions.resolve import identity, parents
from mcode.permissions.shell_files import directories_of, plain_path, redirects_of, writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.shell_reach import Command, Reach
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

_VARIABLE = r"(?:\$[\w@*#?$!-]+|\$\{[^}]*\}|\$\([^()]*\)|`[^`]*`)"
_VARIABLE_WORD = re.compile(rf"(?P<before>[^$`]*){_VARIABLE}+(?P<after>[^$`]*)")
_DIRECTLY_UNDER = re.compile(r"/+|/*[^/]*[*?\[][^/]*/*")
_TOKENS = re.compile(r"[^\w.@%+~*?\[\]-]+")
_NOT_A_FILE = re.compile(r"-\w*m|--message|--exclude(?:-\w+)?|--ignore(?:-\w+)?")


def removal_of_critical_path(reach: Reach, workspace: Workspace) -> str | None:
    """Name the critical path that the line may remove; None where there is none.

    Critical: `/` and what lies directly in it, the home directory, the working directories and their parents,
    everything in any of these, everything directly under a shell variable.
    """
    directories = directories_of(reach, workspace)
    for name in sorted(REMOVERS):
        for command in reach.running(name):
            for word in _operands(command):
                if _critical_word(word, _recursive(command), directories, workspace):
                    return word
    for command in reach.running("xargs"):
        if _recursive(command) and not REMOVERS.isdisjoint(command.arguments):
            return "whatever xargs is given"
    for command in reach.running("find"):
        found = _removed_by_find(command, directories, workspace)
        if found is not None:
            return found
    return None


def write_to_protected_path(reach: Reach, paths: PathPolicy) -> str | None:
    """Say which protected path the line may write and why it is protected; None where there is none."""
    words = dict.fromkeys(_words_that_may_be_written(reach))
    for word in words:
        token = _protected_token(word)
        if token is not None:
            return f"`{token}` is protected"
    if len(words) > WORD_LIMIT:
        return f"it names more than {WORD_LIMIT} different words, too many to look for protected paths"
    bases = directories_of(reach, paths.workspace) or (str(paths.workspace.current),)
    for word in words:
        for candidate in dict.fromkeys((word, word.partition("=")[2])):
            path = plain_path(candidate, paths.workspace)
            if path is None or not path.strip("-") or len(path) > 4096:
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


def _critical_word(
    word: str, recursive: bool, directories: tuple[str, ...] | None, workspace: Workspace
) -> bool:
    return any(
        _critical_option(option, recursive, directories, workspace) for option in _without_braces(word)
    )


def _critical_option(
    word: str, recursive: bool, directories: tuple[str, ...] | None, workspace: Workspace
) -> bool:
    path = plain_path(word, workspace)
    if path is None:
        return _critical_variable(word, recursive, workspace)
    if not path.startswith("/") and directories is None:
        return recursive
    directory, _, last = path.rpartition("/")
    if last in ("*", ".*", "**", "?*", "*.*"):
        path = directory or ("/" if path.startswith("/") else ".")
    bases = ("",) if path.startswith("/") else tuple(f"{base}/" for base in directories or ())
    return any(_is_critical(f"{base}{path}", workspace) for base in bases)


def _critical_variable(word: str, recursive: bool, workspace: Workspace) -> bool:
    """A variable alone may be any path; what has a fixed name below one is not directly under it."""
    found = _VARIABLE_WORD.fullmatch(word)
    if found is None:
        return recursive or word[-1:] in "/*"
    if found["after"] == "":
        before = plain_path(found["before"], workspace) or ""
        return recursive and (before == "" or _is_critical(before, workspace))
    return _DIRECTLY_UNDER.fullmatch(found["after"]) is not None


def _is_critical(path: str, workspace: Workspace) -> bool:
    guarded = {"/", *parents(str(workspace.home)), *parents(os.path.realpath(workspace.home))}
    for root in (*workspace.roots, workspace.current):
        guarded.update(parents(str(root)))
    names = {folded(each) for each in guarded}
    identities = {identity(each) for each in guarded} - {None}
    for spelled in (os.path.normpath(path), os.path.realpath(path)):
        absolute = "/" + spelled.lstrip("/")
        if absolute.count("/") == 1 or folded(absolute) in names or identity(absolute) in identities:
            return True
    return False


def _removed_by_find(
    command: Command, directories: tuple[str, ...] | None, workspace: Workspace
) -> str | None:
    """A critical starting point of a `find` that removes whatever it finds, without any test."""
    removes = "-delete" in command.arguments or not REMOVERS.isdisjoint(command.arguments)
    if not removes or any(word.startswith(_FIND_TESTS) for word in command.arguments):
        return None
    for word in command.arguments:
        if word.startswith(("-", "(", "!")):
            break
        if _critical_word(word, True, directories, workspace):
            return word
    return None


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


def _without_braces(word: str) -> tuple[str, ...]:
    """The word, and roughly what braces in it expand to."""
    if "{" not in word or "${" in word:
        return (word,)
    before, _, rest = word.partition("{")
    inner, _, after = rest.rpartition("}")
    return (word, *(before + piece + after for piece in re.split(r"[{},]", inner)))


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
