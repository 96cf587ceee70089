"""The verdict about a plain line: each of its commands must be let run on its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.file_commands import edits_workspace_only
from mcode.permissions.git.judge import GitJudge
from mcode.permissions.modes import Mode
from mcode.permissions.needs import Need, NeedKind, meets
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
from mcode.permissions.secret_names import secret_part
from mcode.permissions.shell.files import directories_of
from mcode.permissions.shell.places import FOUND_LIMIT, PATH_LIMIT, Directories, Reading
from mcode.permissions.shell.reading import render
from mcode.permissions.shell.rules import changes_the_shell, covers, only_exactly, unwrapped
from mcode.permissions.shell.table import BUILTINS, Reads, is_listed, leaving_out, reads_of
from mcode.permissions.specifiers import Commands, Files, Whole
from mcode.permissions.verdict import PartVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.file_patterns import FilePattern
    from mcode.permissions.resolve import Place
    from mcode.permissions.rules import Rule
    from mcode.permissions.shell.reading import SimpleCommand
    from mcode.permissions.shell.words import Word
    from mcode.permissions.subject import Subject
    from mcode.tool import Workspace

_NAMES_ONLY = words_of("ls find du stat wc which")
_ESCAPED = re.compile(r"\[([*?[])\]")
_SHOWN = 120
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive$")
_MANY_LEFT_OUT = "Files with the names of secrets (.env, *.pem and the like) were left out of the search."


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of judging a line."""

    parts: tuple[PartVerdict, ...]
    run_as: str
    note: str = ""

    @property
    def allowed(self) -> bool:
        return all(part.allowed for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Run:
    """A command that may run, and how."""

    why: str
    kind: str
    text: str
    rule: Rule | None = None
    note: str = ""


class LineJudge:
    """Judges the commands of one line. Without rules and in mode plan it knows the reading commands alone."""

    def __init__(
        self,
        subject: Subject,
        rules: Sequence[Rule],
        restrictions: Sequence[Rule],
        mode: Mode,
        *,
        confined: bool = False,
        ruled_only: bool = False,
    ) -> None:
        """`confined`: what runs is in a sandbox, and that is enough where words and paths raise no question.

        `ruled_only`: for `keep`; no path but those of the restrictions raises one.
        """
        self._subject = subject
        self._rules = rules
        self._mode = mode
        self._confined = confined
        self._limits = [rule for rule in restrictions if isinstance(rule.match, Files)]
        shut = [
            rule.match.pattern
            for rule in self._limits
            if isinstance(rule.match, Files) and not rule.match.editing
        ]
        unread = partial(_touched, shut, subject.paths.workspace) if shut else None
        permitted = partial(_untouched, shut, subject.paths.workspace) if ruled_only else self._permitted
        self._reading = Reading(subject.paths, permitted, unread, ruled_only=ruled_only)
        self._line: tuple[Word, ...] = ()
        self._git = GitJudge(
            subject.paths,
            self._reading,
            permitted,
            shut,
            anywhere=ruled_only,
            shows_secrets=ruled_only or any(map(_shows_secrets, rules)),
        )

    def judge(self, commands: Sequence[SimpleCommand]) -> Judgement:
        """Judge every command; nothing is run and nothing is opened but configuration of git."""
        places = Directories(str(self._subject.paths.workspace.current))
        self._line = tuple(word for command in commands for word in command.arguments)
        unsure = next((each.program for each in commands if changes_the_shell(each)), "")
        parts: list[PartVerdict] = []
        texts: list[str] = []
        notes: list[str] = []
        for command in commands:
            if command.operator:
                places.pass_operator(command.operator)
            run = self._run(command, places, unsure)
            if isinstance(run, str):
                parts.append(PartVerdict(command.shown, False, run))
                texts.append(command.text)
            else:
                parts.append(PartVerdict(command.shown, True, run.why, run.kind, run.rule))
                texts.append(run.text)
                notes += [run.note] if run.note else []
        return Judgement(tuple(parts), render(commands, texts), " ".join(dict.fromkeys(notes)))

    def keep(self, commands: Sequence[SimpleCommand]) -> tuple[str, str] | str:
        """What a line runs as that may run, without the files that the restrictions name, and what to tell of it.

        A sentence's end where they cannot be left out. Behind a `cd` that cannot be followed nothing is left out.
        """
        places = Directories(str(self._subject.paths.workspace.current))
        self._line = tuple(word for command in commands for word in command.arguments)
        texts: list[str] = []
        notes: list[str] = []
        for command in commands:
            if command.operator:
                places.pass_operator(command.operator)
            if command.program == "cd":
                places.change(command, self._subject.paths)
            found = (command.text, "") if places.unknown else self._narrowed(command, places.all)
            if isinstance(found, str):
                return found
            texts.append(found[0])
            notes += [found[1]] if found[1] else []
        return render(commands, texts), " ".join(dict.fromkeys(notes))

    def rough_fault(self) -> str:
        """Why a line that is only roughly read may show what a restriction names; empty where nothing says so."""
        reach, workspace = self._subject.reach, self._subject.paths.workspace
        directories = directories_of(reach, workspace) or (str(workspace.current),)
        for command in reach.running("git"):
            found = self._git.ruled(command.arguments, directories)
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
        named = [self._subject.paths.locate(word, Path(each)) for word in operands for each in directories]
        tops = [place.resolved for place in named if exists(place.resolved)]
        return self._reading.ruled_below(tops or directories, hidden=sees_hidden(words))

    def _run(self, command: SimpleCommand, places: Directories, unsure: str) -> _Run | str:
        """How one command may run, or what is missing."""
        lost = places.unknown
        fault = places.change(command, self._subject.paths) if command.program == "cd" else ""
        if command.files:
            redirect = command.files[0]
            verb = "read" if redirect.operator.endswith("<") else "write"
            return f"its redirection `{redirect.operator}{redirect.target}` would {verb} a file, which always asks"
        if lost:
            return lost
        ruled = self._by_rule(command, places.all)
        if isinstance(ruled, _Run):
            return ruled
        if fault:
            return ruled or fault
        listed = self._by_table(command, places.all, unsure)
        if isinstance(listed, _Run):
            return listed
        if self._mode is Mode.ACCEPT_EDITS and not unsure and self._edits(command, places.all):
            return _Run("mode acceptEdits: a file command in the workspace runs", "mode", command.text)
        plain = not ruled and not unsure and not only_exactly(command)
        found = self._narrowed(command, places.all) if self._confined and plain else ""
        if not isinstance(found, str):
            why = "the setting sandboxAutoAllow: it runs in the sandbox"
            return _Run(why, "mode", found[0], note=found[1])
        return ruled or listed

    def _by_rule(self, command: SimpleCommand, directories: Sequence[str]) -> _Run | str:
        """By the user's rules; a rule with a wildcard does not lift the questions about paths."""
        why = ""
        for rule in self._rules:
            exact = isinstance(rule.match, Commands) and rule.match.pattern.exact
            if isinstance(rule.match, Commands):
                covered = covers(rule.match.pattern, command)
            else:
                covered = isinstance(rule.match, Whole) and rule.is_about(
                    self._subject.tool, self._subject.source
                )
            if not covered:
                continue
            found: tuple[str, str] | str = command.text, ""
            if not exact and only_exactly(command):
                found = f"it runs or removes what {rule.cited} does not show; it takes a rule without `*`"
            elif not exact:
                found = self._narrowed(command, directories)
            if isinstance(found, str):
                why = found
                continue
            granted = "your answer:" if rule.granted else "the rule"
            kind = "grant" if rule.granted else "rule"
            return _Run(f"allowed by {granted} {rule.cited}", kind, found[0], rule, found[1])
        return why

    def _narrowed(self, command: SimpleCommand, directories: Sequence[str]) -> tuple[str, str] | str:
        """What a command runs as under a rule with a wildcard, and what to tell of it; or why it asks all the same."""
        fault = self._path_fault(command, directories)
        if fault:
            return fault
        words = unwrapped(command.words)[-1]
        found: tuple[str, str] | str | None = None
        if words[0].value == "git":
            found = self._git.under_rule(words[1:], directories)
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
            return self._searching(words, reads, directories)
        found = any(_RECURSIVE.match(word.value) for word in words[1:]) and self._secrets_below(directories)
        return f"{reads}, {found}" if found else None

    def _secrets_below(self, directories: Sequence[str]) -> str:
        """That there are files here which are not read unasked, as the second half of a sentence; empty for none."""
        left_out = self._reading.left_out(Reads((".",)), directories)
        if isinstance(left_out, str):
            return f"and {left_out}"
        names = ", ".join(option.partition("=")[2] for option in left_out[:3])
        return f"and there are files that are not read unasked ({names})" if left_out else ""

    def _searching(
        self, words: Sequence[Word], reads: Reads, directories: Sequence[str]
    ) -> tuple[str, str] | str:
        """A search without files of secrets, and what to tell of that; a sentence's end where it asks."""
        left_out = self._reading.left_out(reads, directories) if reads.recursive else ()
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
            return self._reading.fault(reads, directories, content=program not in _NAMES_ONLY)
        writes = program in WRITES_ALL or program in WRITES_LAST or program == "mv"
        if not writes and program not in SHOWS_FILES and not is_listed(program):
            return ""
        if fed and not writes and program not in _NAMES_ONLY:
            found = self._secrets_below(directories)
            if found:
                return f"what xargs gives it is not shown, {found}"
        words = self._line if fed else arguments
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
        paths = self._subject.paths
        word = reads.paths[0]
        seen = (paths.locate(str(word), Path(each)) for each in directories)
        if not writes and isinstance(word, str) and not any(exists(place.resolved) for place in seen):
            return ""
        return self._reading.fault(reads, directories, content=True)

    def _by_table(self, command: SimpleCommand, directories: Sequence[str], unsure: str) -> _Run | str:
        """By the list of reading commands."""
        program = command.program
        if unsure:
            return f"`{unsure}` in the same line may change what `{program}` means"
        if program == "cd":
            return _Run("changes to a directory of the workspace", "read-only", command.text)
        if program != "git" and not is_listed(program):
            return self._not_listed(command)
        doubt = "" if program in BUILTINS else self._subject.programs.doubt(program)
        if doubt:
            return doubt
        if program == "git":
            found = self._git.by_table(command.arguments, directories)
        else:
            found = self._listed(command, directories)
        if isinstance(found, str):
            return found
        text, note = found
        return _Run("reads in the workspace", "read-only", text, note=note)

    def _listed(self, command: SimpleCommand, directories: Sequence[str]) -> tuple[str, str] | str:
        program = command.program
        reads = reads_of(program, command.arguments)
        if isinstance(reads, str):
            return reads
        fault = self._reading.fault(reads, directories, content=program not in _NAMES_ONLY)
        if fault:
            return fault
        return self._searching(command.words, reads, directories)

    def _not_listed(self, command: SimpleCommand) -> str:
        text = command.text if len(command.text) <= _SHOWN else f"{command.text[:_SHOWN]}…"
        if self._mode is Mode.PLAN:
            return f"`{text}` is not in the list of reading commands"
        return f"no rule allows mcode to run `{text}`, and mode {self._mode} asks"

    def _edits(self, command: SimpleCommand, directories: Sequence[str]) -> bool:
        """By mode acceptEdits: the few file commands, on literal paths of the workspace."""
        if command.assignments or any(word.glob for word in command.words):
            return False
        words = [word.value for word in command.words]
        return not self._subject.programs.doubt(words[0]) and all(
            edits_workspace_only(words, Path(each), self._subject.paths, self._restricted)
            for each in directories
        )

    def _restricted(self, place: Place) -> bool:
        """True where a deny or ask rule speaks of a place."""
        patterns = [rule.match.pattern for rule in self._limits if isinstance(rule.match, Files)]
        return _touched(patterns, self._subject.paths.workspace, place)

    def _permitted(self, place: Place) -> bool:
        """True where an allow rule lets a place be read."""
        need = Need(NeedKind.READ, place.given, place)
        return any(isinstance(rule.match, Files) and meets(rule, need, self._subject) for rule in self._rules)


def _told(left_out: Sequence[str]) -> str:
    if len(left_out) > FOUND_LIMIT:
        return _MANY_LEFT_OUT
    names = ", ".join(_ESCAPED.sub(r"\1", option.partition("=")[2]) for option in left_out)
    return f"Files of these names were left out of the search, since reading them asks or is denied: {names}."


def _shows_secrets(rule: Rule) -> bool:
    """True for a rule that lets files be read by the name of a secret."""
    files = rule.match
    return isinstance(files, Files) and not files.editing and secret_part(files.pattern.glob) is not None


def _untouched(patterns: Sequence[FilePattern], workspace: Workspace, place: Place) -> bool:
    return not _touched(patterns, workspace, place)


def _touched(patterns: Sequence[FilePattern], workspace: Workspace, place: Place) -> bool:
    return any(pattern.touches(place, workspace) for pattern in patterns)
