"""Which files a shell line names, for the rules about files: what it reads and what it redirects into."""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.repository import git_directory
from mcode.permissions.programs import GIT_SHOWS, SHOWS_FILES, TAKES_FILES, WRITES_ALL, WRITES_LAST
from mcode.permissions.resolve import parents, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell.lines import Redirect
    from mcode.permissions.shell.reach import Command, Reach
    from mcode.tool import Workspace

GLOB_LIMIT = 200
"""Files that a wildcard in an argument is followed to."""

ENTRY_LIMIT = 5_000
"""Entries of a directory that are compared with a wildcard."""

DIRECTORY_LIMIT = 16
"""Directories that a line with many `cd` may be in."""

PLACE_LIMIT = 500
"""Places of one line that are looked up on the disk; further ones are compared as they are spelled."""

BRACES_LIMIT = 50
"""Words that one with braces is taken for."""

PATH_LIMIT = 4096
"""Characters of a path; Linux and macOS open no file by a longer one, so a longer word names none."""

_MAGIC = re.compile(r"[*?\[]")
EXPANSION = re.compile(r"\$\(|[`$]")
"""Where the shell puts in something that the line does not show."""


def files_read(reach: Reach, paths: PathPolicy) -> tuple[Place, ...]:
    """Files that the line shows or feeds to a program, as far as a rough reading tells."""
    words: list[str] = []
    for program in (*SHOWS_FILES, *TAKES_FILES, *WRITES_LAST, "mv"):
        for command in reach.running(program):
            words.extend(command.arguments)
    of_git = [
        command
        for command in reach.running("git")
        if any(command.words[at : at + 1] and command.words[at] in GIT_SHOWS for at in command.beginnings)
    ]
    in_git = [
        each for command in of_git for word in command.arguments for each in (word, word.rpartition(":")[2])
    ]
    words.extend(redirect.target for redirect in redirects_of(reach) if redirect.operator in ("<", "<>"))
    if not in_git:
        return _places(words, reach, paths)
    return _places(words, reach, paths) + _places(
        in_git, reach, paths, tuple(_bases_of_git(of_git, reach, paths))
    )


def _bases_of_git(commands: Sequence[Command], reach: Reach, paths: PathPolicy) -> Iterator[str]:
    """Where the paths of git begin: where the line runs, what `-C` names, and for `HEAD:path` the top of each."""
    bases = _bases(reach, paths)
    for command in commands:
        for option, word in itertools.pairwise(command.arguments):
            named = plain_path(word, paths.workspace) if option == "-C" else None
            if named is not None and len(bases) <= DIRECTORY_LIMIT:
                bases += tuple(paths.locate(named, Path(base)).resolved for base in bases)
    for base in dict.fromkeys(bases):
        yield base
        yield from (each for each in parents(base) if git_directory(Path(each)) is not None)


def files_written(reach: Reach, paths: PathPolicy) -> tuple[Place, ...]:
    """Files that the line redirects into, or gives to a program that changes them."""
    words = [redirect.target for redirect in redirects_of(reach) if writes(redirect)]
    for program in WRITES_ALL:
        for command in reach.running(program):
            words.extend(command.arguments)
    for program in WRITES_LAST:
        for command in reach.running(program):
            words.extend(command.arguments[-1:])
            words.extend(word for word in command.arguments if word.startswith(("-t", "--target-directory=")))
    for command in reach.running("sed"):
        if any(re.match(r"-\w*i|--in-place", word) for word in command.arguments):
            words.extend(command.arguments)
    return _places(words, reach, paths)


def redirects_of(reach: Reach) -> Iterator[Redirect]:
    """Redirections to and from files; descriptors and the null device do not count."""
    for part in reach.line.parts:
        for redirect in part.redirects:
            copied = redirect.operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", redirect.target)
            if not copied and redirect.target not in ("", "/dev/null"):
                yield redirect


def writes(redirect: Redirect) -> bool:
    """True where the redirection may create or change its target."""
    return ">" in redirect.operator


