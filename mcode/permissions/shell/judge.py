"""The verdict about a plain line: each of its commands must be let run on its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.file_commands import edits_workspace_only
from mcode.permissions.modes import Mode
from mcode.permissions.needs import Need, NeedKind, meets
from mcode.permissions.secret_names import secret_part
from mcode.permissions.shell.places import Directories
from mcode.permissions.shell.reading import render
from mcode.permissions.shell.rules import changes_the_shell, covers, only_exactly
from mcode.permissions.shell.shown import NAMES_ONLY, Shown, touched
from mcode.permissions.shell.table import BUILTINS, is_listed, reads_of
from mcode.permissions.specifiers import Commands, Files, Whole
from mcode.permissions.verdict import PartVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.resolve import Place
    from mcode.permissions.rules import Rule
    from mcode.permissions.shell.reading import SimpleCommand
    from mcode.permissions.subject import Subject

_SHOWN = 120


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
    ) -> None:
        """`confined`: what runs is in a sandbox, and that is enough where words and paths raise no question."""
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
        self._shown = Shown(
            subject.paths, shut, self._permitted, shows_secrets=any(map(_shows_secrets, rules))
        )

    def judge(self, commands: Sequence[SimpleCommand]) -> Judgement:
        """Judge every command; nothing is run and nothing is opened but configuration of git."""
        places = Directories(str(self._subject.paths.workspace.current))
        self._shown.line = tuple(word for command in commands for word in command.arguments)
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
        found = self._shown.narrowed(command, places.all) if self._confined and plain else ""
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
                found = self._shown.narrowed(command, directories)
            if isinstance(found, str):
                why = found
                continue
            granted = "your answer:" if rule.granted else "the rule"
            kind = "grant" if rule.granted else "rule"
            return _Run(f"allowed by {granted} {rule.cited}", kind, found[0], rule, found[1])
        return why

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
            found = self._shown.git.by_table(command.arguments, directories)
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
        fault = self._shown.reading.fault(reads, directories, content=program not in NAMES_ONLY)
        if fault:
            return fault
        return self._shown.searching(command.words, reads, directories)

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
        return touched(patterns, self._subject.paths.workspace, place)

    def _permitted(self, place: Place) -> bool:
        """True where an allow rule lets a place be read."""
        need = Need(NeedKind.READ, place.given, place)
        return any(isinstance(rule.match, Files) and meets(rule, need, self._subject) for rule in self._rules)


def _shows_secrets(rule: Rule) -> bool:
    """True for a rule that lets files be read by the name of a secret."""
    files = rule.match
    return isinstance(files, Files) and not files.editing and secret_part(files.pattern.glob) is not None
