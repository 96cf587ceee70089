"""What permits the needs of a call: allow rules, the session's grants, the mode, and reading in the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.modes import Mode
from mcode.permissions.needs import NeedKind, meets, needs_of
from mcode.permissions.proposals import proposals_for
from mcode.permissions.shell.judge import LineJudge
from mcode.permissions.specifiers import Commands, Whole
from mcode.permissions.verdict import Behavior, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.needs import Need
    from mcode.permissions.rules import Rule
    from mcode.permissions.shell.judge import Judgement
    from mcode.permissions.subject import Subject

_SHOWN = 120
"""Characters of a command that a reason repeats; the question itself shows the whole."""


@dataclass(frozen=True, slots=True)
class Permits:
    """Everything that may permit something at this moment."""

    rules: Sequence[Rule]
    """Allow rules and the session's grants that may be about the call."""
    restrictions: Sequence[Rule]
    """Deny and ask rules that may be about it."""
    mode: Mode
    confined: bool = False
    """Commands run in a sandbox, and the user's settings let those run unasked."""

    def judge(self, subject: Subject) -> Verdict:
        """Allow the call where each of its needs is met; else ask, and offer what to remember."""
        needs = needs_of(subject)
        if not needs:
            return Verdict(Behavior.ALLOW, "it needs no permission itself", kind="read-only")
        judged = self.judged(subject)
        met = [(need, self._meet(need, subject, judged)) for need in needs]
        edited = {need.what for need, how in met if need.kind is NeedKind.WRITE and how and how.rule}
        unmet = [need for need, how in met if how is None and not (need.also_written and need.what in edited)]
        if unmet:
            parts = judged.parts if judged is not None else ()
            proposals = proposals_for(subject, unmet, parts)
            why = self._why_asked(unmet[0], subject, judged)
            return Verdict(Behavior.ASK, why, proposals=proposals, parts=parts)
        answers = [how for _, how in met if how is not None]
        return next((how for how in answers if how.rule is not None), answers[0])

    def judged(self, subject: Subject) -> Judgement | None:
        """The judgement about each command of a line that could be read; None for any other call."""
        if subject.command is None or isinstance(subject.reading, str) or not subject.reading.commands:
            return None
        judge = LineJudge(subject, self.rules, self.restrictions, self.mode, confined=self.confined)
        return judge.judge(subject.reading.commands)

    def _meet(self, need: Need, subject: Subject, judged: Judgement | None) -> Verdict | None:
        for rule in self.rules:
            if meets(rule, need, subject):
                if rule.granted:
                    return Verdict(Behavior.ALLOW, f"allowed by your answer: {rule.cited}", rule, "grant")
                return Verdict(Behavior.ALLOW, f"allowed by the rule {rule.cited}", rule, "rule")
        if (
            need.kind is NeedKind.COMMAND
            and judged is not None
            and judged.allowed
            and self.mode is not Mode.BYPASS
        ):
            return allowed_by_parts(judged)
        return self._meet_by_mode(need, subject) or _meet_by_reading(need, subject)

    def _meet_by_mode(self, need: Need, subject: Subject) -> Verdict | None:
        if self.mode is Mode.BYPASS:
            return Verdict(Behavior.ALLOW, "mode bypassPermissions asks for almost nothing", kind="mode")
        if self.mode is not Mode.ACCEPT_EDITS:
            return None
        if need.kind is NeedKind.WRITE and need.place is not None and subject.paths.inside(need.place):
            return Verdict(Behavior.ALLOW, "mode acceptEdits: edits in the workspace run", kind="mode")
        return None

    def _held_back(self, subject: Subject) -> Rule | None:
        """The rule that would cover the command if it were read: one with a wildcard, or for the whole tool."""
        for rule in self.rules:
            covers = isinstance(rule.match, Commands) and rule.match.pattern.spans(subject.command or "")
            if covers or isinstance(rule.match, Whole):
                return rule
        return None

    def _why_asked(self, need: Need, subject: Subject, judged: Judgement | None) -> str:
        if need.kind is NeedKind.COMMAND:
            return self._why_command_asks(need, subject, judged)
        place = need.place
        if place is not None:
            why = subject.paths.why_reading_asks(place, content=need.kind is NeedKind.READ)
            if why:
                outside = not subject.paths.inside(place) and "outside" in why
                return f"{why}, and no rule allows mcode to {need.kind.value} it" if outside else why
        return f"no rule allows mcode to {_short(need.phrase)}, and mode {self.mode} asks"

    def _why_command_asks(self, need: Need, subject: Subject, judged: Judgement | None) -> str:
        if judged is not None:
            missing = [part for part in judged.parts if not part.allowed]
            more = f"; {len(missing) - 1} more of its commands need approval too" if len(missing) > 1 else ""
            shown = _short(missing[0].text)
            named = "" if shown in missing[0].why or len(judged.parts) == 1 else f"`{shown}`: "
            return f"{named}{missing[0].why}{more}"
        held_back = self._held_back(subject)
        if isinstance(subject.reading, str):
            fault = f"the parser of shell lines cannot be loaded ({subject.reading})"
            if held_back is not None:
                return f"{fault}, so commands run unasked only by a rule without a wildcard, not by {held_back.cited}"
            return f"no rule allows mcode to {_short(need.phrase)}, and {fault}"
        exact = "such a line runs unasked only by a rule that equals it"
        beside = f", not by {held_back.cited}" if held_back is not None else ""
        return f"{subject.reading.why}; {exact}{beside}"


def allowed_by_parts(judged: Judgement) -> Verdict:
    """The verdict about a line of which every command may run."""
    first = next((part for part in judged.parts if part.rule is not None), judged.parts[0])
    reasons = dict.fromkeys(part.why for part in (first, *judged.parts))
    shown = "; ".join(list(reasons)[:3])
    return Verdict(
        Behavior.ALLOW,
        shown,
        first.rule,
        first.kind,
        parts=judged.parts,
        run_as=judged.run_as,
        note=judged.note,
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _meet_by_reading(need: Need, subject: Subject) -> Verdict | None:
    place = need.place
    if need.kind is not NeedKind.READ or place is None or subject.paths.why_reading_asks(place):
        return None
    own = subject.paths.readable(place)
    return Verdict(
        Behavior.ALLOW, "a file of this session" if own else "reads in the workspace", kind="read-only"
    )
