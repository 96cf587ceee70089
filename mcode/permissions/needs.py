"""What a call needs permission for. It runs unasked when every single need is met by something."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from mcode.permissions.specifiers import Commands, Domain, Files, Named, Whole
from mcode.tool import Effect

if TYPE_CHECKING:
    from mcode.permissions.resolve import Place
    from mcode.permissions.rules import Rule
    from mcode.permissions.subject import Subject

_INSIDE_SESSION = frozenset({Effect.ASKS_USER, Effect.CHANGES_SESSION})


class NeedKind(Enum):
    """The kinds of things that are permitted one by one."""

    COMMAND = "run"
    WRITE = "write"
    READ = "read"
    DOMAIN = "contact"
    TOOL = "use"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that the call must be permitted."""

    kind: NeedKind
    what: str
    """The line, path, host or tool, for people."""
    place: Place | None = None
    """The path, for WRITE and READ."""
    also_written: bool = False
    """READ of a path that the call writes as well: permission to edit includes it."""

    @property
    def phrase(self) -> str:
        """What it is to do, as in `write /w/a.py`."""
        return f"{self.kind.value} {self.what}"


def needs_of(subject: Subject) -> tuple[Need, ...]:
    """Everything that the call needs; empty for a tool that touches nothing outside the session."""
    needs: list[Need] = []
    if subject.command is not None:
        needs.append(Need(NeedKind.COMMAND, f"`{subject.command}`"))
    written = {place.resolved for place in subject.writes}
    needs.extend(Need(NeedKind.WRITE, place.given, place) for place in subject.writes)
    needs.extend(
        Need(NeedKind.READ, place.given, place, place.resolved in written) for place in subject.reads
    )
    if subject.domain is not None:
        needs.append(Need(NeedKind.DOMAIN, subject.domain))
    silent = not needs and not subject.effects <= _INSIDE_SESSION
    if subject.source != "core" or silent:
        needs.append(Need(NeedKind.TOOL, subject.tool))
    return tuple(needs)


def meets(rule: Rule, need: Need, subject: Subject) -> bool:
    """True where an allow rule or grant covers this need, in the narrow reading."""
    match rule.match:
        case Commands(pattern):
            return (
                need.kind is NeedKind.COMMAND
                and subject.command is not None
                and pattern.equals(subject.command)
            )
        case Files():
            return _file_rule_meets(rule.match, need, subject)
        case Domain():
            return need.kind is NeedKind.DOMAIN and rule.match.covers(need.what) and _about(rule, subject)
        case Named():
            return _about(rule, subject) and rule.match.covers(subject)
        case Whole():
            return _about(rule, subject) and _whole_tool_meets(need, subject)
        case _:
            return False


def _about(rule: Rule, subject: Subject) -> bool:
    return rule.is_about(subject.tool, subject.source)


def _file_rule_meets(files: Files, need: Need, subject: Subject) -> bool:
    if need.place is None or need.place.fault:
        return False
    writing = need.kind is NeedKind.WRITE
    if not writing and files.editing and not need.also_written:
        return False
    if writing and not files.editing:
        return False
    if not writing and subject.paths.secret(need.place) and not files.pattern.names_the_file():
        return False
    return files.pattern.covers(need.place, subject.paths.workspace)


def _whole_tool_meets(need: Need, subject: Subject) -> bool:
    """A rule for the whole tool lets no shell line run until lines are really read, and shows no secrets."""
    if need.kind is NeedKind.COMMAND:
        return False
    if need.place is None:
        return True
    if need.place.fault:
        return False
    return need.kind is NeedKind.WRITE or subject.paths.secret(need.place) is None
