"""What permits the needs of a call: allow rules, the session's grants, the mode, and reading in the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.file_commands import edits_workspace_only
from mcode.permissions.modes import Mode
from mcode.permissions.needs import NeedKind, meets, needs_of
from mcode.permissions.proposals import proposals_for
from mcode.permissions.specifiers import Commands, Files, Whole
from mcode.permissions.verdict import Behavior, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.needs import Need
    from mcode.permissions.resolve import Place
    from mcode.permissions.rules import Rule
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

    def judge(self, subject: Subject) -> Verdict:
        """Allow the call where each of its needs is met; else ask, and offer what to remember."""
        needs = needs_of(subject)
        if not needs:
            return Verdict(Behavior.ALLOW, "it changes nothing outside the session", kind="read-only")
        met = [(need, self._meet(need, subject)) for need in needs]
        edited = {need.what for need, how in met if need.kind is NeedKind.WRITE and how and how.rule}
        unmet = [need for need, how in met if how is None and not (need.also_written and need.what in edited)]
        if unmet:
            proposals = proposals_for(subject, unmet)
            return Verdict(Behavior.ASK, self._why_asked(unmet[0], subject), proposals=proposals)
        answers = [how for _, how in met if how is not None]
        return next((how for how in answers if how.rule is not None), answers[0])

    def _meet(self, need: Need, subject: Subject) -> Verdict | None:
        for rule in self.rules:
            if meets(rule, need, subject):
                if rule.granted:
                    return Verdict(Behavior.ALLOW, f"allowed by your answer: {rule.cited}", rule, "grant")
                return Verdict(Behavior.ALLOW, f"allowed by the rule {rule.cited}", rule, "rule")
        return self._meet_by_mode(need, subject) or _meet_by_reading(need, subject)

    def _meet_by_mode(self, need: Need, subject: Subject) -> Verdict | None:
        if self.mode is Mode.BYPASS:
            return Verdict(Behavior.ALLOW, "mode bypassPermissions asks for almost nothing", kind="mode")
        if self.mode is not Mode.ACCEPT_EDITS:
            return None
        if need.kind is NeedKind.WRITE and need.place is not None and subject.paths.inside(need.place):
            return Verdict(Behavior.ALLOW, "mode acceptEdits: edits in the workspace run", kind="mode")
        if need.kind is NeedKind.COMMAND and self._edits_only(subject):
            return Verdict(
                Behavior.ALLOW, "mode acceptEdits: a file command in the workspace runs", kind="mode"
            )
        return None

    def _edits_only(self, subject: Subject) -> bool:
        patterns = [rule.match.pattern for rule in self.restrictions if isinstance(rule.match, Files)]

        def restricted(place: Place) -> bool:
            return any(pattern.touches(place, subject.paths.workspace) for pattern in patterns)

        return edits_workspace_only(subject.command or "", subject.paths, restricted)

    def _held_back(self, subject: Subject) -> Rule | None:
        """The rule that would cover the command if it were read: one with a wildcard, or for the whole tool."""
        for rule in self.rules:
            covers = isinstance(rule.match, Commands) and rule.match.pattern.spans(subject.command or "")
            if covers or isinstance(rule.match, Whole):
                return rule
        return None

    def _why_asked(self, need: Need, subject: Subject) -> str:
        phrase = need.phrase if len(need.phrase) <= _SHOWN else f"{need.phrase[:_SHOWN]}…"
        place = need.place
        held_back = self._held_back(subject) if need.kind is NeedKind.COMMAND else None
        if held_back is not None:
            return f"commands run unasked only by a rule without a wildcard as yet, not by {held_back.cited}"
        if place is not None:
            secret = subject.paths.secret(place)
            if need.kind is NeedKind.READ and secret is not None:
                return f"reading {place.resolved} asks: {secret}"
            if not subject.paths.inside(place):
                leads = "" if place.resolved == place.given else f" (it leads to {place.resolved})"
                where = f"{place.given}{leads} is outside the working directories"
                return f"{where}, and no rule allows mcode to {need.kind.value} it"
        return f"no rule allows mcode to {phrase}, and mode {self.mode} asks"


def _meet_by_reading(need: Need, subject: Subject) -> Verdict | None:
    place = need.place
    if need.kind is not NeedKind.READ or place is None or place.fault:
        return None
    if subject.paths.readable(place):
        return Verdict(Behavior.ALLOW, "a file of this session", kind="read-only")
    if subject.paths.secret(place) is None and subject.paths.inside(place):
        return Verdict(Behavior.ALLOW, "reads in the workspace", kind="read-only")
    return None
