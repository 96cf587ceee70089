"""What a command of a plain line shows of files that are not read unasked, and how it runs without them."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.git.judge import GitJudge
from mcode.permissions.programs import (
    SHOWS_BELOW,
    SHOWS_FILES,
    WRITES_ALL,
    WRITES_LAST,
    looks_below,
    sees_hidden,
    words_of,
)
from mcode.permissions.resolve import exists
from mcode.permissions.shell.files import directories_of
from mcode.permissions.shell.places import FOUND_LIMIT, PATH_LIMIT, Directories, Reading
from mcode.permissions.shell.reading import render
from mcode.permissions.shell.rules import unwrapped
from mcode.permissions.shell.table import Reads, is_listed, leaving_out, reads_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.permissions.file_patterns import FilePattern
    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell.reach import Reach
    from mcode.permissions.shell.reading import SimpleCommand
    from mcode.permissions.shell.words import Word
    from mcode.tool import Workspace

NAMES_ONLY = words_of("ls find du stat wc which")
"""Programs that show names and figures, no lines."""

_RECURSIVE = re.compile(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive$")
_MANY_LEFT_OUT = "Files with the names of secrets (.env, *.pem and the like) were left out of the search."
_ESCAPED = re.compile(r"\[([*?[])\]")


class Shown:
    """Knows for one line which files its commands would show."""

    def __init__(
        self,
        paths: PathPolicy,
        shut: Sequence[FilePattern],
        permitted: Callable[[Place], bool] | None,
        *,
        shows_secrets: bool = False,
    ) -> None:
        """`shut`: patterns of the deny and ask rules about reading. `permitted`: a rule lets a place be read; None:
        everything may be but what those patterns name. `shows_secrets`: as `GitJudge`.
        """
        self._paths = paths
        ruled_only = permitted is None
        unread = partial(touched, shut, paths.workspace) if shut else None
        lets = partial(_untouched, shut, paths.workspace) if permitted is None else permitted
        self.reading = Reading(paths, lets, unread, ruled_only=ruled_only)
        self.git = GitJudge(
            paths, self.reading, lets, shut, anywhere=ruled_only, shows_secrets=ruled_only or shows_secrets
        )
        self.line: tuple[Word, ...] = ()
        """Every argument of the line: what stands before `xargs` may reach it."""

    def keep(self, commands: Sequence[SimpleCommand]) -> tuple[str, str] | str:
        """What a line runs as that may run, without the files that the restrictions name, and what to tell of it.

        A sentence's end where they cannot be left out. Behind a `cd` that cannot be followed nothing is left out.
        """
        places = Directories(str(self._paths.workspace.current))
        self.line = tuple(word for command in commands for word in command.arguments)
        texts: list[str] = []
        notes: list[str] = []
        for command in commands:
            if command.operator:
                places.pass_operator(command.operator)
            if command.program == "cd":
                places.change(command, self._paths)
            found = (command.text, "") if places.unknown else self.narrowed(command, places.all)
            if isinstance(found, str):
                return found
            texts.append(found[0])
            notes += [found[1]] if found[1] else []
        return render(commands, texts), " ".join(dict.fromkeys(notes))

    def rough_fault(self, reach: Reach) -> str:
        """Why a line that is only roughly read may show what a restriction names; empty where nothing says so."""
        workspace = self._paths.workspace
        directories = directories_of(reach, workspace) or (str(workspace.current),)
        for command in reach.running("git"):
            found = self.git.ruled(command.arguments, directories)
            if found:
                return found
        for program in SHOWS_BELOW:
            for command in reach.running(program):
                found = self._ruled_below((program, *command.arguments), directories)
                if found:
                    return found
        return ""

    def _ruled_below(self, words: Sequence[str], directories: Sequence[str]) -> str:
        """Why a command may show what a restriction names below the directories that it looks through."""
        if not looks_below(words):
            return ""
        # The first operand may be what is searched for.
        operands = [word for word in words[1:] if not word.startswith("-")][
            words[0] not in ("diff", "find") :
        ]
        named = [self._paths.locate(word, Path(each)) for word in operands for each in directories]
        tops = [place.resolved for place in named if exists(place.resolved)]
        return self.reading.ruled_below(tops or directories, hidden=sees_hidden(words))

    def narrowed(self, command: SimpleCommand, directories: Sequence[str]) -> tuple[str, str] | str:
        """What a command runs as under a rule with a wildcard, and what to tell of it; or why it asks all the same."""
        fault = self._path_fault(command, directories)
        if fault:
            return fault
        words = unwrapped(command.words)[-1]
        found: tuple[str, str] | str | None = None
        if words[0].value == "git":
            found = self.git.under_rule(words[1:], directories)
        elif words[0].value == "grep":
            found = self._grep_under_rule(words, directories)
        else:
            found = self._ruled_below([word.value for word in words], directories) or None
        if found is None or isinstance(found, str):
            return found or (command.text, "")
        wrappers = command.words[: len(command.words) - len(words)]
        return " ".join((*(word.rendered for word in wrappers), found[0])), found[1]

    def _grep_under_rule(
        self, words: Sequence[Word], directories: Sequence[str]
    ) -> tuple[str, str] | str | None:
        """The same for a search; None for as it is."""
        reads = reads_of("grep", words[1:])
        if isinstance(reads, Reads):
            return self.searching(words, reads, directories)
        found = any(_RECURSIVE.match(word.value) for word in words[1:]) and self._secrets_below(directories)
        return f"{reads}, {found}" if found else None

    def _secrets_below(self, directories: Sequence[str]) -> str:
        """That there are files here which are not read unasked, as the second half of a sentence; empty for none."""
        left_out = self.reading.left_out(Reads((".",)), directories)
        if isinstance(left_out, str):
            return f"and {left_out}"
        names = ", ".join(option.partition("=")[2] for option in left_out[:3])
        return f"and there are files that are not read unasked ({names})" if left_out else ""

    def searching(
        self, words: Sequence[Word], reads: Reads, directories: Sequence[str]
    ) -> tuple[str, str] | str:
        """A search without files of secrets, and what to tell of that; a sentence's end where it asks."""
        left_out = self.reading.left_out(reads, directories) if reads.recursive else ()
        if isinstance(left_out, str):
            return left_out
        text = leaving_out(words[1:], left_out) if left_out else " ".join(word.rendered for word in words)
        return text, _told(left_out) if left_out else ""

    def _path_fault(self, command: SimpleCommand, directories: Sequence[str]) -> str:
        """Why a path that a ruled command names is asked about all the same, as far as its words show paths.

        It is the program behind wrappers such as `timeout` that counts, with or without its directory.
        """
        name, *arguments = unwrapped(command.words)[-1]
        program = name.value.rpartition("/")[2]
        reads = reads_of(program, arguments) if is_listed(program) else None
        fed = any(words[0].value == "xargs" for words in unwrapped(command.words)[:-1])
        if isinstance(reads, Reads) and not fed:
            return self.reading.fault(reads, directories, content=program not in NAMES_ONLY)
        writes = program in WRITES_ALL or program in WRITES_LAST or program == "mv"
        if not writes and program not in SHOWS_FILES and not is_listed(program):
            return ""
        if fed and not writes and program not in NAMES_ONLY:
            found = self._secrets_below(directories)
            if found:
                return f"what xargs gives it is not shown, {found}"
        words = self.line if fed else arguments
        if len(words) > PATH_LIMIT:
            return f"it has more than {PATH_LIMIT} arguments, too many to look at each"
        for word in words:
            for text in dict.fromkeys((word.value, word.value.partition("=")[2])):
                if not text or (text.startswith("-") and text == word.value):
                    continue
                found = self._word_fault(Reads((word if word.glob else text,)), directories, writes=writes)
                if found:
                    return found
        return ""

    def _word_fault(self, reads: Reads, directories: Sequence[str], *, writes: bool) -> str:
        """A word that names no file may be anything else, such as a script; for a writer it is a new file."""
        paths = self._paths
        word = reads.paths[0]
        seen = (paths.locate(str(word), Path(each)) for each in directories)
        if not writes and isinstance(word, str) and not any(exists(place.resolved) for place in seen):
            return ""
        return self.reading.fault(reads, directories, content=True)


def _told(left_out: Sequence[str]) -> str:
    if len(left_out) > FOUND_LIMIT:
        return _MANY_LEFT_OUT
    names = ", ".join(_ESCAPED.sub(r"\1", option.partition("=")[2]) for option in left_out)
    return f"Files of these names were left out of the search, since reading them asks or is denied: {names}."


def _untouched(patterns: Sequence[FilePattern], workspace: Workspace, place: Place) -> bool:
    return not touched(patterns, workspace, place)


def touched(patterns: Sequence[FilePattern], workspace: Workspace, place: Place) -> bool:
    """True where one of the patterns of deny and ask rules speaks of a place."""
    return any(pattern.touches(place, workspace) for pattern in patterns)
