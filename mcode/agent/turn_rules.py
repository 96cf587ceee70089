"""Permission rules that hold for one turn: those of the command or skill that began it, or was used in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.rules import split_rule_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.permissions.decide import Policy
    from mcode.permissions.verdict import Behavior


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Adds rules to a session and takes them back when the turn has ended."""

    policy: Policy

    def add(self, rules: Iterable[str], behavior: Behavior, turn: int) -> list[str]:
        """Put rules into force; a sentence for each that cannot be used. Calls of another turn are not allowed more."""
        problems: list[str] = []
        for rule in rules:
            try:
                self.policy.add_rule(rule, behavior, turn=turn)
            except ValueError as error:
                problems.append(f"the rule `{rule}` has no effect: {error}")
        return problems

    def end(self) -> None:
        """The turn has ended."""
        self.policy.end_turn()


def rules_in(lists: Iterable[str]) -> tuple[str, ...]:
    """The rules of lists as front matter has them: separated by commas or blanks, parentheses protecting both."""
    return tuple(dict.fromkeys(rule for each in lists for rule in split_rule_list(each)))
