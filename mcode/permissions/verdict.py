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
