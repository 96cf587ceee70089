"""What the user allowed for the rest of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.settings import RuleText, Source
from mcode.permissions.rules import read_rule
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcode.permissions.rules import Rule


class SessionRules:
    """Rules added while the session runs: the user's grants, and what hooks add. Never written to a file here."""

    def __init__(self, start: Path) -> None:
        self._start = start
        self._rules: list[Rule] = []

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def add(self, text: str, behavior: Behavior = Behavior.ALLOW, kept_in: Path | None = None) -> Rule:
        """Put a rule into force. `kept_in` is the file that keeps it beyond the session, for display.

        Raises ValueError with the reason where the rule is malformed or would have no effect.
        """
        source = Source("local" if kept_in else "session", kept_in, self._start, trusted=True)
        rule, problems = read_rule(RuleText(text, str(behavior), source))
        if rule is None or rule.malformed:
            raise ValueError(problems[0].text)
        if rule not in self._rules:
            self._rules.append(rule)
        return rule

    def remove(self, text: str, behavior: Behavior) -> bool:
        """Take a rule back; False where there is none of this text."""
        kept = [rule for rule in self._rules if (rule.text, rule.behavior) != (text.strip(), behavior)]
        removed = len(kept) < len(self._rules)
        self._rules = kept
        return removed

    def clear(self, behavior: Behavior) -> None:
        """Take back every rule of one behavior."""
        self._rules = [rule for rule in self._rules if rule.behavior is not behavior]
