"""What rules cannot permit: paths outside where a setting forbids them, plan mode, and what always asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.permissions.modes import Mode
from mcode.permissions.shell.dangers import removal_of_critical_path, write_to_protected_path
from mcode.permissions.shell.judge import LineJudge
from mcode.permissions.shell.shown import Shown
from mcode.permissions.specifiers import Files
from mcode.permissions.verdict import Behavior, Proposal, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.config.settings import Settings
    from mcode.permissions.rules import Rule
    from mcode.permissions.subject import Subject


def outside_is_blocked(subject: Subject, settings: Settings) -> Verdict | None:
    """Deny file tools outside the working directories where a setting says so; no rule and no mode lifts it."""
    checks = (
        (settings.block_reads_outside, subject.reads, "blockReadsOutsideWorkingDirectories", "reading"),
        (settings.block_writes_outside, subject.writes, "blockWritesOutsideWorkingDirectories", "writing"),
    )
    for blocked, places, setting, verb in checks:
        for place in places if blocked else ():
            if not subject.paths.inside(place) and not subject.paths.readable(place):
                where = f"{place.resolved} is outside the working directories"
                reason = f"{where}, and the setting {setting} forbids {verb} there"
                return Verdict(Behavior.DENY, reason, kind="path")
    return None


def not_in_plan(subject: Subject) -> Verdict | None:
    """Deny what mode plan does not do, in words that send the model to its plan; commands that only read pass."""
    if subject.writes:
        denied = f"writing {subject.writes[0].given} is denied"
    elif subject.command is not None:
        why = _why_not_reading(subject)
        if not why:
            return None
        denied = f"this command is denied, because {why}"
    else:
        return None
    advice = (
        "Go on with the reading tools, then present your plan; it is carried out once the user approves it"
    )
    return Verdict(Behavior.DENY, f"mode plan only reads and explores: {denied}. {advice}", kind="mode")


def asks_in_plan(subject: Subject) -> Verdict | None:
    """Ask about a tool of an MCP server: what its calls change is not known, whatever the server says of them."""
    if subject.source == "core":
        return None
    reason = (
        f"mode plan only reads and explores, and nobody vouches that {subject.tool} of the MCP server {subject.source} "
        "does: in this mode rules and hooks do not let it run, only your answer does. "
        "What is not answered may stand in the plan"
    )
    label = f"Allow every call of {subject.tool} for this session"
    offered = Proposal(subject.tool, "session", label, in_plan=True)
    return Verdict(Behavior.ASK, reason, kind="mode", proposals=(offered,))


def _why_not_reading(subject: Subject) -> str:
    """Why a line may do more than read; empty where each of its commands is in the list of reading commands."""
    reading = subject.reading
    if isinstance(reading, str):
        return f"the parser of shell lines cannot be loaded ({reading})"
    if not reading.commands:
        return reading.why
    judged = LineJudge(subject, (), (), Mode.PLAN).judge(reading.commands)
    return next((part.why for part in judged.parts if not part.allowed), "")


def never_unasked(subject: Subject, always: str, doubt: str) -> Verdict | None:
    """Ask about what no rule, grant, hook or mode lets run without the user's word.

    `always`: why each call of the tool is. `doubt`: why earlier permissions do not cover it, which a hook may answer.
    """
    if always:
        return _ask(always)
    for place in (*subject.writes, *subject.reads):
        if place.fault:
            return _ask(f"{place.spellings[0]}: {place.fault}")
    for place in subject.writes:
        reason = subject.paths.protection(place)
        if reason is not None:
            return _ask(f"writing {place.resolved} always asks: {reason}")
    if subject.command is not None:
        critical = removal_of_critical_path(subject.reach, subject.paths.workspace)
        if critical is not None:
            return _ask(f"{critical}; that is asked about in every mode, and no rule lifts it")
        protected = write_to_protected_path(subject.reach, subject.paths)
        if protected is not None:
            return _ask(f"it may write a protected path: {protected}")
    return Verdict(Behavior.ASK, doubt) if doubt else None


def kept_from_denied(subject: Subject, denied: Sequence[Rule]) -> tuple[str, str] | str:
    """A command line that may run without the files that deny rules name: what it runs as, and what to tell of it.

    An empty line for as it is. A sentence's end where it must not run, since the files cannot be left out. What the
    line does not show, such as the files that a script reads, is not found.
    """
    reading = subject.reading
    if isinstance(reading, str):
        return "", ""
    patterns = [rule.match.pattern for rule in denied if isinstance(rule.match, Files)]
    shown = Shown(subject.paths, patterns, None)
    if reading.commands and not any(command.files for command in reading.commands):
        found = shown.keep(reading.commands)
        if isinstance(found, str):
            return found
        return found if found[1] else ("", "")
    return shown.rough_fault(subject.reach) or ("", "")


def _ask(reason: str) -> Verdict:
    return Verdict(Behavior.ASK, reason, kind="path")
