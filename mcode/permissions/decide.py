"""The decision about one call: deny rules, then ask rules, then allow rules, grants and the mode."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.call import Origin
from mcode.config.settings import Problem
from mcode.errors import UsageError
from mcode.permissions.book import RuleBook
from mcode.permissions.explain import explanation
from mcode.permissions.limits import (
    asks_in_plan,
    kept_from_denied,
    never_unasked,
    not_in_plan,
    outside_is_blocked,
)
from mcode.permissions.line_parts import part_alone, rough_parts
from mcode.permissions.modes import Mode
from mcode.permissions.needs import meets, needs_of
from mcode.permissions.paths import PathPolicy
from mcode.permissions.permits import Permits
from mcode.permissions.rules import read_rule
from mcode.permissions.shell import tree
from mcode.permissions.shell.lookup import Programs
from mcode.permissions.specifiers import Commands, Files
from mcode.permissions.subject import Subject
from mcode.permissions.updates import suggestions
from mcode.permissions.verdict import Behavior, PartVerdict, Proposal, Verdict
from mcode.tool import Access

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mcode.call import Call
    from mcode.config.settings import RuleText, Settings
    from mcode.jsontext import JsonObject
    from mcode.permissions.rules import Rule
    from mcode.tool import Tool, Workspace

__all__ = ["Behavior", "Policy", "Proposal", "Verdict"]


class Policy:
    """Decides for every call of a session whether it may run."""

    def __init__(
        self,
        settings: Settings,
        workspace: Workspace,
        mode: Mode,
        *,
        cli_rules: Sequence[RuleText] = (),
        can_bypass: bool = False,
        own: Iterable[Path] = (),
        readable: Sequence[Path] = (),
    ) -> None:
        """`can_bypass`: the session was started with bypassPermissions enabled. `own`: directories of settings
        and sessions, protected wherever they are. `readable`: side files of the session, which are read without asking.
        """
        self._settings = settings
        self.workspace = workspace
        self.paths = PathPolicy(workspace, own=own, readable=readable)
        self._programs = Programs(settings.env.get("PATH") or os.environ.get("PATH", ""), self.paths)
        self.can_bypass = can_bypass and not settings.disable_bypass
        self._book = RuleBook((*settings.rules, *cli_rules), workspace.start)
        self.sandbox = ""
        """What confines the commands of the model, in words; empty where nothing does."""
        self.sandbox_allows = False
        """A command that the sandbox confines needs no approval of its own."""
        self._mode = Mode.DEFAULT
        self._above: Policy | None = None
        self._own_mode: Mode | None = None
        problems = self._book.problems
        try:
            self.set_mode(mode)
        except UsageError as error:
            problems = (*problems, Problem(None, "permissions.defaultMode", str(error), "warning"))
        self.problems = problems
        """What is wrong with the rules and the mode that were given."""

    def beside(self, workspace: Workspace, mode: Mode | None) -> Policy:
        """The policy of a sub-agent: the same rules and grants, with a working directory and a mode of its own.

        `mode` None: always the session's. While the session is in plan or dontAsk, so is the sub-agent.
        """
        view = copy(self)
        view.workspace = workspace
        view.paths = self.paths.beside(workspace)
        view._stand_beside(self, mode)  # noqa: SLF001 -- the same class
        return view

    def _stand_beside(self, above: Policy, mode: Mode | None) -> None:
        self._programs = Programs(self._settings.env.get("PATH") or os.environ.get("PATH", ""), self.paths)
        self._above, self._own_mode = above, mode

    @property
    def mode(self) -> Mode:
        if self._above is None:
            return self._mode
        whole = self._above.mode
        return whole if self._own_mode is None or whole in (Mode.PLAN, Mode.DONT_ASK) else self._own_mode

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; raises UsageError for bypassPermissions where it was not enabled at the start."""
        if mode is Mode.BYPASS and not self.can_bypass:
            why = (
                "the setting disableBypassPermissionsMode forbids it"
                if self._settings.disable_bypass
                else "it can be entered only where mcode was started with --dangerously-skip-permissions"
            )
            raise UsageError(f"Mode bypassPermissions was not entered: {why}. The mode stays {self._mode}.")
        self._mode = mode

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule in force in order of precedence: deny, ask, allow; the session's own last in each.

        Those that are about one program's calls alone (`Rule.program`) are among them.
        """
        return tuple(self._book)

    @property
    def grants(self) -> tuple[Rule, ...]:
        """The rules of this session alone: the user's answers, and what hooks added; not those of a program or turn."""
        return tuple(rule for rule in self._book.session if not (rule.program or rule.turn))

    def grant(
        self, rule_text: str, *, kept_in: Path | None = None, program: str = "", in_plan: bool = False
    ) -> Rule:
        """Allow what a rule covers for the rest of the session; `kept_in` is the file that keeps it longer.

        `in_plan`: for tools of MCP servers it holds in mode plan too, where no other permission of theirs does.
        `program`: only for calls of this program (the id of its `run_code` call), until `end_program`.
        Raises ValueError for a rule that cannot be read.
        """
        return self._book.add(rule_text, Behavior.ALLOW, kept_in, program, in_plan=in_plan)

    def end_program(self, program: str) -> None:
        """A program has ended: what was granted to its calls is granted no more."""
        self._book.end_program(program)

    def add_rule(self, rule_text: str, behavior: Behavior, *, turn: int = 0) -> Rule:
        """Add a rule of any behavior for the rest of the session; raises ValueError as `grant` does.

        `turn`: until `end_turn`, and what it allows are calls of this turn, not of what works on behind it.
        """
        return self._book.add(rule_text, behavior, turn=turn)

    def end_turn(self) -> None:
        """A turn has ended, and with it the rules that were added for it."""
        self._book.end_turn()

    def remove_rule(self, rule_text: str, behavior: Behavior) -> bool:
        """Take back a rule of this session; False where there is none. Rules of files stay."""
        return self._book.remove(rule_text, behavior)

    def drop_rule(self, rule: Rule) -> None:
        """Take one of `rules` out of force for the rest of the session; its file is the caller's business."""
        self._book.drop(rule)

    def clear_rules(self, behavior: Behavior) -> None:
        """Take back every rule of this session that has the behavior."""
        self._book.clear(behavior)

    def hides(self, tool_name: str) -> Rule | None:
        """The deny rule that takes a tool from the model's view."""
        return next((rule for rule in self._book if rule.hides and rule.is_about(tool_name)), None)

    def shows(self, path: Path) -> bool:
        """True where a search that was permitted may show this file, which it came upon below its directory.

        False for a file that a Read rule denies or asks about, and for a file of secrets that no rule names.
        """
        place = self.paths.locate(path)
        named = False
        for rule in self._book:
            if not isinstance(rule.match, Files) or rule.match.editing:
                continue
            pattern = rule.match.pattern
            if rule.behavior is not Behavior.ALLOW:
                if pattern.touches(place, self.workspace):
                    return False
            elif (
                not (rule.program or rule.turn)
                and pattern.names_the_file()
                and pattern.covers(place, self.workspace)
            ):
                named = True
        return named or self.paths.secret(place) is None

    def prepare(self) -> None:
        """Load the parser of shell lines and compile all path patterns; worth a thread after the first frame."""
        tree.load()
        for rule in self._book:
            if isinstance(rule.match, Files):
                rule.match.pattern.prepare()

    def matches(self, rule_text: RuleText, call: Call, tool: Tool, access: Access) -> bool:
        """True where a hook's `if` rule is about the call, and also where that rule, or the line, cannot be read."""
        rule, _ = read_rule(rule_text)
        if rule is None or rule.malformed:
            return True
        subject = self._subject(call, tool, access)
        return rule.touches(subject) or (isinstance(rule.match, Commands) and subject.is_unreadable)

    def suggestions(self, verdict: Verdict) -> list[JsonObject]:
        """The verdict's proposals as PermissionRequest hooks get them."""
        return suggestions(verdict.proposals)

    def explain(self, call: Call, tool: Tool, access: Access) -> str:
        """The verdict with everything that played a part in it, for people."""
        verdict = self.decide(call, tool, access)
        subject = self._subject(call, tool, access)
        return explanation(verdict, subject, self.rules, self.mode, self.hides(tool.name))

    def decide(
        self,
        call: Call,
        tool: Tool,
        access: Access,
        *,
        hook: Behavior | None = None,
        hook_reason: str = "",
    ) -> Verdict:
        """Decide about one call, on exactly the arguments that would run.

        `hook` is what the PreToolUse hooks said: deny blocks, ask asks, allow saves only the question.
        """
        subject = self._subject(call, tool, access)
        verdict = (
            _hook_says(hook, Behavior.DENY, hook_reason)
            or self._denied_by_rule(subject)
            or outside_is_blocked(subject, self._settings)
            or _typed_by_user(call, subject)
            or (self._not_in_plan(subject) if self.mode is Mode.PLAN else None)
            or never_unasked(subject, tool.always_asks, self._doubt(tool))
            or self._asked_by_rule(subject)
            or _hook_says(hook, Behavior.ASK, hook_reason)
            or _hook_says(hook, Behavior.ALLOW, hook_reason)
            or self._permits(subject).judge(subject)
        )
        if verdict.behavior is Behavior.ASK:
            return self._without_asking(verdict)
        return self._kept_from_denied(subject, verdict)

    def _kept_from_denied(self, subject: Subject, verdict: Verdict) -> Verdict:
        """Files that deny rules name are kept from what a line shows, whatever lets it run but the user's own hand."""
        settled = verdict.behavior is Behavior.DENY or verdict.run_as is not None or verdict.kind == "user"
        if settled or subject.command is None:
            return verdict
        about = self._book.about(Behavior.DENY, subject)
        denied = [rule for rule in about if isinstance(rule.match, Files) and not rule.match.editing]
        found = kept_from_denied(subject, denied) if denied else ("", "")
        if isinstance(found, str):
            reason = f"{found}. What deny rules name is shown in no mode: leave it out of the command"
            return Verdict(Behavior.DENY, reason, kind="rule")
        return replace(verdict, run_as=found[0], note=found[1]) if found[0] else verdict

    def _doubt(self, tool: Tool) -> str:
        """Why no rule covers the tool as it is now; in bypassPermissions nothing hangs on rules."""
        return "" if self.mode is Mode.BYPASS else tool.must_ask

    def parts(self, call: Call, tool: Tool, access: Access) -> tuple[PartVerdict, ...]:
        """Each command of a line, also where the line was decided as a whole; empty where it could not be read.

        For people: what runs is the whole line, and its verdict is that of `decide`.
        """
        subject = self._subject(call, tool, access)

        def alone(text: str) -> Verdict:
            return self.decide(replace(call, arguments={"command": text}), tool, Access(command=text))

        judged = self._permits(subject).judged(subject)
        if judged is None or isinstance(subject.reading, str):
            return rough_parts(subject.reach.line, alone)
        pairs = zip(subject.reading.commands, judged.parts, strict=True)
        return tuple(part_alone(part, alone(command.text), self.mode) for command, part in pairs)

    def _denied_by_rule(self, subject: Subject) -> Verdict | None:
        for rule in self._book.about(Behavior.DENY, subject):
            if rule.touches(subject):
                return Verdict(Behavior.DENY, f"denied by the rule {rule.cited}", rule, "rule")
        if self.mode is Mode.BYPASS and subject.command is not None:
            reading = subject.reading
            if subject.reach.line.over_limit:
                return self._denied_unread(subject, subject.reach.line.doubt)
            if not isinstance(reading, str) and reading.over_limit:
                return self._denied_unread(subject, reading.why)
        return None

    def _denied_unread(self, subject: Subject, doubt: str) -> Verdict | None:
        """A line too long to be read may hide what a rule is about, and this mode would not ask about it."""
        for rule in self._restrictions(subject):
            if not isinstance(rule.match, Files):
                why = f"{doubt}, so it cannot be compared with the rule {rule.cited}"
                reason = f"mode bypassPermissions does not run this command: {why}"
                return Verdict(Behavior.DENY, reason, rule, "rule")
        return None

    def _not_in_plan(self, subject: Subject) -> Verdict | None:
        granted = any(
            rule.in_plan and any(meets(rule, need, subject) for need in needs_of(subject))
            for rule in self._book.about(Behavior.ALLOW, subject)
        )
        return not_in_plan(subject) or (None if granted else asks_in_plan(subject))

    def _asked_by_rule(self, subject: Subject) -> Verdict | None:
        for rule in self._book.about(Behavior.ASK, subject):
            if rule.touches(subject):
                return Verdict(Behavior.ASK, f"the rule {rule.cited} asks before such calls", rule, "rule")
        return None

    def _without_asking(self, verdict: Verdict) -> Verdict:
        """The verdict where a question is wanted but may not be put."""
        if self.mode is Mode.DONT_ASK:
            why = "mode dontAsk denies what it would have to ask about"
        elif self._settings.deny_instead_of_prompting:
            why = "denyInsteadOfPrompting (--permission-prompts none) denies what would be asked about"
        else:
            return verdict
        return Verdict(Behavior.DENY, f"{verdict.reason}; {why}", verdict.rule, verdict.kind)

    def _permits(self, subject: Subject) -> Permits:
        allowing = self._book.about(Behavior.ALLOW, subject)
        confined = bool(self.sandbox) and self.sandbox_allows
        return Permits(allowing, self._restrictions(subject), self.mode, confined)

    def _restrictions(self, subject: Subject) -> tuple[Rule, ...]:
        return self._book.about(Behavior.DENY, subject) + self._book.about(Behavior.ASK, subject)

    def _subject(self, call: Call, tool: Tool, access: Access) -> Subject:
        return Subject(tool, call.arguments, access, self.paths, self._programs, call.parent, call.turn)


def _typed_by_user(call: Call, subject: Subject) -> Verdict | None:
    """The shell line behind `!`. What a message mentions may have been pasted: that is judged like any call."""
    if call.origin is not Origin.USER or subject.command is None:
        return None
    return Verdict(Behavior.ALLOW, "you typed it", kind="user")


def _hook_says(hook: Behavior | None, behavior: Behavior, reason: str) -> Verdict | None:
    if hook is not behavior:
        return None
    words = {
        Behavior.DENY: "a hook denied it",
        Behavior.ASK: "a hook asks about it",
        Behavior.ALLOW: "a hook allowed it",
    }
    return Verdict(behavior, reason or words[behavior], kind="hook")
