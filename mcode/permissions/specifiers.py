"""What stands between the parentheses of a rule, ready to be compared with a call.

Each kind answers one question for deny and ask rules, `touches`: does the rule reach this call? For allow rules
the decision asks more narrowly, what exactly a rule covers; see `needs.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from mcode.permissions.wildcard import Wildcard

if TYPE_CHECKING:
    from mcode.jsontext import JsonValue
    from mcode.permissions.command_patterns import CommandPattern
    from mcode.permissions.file_patterns import FilePattern
    from mcode.permissions.subject import Subject


@dataclass(frozen=True, slots=True)
class Whole:
    """No specifier: every call of the tool."""

    def touches(self, subject: Subject) -> bool:
        del subject
        return True


@dataclass(frozen=True, slots=True)
class Commands:
    """`Bash(pattern)`."""

    pattern: CommandPattern

    def touches(self, subject: Subject) -> bool:
        return subject.command is not None and self.pattern.reaches(subject.reach)


@dataclass(frozen=True, slots=True)
class Files:
    """`Read(pattern)` or `Edit(pattern)`."""

    pattern: FilePattern
    editing: bool
    """True for `Edit`: only what is written counts."""
    denies: bool
    """True in a deny rule, where what may not be read may not be written either."""

    def touches(self, subject: Subject) -> bool:
        whole = subject.touched if self.denies else subject.shown
        places = subject.changed if self.editing else whole
        return any(self.pattern.touches(place, subject.paths.workspace) for place in places)


@dataclass(frozen=True, slots=True)
class Domain:
    """`WebFetch(domain:pattern)`."""

    pattern: str

    def touches(self, subject: Subject) -> bool:
        if subject.domain is None:
            return False
        return self.pattern == "*" or self.covers(subject.domain)

    def covers(self, host: str) -> bool:
        """True where the pattern is the host or, by a wildcard, one of its kind."""
        regex = _host_regex(self.pattern)
        return any(regex.fullmatch(name) is not None for name in {host, _ascii_host(host)})


@dataclass(frozen=True, slots=True)
class Named:
    """`Agent(name)` or `Skill(name)`."""

    name: str
    arguments: tuple[str, ...]
    """Arguments of the tool in which the name may stand."""

    def touches(self, subject: Subject) -> bool:
        wanted = Wildcard(self.name.casefold())
        return any(wanted.matches(name.casefold()) for name in self._named(subject))

    def covers(self, subject: Subject) -> bool:
        """Narrow reading, for allow rules: the very name."""
        return self.name in self._named(subject)

    def _named(self, subject: Subject) -> list[str]:
        values = [subject.arguments.get(argument) for argument in self.arguments]
        return [value.strip().removeprefix("/") for value in values if isinstance(value, str)]


@dataclass(frozen=True, slots=True)
class ArgumentValue:
    """`Tool(argument:value)`: a top-level scalar argument; `*` in the value is a wildcard."""

    argument: str
    value: str

    def touches(self, subject: Subject) -> bool:
        if self.argument not in subject.arguments:
            return False
        text = _scalar_text(subject.arguments[self.argument])
        return text is not None and Wildcard(self.value).matches(text)


Specifier: TypeAlias = Whole | Commands | Files | Domain | Named | ArgumentValue


def _scalar_text(value: JsonValue) -> str | None:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
        case str():
            return value
        case _:
            return None


@lru_cache(maxsize=512)
def _host_regex(pattern: str) -> re.Pattern[str]:
    pattern = _ascii_host(pattern.strip().casefold().rstrip("."))
    prefix = ""
    if pattern.startswith("*."):
        prefix, pattern = r"(?:[^.]+\.)+", pattern[2:]
    return re.compile(prefix + "[^.]*".join(re.escape(piece) for piece in pattern.split("*")))


def _ascii_host(host: str) -> str:
    """The host as it is looked up: international names in their ASCII form."""
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
