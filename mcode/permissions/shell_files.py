"""Which files a shell line names, for the rules about files: what it reads and what it redirects into."""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
from typing import TYPE_CHECKING

from mcode.permissions.programs import GIT_SHOWS, SHOWS_FILES, WRITES_ALL, WRITES_LAST
from mcode.permissions.resolve import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell_lines import Redirect
    from mcode.permissions.shell_reach import Reach
    from mcode.tool import Workspace

GLOB_LIMIT = 200
"""Files that a wildcard in an argument is followed to."""

ENTRY_LIMIT = 5_000
"""Entries of a directory that are compared with a wildcard."""

DIRECTORY_LIMIT = 16
"""Directories that a line with many `cd` may be in."""

PLACE_LIMIT = 500
"""Places of one line that are looked up on the disk; further ones are compared as they are spelled."""

PATH_LIMIT = 4096
"""Characters of a path; Linux and macOS open no file by a longer one, so a longer word names none."""

_MAGIC = re.compile(r"[*?\[]")
EXPANSION = re.compile(r"\$\(|[`$]")
"""Where the shell puts in something that the line does not show."""


def files_read(reach: Reach, paths: PathPolicy) -> tuple[Place, ...]:
    """Files that the line shows or feeds to a program, as far as a rough reading tells."""
    words: list[str] = []
    for program in (*SHOWS_FILES, *WRITES_LAST, "mv"):
        for command in reach.running(program):
            words.extend(command.arguments)
    for command in reach.running("git"):
        if any(command.words[at : at + 1] and command.words[at] in GIT_SHOWS for at in command.beginnings):
            words.extend(each for word in command.arguments for each in (word, word.rpartition(":")[2]))
    words.extend(redirect.target for redirect in redirects_of(reach) if redirect.operator in ("<", "<>"))
    return _places(words, reach, paths)


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


def _places(words: list[str], reach: Reach, paths: PathPolicy) -> tuple[Place, ...]:
    workspace = paths.workspace
    bases = directories_of(reach, workspace) or (str(workspace.current), str(workspace.start))
    found: dict[str, Place] = {}
    for word in dict.fromkeys(words):
        for candidate in dict.fromkeys((word, word.partition("=")[2])):
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


def _expanded(path: str) -> tuple[str, ...]:
    """The path, and what a wildcard in its last segment stands for at present."""
    directory, _, last = path.rpartition("/")
    if not _MAGIC.search(last) or _MAGIC.search(directory):
        return (path,)
    found = [path]
    try:
        with os.scandir(directory or "/") as entries:
            for entry in itertools.islice(entries, ENTRY_LIMIT):
                hidden = entry.name.startswith(".") and not last.startswith(".")
                if not hidden and fnmatch.fnmatchcase(entry.name, last):
                    found.append(f"{directory}/{entry.name}")
    except OSError:
        return (path,)
    return tuple(found[:GLOB_LIMIT])