def plain_path(word: str, workspace: Workspace) -> str | None:
    """The path that a word names, with `~`, `$HOME` and `$PWD` put in; None where it cannot be told."""
    home = str(workspace.home)
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    elif word.startswith("~"):
        return None
    if "$" in word:
        for variable, value in (("HOME", home), ("PWD", str(workspace.current))):
            word = word.replace(f"${{{variable}}}", value)
            word = re.sub(rf"\${variable}(?!\w)", value.replace("\\", r"\\"), word)
    return None if EXPANSION.search(word) or "\0" in word else word


def directories_of(reach: Reach, workspace: Workspace) -> tuple[str, ...] | None:
    """Where the line's commands may run: here, and wherever it changes to; None where that cannot be told."""
    found = [str(workspace.current)]
    for program in ("cd", "pushd"):
        for command in reach.running(program):
            for word in command.arguments or ("~",):
                path = plain_path(word, workspace)
                if path is None or word == "-" or len(found) > DIRECTORY_LIMIT:
                    return None
                if not word.startswith("-"):
                    found.extend(
                        os.path.normpath(f"{base}/{path}") for base in tuple(found) if path[:1] != "/"
                    )
                    found.extend([os.path.normpath(path)] if path[:1] == "/" else [])
    return tuple(dict.fromkeys(found))


def _bases(reach: Reach, paths: PathPolicy) -> tuple[str, ...]:
    workspace = paths.workspace
    return directories_of(reach, workspace) or (str(workspace.current), str(workspace.start))


def _places(
    words: list[str], reach: Reach, paths: PathPolicy, bases: tuple[str, ...] = ()
) -> tuple[Place, ...]:
    workspace = paths.workspace
    bases = tuple(dict.fromkeys(bases)) or _bases(reach, paths)
    found: dict[str, Place] = {}
    for word in dict.fromkeys(words):
        for candidate in _candidates(word):
            path = plain_path(candidate, workspace)
            if not path or len(path) > PATH_LIMIT:
                continue
            for base in bases:
                absolute = path if path.startswith("/") else f"{base}/{path}"
                if absolute in found:
                    continue
                if len(found) > PLACE_LIMIT:
                    found[absolute] = place_of(absolute, (os.path.normpath(absolute),))
                    continue
                for spelled in _expanded(absolute):
                    found[spelled] = paths.locate(spelled)
    return tuple(found.values())


def _candidates(word: str) -> Iterator[str]:
    """What in a word may be a path: all of it, what is behind `=`, behind the `@` of curl, and out of braces."""
    seen: dict[str, None] = {}
    for text in without_braces(word)[:BRACES_LIMIT]:
        for part in (text, text.partition("=")[2]):
            seen.update(dict.fromkeys((part, part.removeprefix("@"))))
    yield from seen


def without_braces(word: str) -> tuple[str, ...]:
    """The word, and roughly what braces in it expand to."""
    if "{" not in word or "${" in word:
        return (word,)
    before, _, rest = word.partition("{")
    inner, _, after = rest.rpartition("}")
    return (word, *(before + piece + after for piece in re.split(r"[{},]", inner)))


def _expanded(path: str) -> tuple[str, ...]:
    """The path, and what wildcards in it stand for at present."""
    if not _MAGIC.search(path):
        return (path,)
    left = ENTRY_LIMIT
    found = [""]
    for segment in path.split("/")[1:]:
        if not _MAGIC.search(segment):
            found = [f"{directory}/{segment}" for directory in found]
            continue
        matches: list[str] = []
        for directory in found:
            seen, names = _matching(directory or "/", segment, left)
            left -= seen
            matches += (f"{directory}/{name}" for name in names)
        found = matches
    there = (each for each in found if os.path.lexists(each))
    return (path, *itertools.islice(there, GLOB_LIMIT - 1))


def _matching(directory: str, pattern: str, most: int) -> tuple[int, list[str]]:
    """How many of at most `most` entries of a directory were looked at, and the names that a pattern stands for."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in itertools.islice(entries, most)]
    except OSError:
        return 0, []
    shown = (name for name in names if pattern.startswith(".") or not name.startswith("."))
    return len(names), [name for name in shown if fnmatch.fnmatchcase(name, pattern)]
