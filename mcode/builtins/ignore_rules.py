"""The rules of .gitignore files, read and applied as ripgrep does it."""

from __future__ import annotations

from dataclasses import dataclass

from mcode.builtins.glob_pattern import GlobPattern


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of an ignore file."""

    pattern: GlobPattern
    keeps: bool
    """True for a line with `!`, which takes an exclusion back."""
    directories_only: bool


@dataclass(frozen=True, slots=True)
class BadRule:
    """A line that cannot be read; it is skipped and named."""

    line: int
    """From 1."""
    text: str


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one file."""

    rules: tuple[IgnoreRule, ...] = ()
    bad: tuple[BadRule, ...] = ()

    def verdict(self, path: str, *, is_directory: bool) -> bool | None:
        """True: left out; False: kept by an exception; None: no rule speaks of it. The last rule decides.

        `path` is relative to the directory of the ignore file.
        """
        for rule in reversed(self.rules):
            if (is_directory or not rule.directories_only) and rule.pattern.matches(path):
                return not rule.keeps
        return None


def parse_ignore_rules(text: str) -> IgnoreRules:
    """Read the text of an ignore file. Never fails."""
    rules: list[IgnoreRule] = []
    bad: list[BadRule] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        try:
            rule = _parse_line(line)
        except ValueError:
            bad.append(BadRule(number, line))
            continue
        if rule is not None:
            rules.append(rule)
    return IgnoreRules(tuple(rules), tuple(bad))


def _parse_line(line: str) -> IgnoreRule | None:
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    if not line:
        return None
    keeps = line.startswith("!")
    line = line.removeprefix("!")
    anchored = line.startswith("/")
    line = line.removeprefix("/")
    directories_only = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    if not anchored and "/" not in line and line != "**":
        line = f"**/{line}"
    return IgnoreRule(GlobPattern(line), keeps, directories_only)
