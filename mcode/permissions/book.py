"""All rules in force, arranged so that a call is compared only with those that can be about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.settings import Problem, RuleText, Source
from mcode.permissions.rules import read_rule
from mcode.permissions.shell.tree import is_installed
from mcode.permissions.specifiers import Commands, Files, Whole
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mcode.permissions.rules import Rule
    from mcode.permissions.subject import Subject


class RuleBook:
    """Rules of settings files and the command line, which stay; and rules of the session, which come and go."""

    def __init__(self, texts: Iterable[RuleText], start: Path) -> None:
        """An allow rule of a source that may not grant anything is left out, whoever passes it."""
        self._start = start
        self.session: tuple[Rule, ...] = ()
        """The user's answers in this session, and rules that hooks added."""
        kept: list[Rule] = []
        problems: list[Problem] = []
        for text in texts:
            if text.behavior == Behavior.ALLOW and not text.source.trusted:
                continue
            rule, found = read_rule(text)
            problems.extend(found)
            if rule is not None:
                kept.append(rule)
        self._kept = tuple(kept)
        self._ordered = self._in_order()
        self.problems = (*problems, *_held_back(kept))
        self._chosen: dict[tuple[Behavior, str, str, bool], tuple[Rule, ...]] = {}
        self._any_passing = False
        """Whether a rule is there for some calls alone."""

    def __iter__(self) -> Iterator[Rule]:
        """Every rule, in order of precedence: deny, ask, allow; the session's own last in each."""
        return iter(self._ordered)

    def about(self, behavior: Behavior, subject: Subject) -> tuple[Rule, ...]:
        """The rules of one behavior that may be about such a call, in order of precedence."""
        key = (behavior, subject.tool, subject.source, subject.command is not None)
        found = self._chosen.get(key)
        if found is None:
            found = tuple(rule for rule in self if rule.behavior is behavior and _may_concern(rule, subject))
            self._chosen[key] = found
        if self._any_passing:
            return tuple(rule for rule in found if rule.is_for(subject.parent, subject.turn))
        return found

    def add(
        self,
        text: str,
        behavior: Behavior,
        kept_in: Path | None = None,
        program: str = "",
        turn: int = 0,
        *,
        in_plan: bool = False,
    ) -> Rule:
        """Put a rule of the session into force. `kept_in` is the file that keeps it longer, for display.

        `program`: it is about the calls of this program alone, until `end_program`. `turn`: as `Rule.turn`.
        `in_plan`: as `Rule.in_plan`.
        Raises ValueError with the reason where the rule is malformed or would have no effect.
        """
        source = Source("local" if kept_in else "session", kept_in, self._start, trusted=True)
        rule, problems = read_rule(RuleText(text, str(behavior), source))
        if rule is None or rule.malformed:
            raise ValueError(problems[0].text)
        rule = replace(rule, granted=True, program=program, turn=turn, in_plan=in_plan)
        if rule not in self.session:
            self._replace((*self.session, rule))
        return rule

    def remove(self, text: str, behavior: Behavior) -> bool:
        """Take a rule of the session back; False where there is none of this text."""
        wanted = (text.strip(), behavior)
        rest = tuple(rule for rule in self.session if (rule.text, rule.behavior) != wanted)
        removed = len(rest) < len(self.session)
        self._replace(rest)
        return removed

    def end_program(self, program: str) -> None:
        """A program has ended, and its rules with it."""
        if self._any_passing and any(rule.program == program for rule in self.session):
            self._replace(tuple(rule for rule in self.session if rule.program != program))

    def end_turn(self) -> None:
        """A turn has ended, and its rules with it."""
        if any(rule.turn for rule in self.session):
            self._replace(tuple(rule for rule in self.session if not rule.turn))

    def drop(self, rule: Rule) -> None:
        """Take one rule out of force, whatever it comes from."""
        self._kept = tuple(each for each in self._kept if each is not rule)
        self._replace(tuple(each for each in self.session if each is not rule))

    def clear(self, behavior: Behavior) -> None:
        """Take back every rule of the session that has the behavior."""
        self._replace(tuple(rule for rule in self.session if rule.behavior is not behavior))

    def _replace(self, session: tuple[Rule, ...]) -> None:
        self.session = session
        self._ordered = self._in_order()
        self._any_passing = any(rule.program or rule.turn for rule in session)
        self._chosen.clear()

    def _in_order(self) -> tuple[Rule, ...]:
        every = (*self._kept, *self.session)
        order = (Behavior.DENY, Behavior.ASK, Behavior.ALLOW)
        return tuple(rule for behavior in order for rule in every if rule.behavior is behavior)


def _held_back(rules: Iterable[Rule]) -> tuple[Problem, ...]:
    """Say once that rules for more than one very line let no command run where there is no parser of lines."""
    if is_installed():
        return ()
    held = [
        rule.text
        for rule in rules
        if rule.behavior is Behavior.ALLOW
        and (
            not rule.match.pattern.exact
            if isinstance(rule.match, Commands)
            else rule.tool == "Bash" and isinstance(rule.match, Whole)
        )
    ]
    if not held:
        return ()
    text = (
        "the parser of shell lines (tree-sitter, tree-sitter-bash) is not installed, so rules with a wildcard, or for "
        f"the whole of Bash, let no command run; what only these would allow is asked about: {', '.join(held)}"
    )
    return (Problem(None, "permissions.allow", text, "info"),)


def _may_concern(rule: Rule, subject: Subject) -> bool:
    if isinstance(rule.match, Files):
        return True
    if isinstance(rule.match, Commands):
        return subject.command is not None
    return rule.is_about(subject.tool, subject.source)
