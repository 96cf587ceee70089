"""Rules that hold for one turn: what the command or skill that began it, or was used in it, is allowed and denied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.permissions.rules import split_rule_list
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.permissions.decide import Policy


@dataclass(slots=True)
class TurnRules:
    """Adds rules to a session and takes them back when the turn has ended."""

    policy: Policy
    _added: list[tuple[str, Behavior]] = field(default_factory=list[tuple[str, Behavior]], init=False)

    def add(self, rules: Iterable[str], behavior: Behavior) -> list[str]:
        """Put rules into force; a sentence for each that cannot be used. One that was there before stays there."""
        problems: list[str] = []
        present = {(rule.text, rule.behavior) for rule in self.policy.grants}
        for rule in rules:
            if (rule, behavior) in present:
                continue
            try:
                self.policy.add_rule(rule, behavior)
            except ValueError as error:
                problems.append(f"the rule `{rule}` has no effect: {error}")
            else:
                self._added.append((rule, behavior))
        return problems

    def end(self) -> None:
        """The turn has ended."""
        for rule, behavior in self._added:
            self.policy.remove_rule(rule, behavior)
        self._added.clear()


def rules_in(lists: Iterable[str]) -> tuple[str, ...]:
    """The rules of lists as front matter has them: separated by commas or blanks, parentheses protecting both."""
    return tuple(dict.fromkeys(rule for each in lists for rule in split_rule_list(each)))
