"""What a decision about one call looks like."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.permissions.rules import Rule


class Behavior(StrEnum):
    """What happens to a call. The words are those of rules and hooks."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that the user may add while answering, so that the like is not asked again."""

    rule: str
    """The exact rule."""
    destination: str
    """`session`, or `local` for the project's personal settings file."""
    label: str
    """The answer in words; it names everything that the rule would allow."""
    further: tuple[str, ...] = ()
    """More rules that belong to the same answer: one for each other part of a command line."""

    in_plan: bool = False
    """The answer holds in mode plan as well."""

    @property
    def rules(self) -> tuple[str, ...]:
        """All rules that the answer adds."""
        return (self.rule, *self.further)


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """The decision about one command of a line."""

    text: str
    """The command as it is rendered, for people."""
    allowed: bool
    """True where nothing needs to be asked about this part."""
    why: str
    """Which rule, list or mode lets it run, or what is missing. No full stop."""
    kind: str = "default"
    """As in `Verdict.kind`."""
    rule: Rule | None = None
    denied: bool = False
    """True where it is refused, whatever anybody answers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about one call."""

    behavior: Behavior
    reason: str
    """Why, for the user and the model: which rule, mode or check, and on which object. No full stop."""
    rule: Rule | None = None
    """The rule or grant that decided, where one did."""
    kind: str = "default"
    """What decided: `rule`, `mode`, `grant`, `read-only`, `path`, `user`, `hook` or `default`."""
    proposals: tuple[Proposal, ...] = ()
    """Offered with a question; empty where every such call must be asked about."""
    parts: tuple[PartVerdict, ...] = ()
    """For a command line that was read to its last word: each command in it."""
    run_as: str | None = None
    """The command line that is to run in place of the given one, where the call is allowed by its parts."""
    note: str = ""
    """What the model must know of how the line is run; empty where nothing was left out or added that matters."""
