"""A shell line read by a real parser, for letting it run: into simple commands of literal words, or not at all.

The reading is *plain* only where the tree holds nothing but a closed set of nodes, every byte of the line lies in a
leaf that was accepted or between words, and each word means itself. What is let run is rendered anew from the
words (see `render`); the line as it came is never run unasked. The reading for deny and ask rules, which should
miss little rather than be certain, is that of `shell.lines`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from mcode.permissions.shell import tree
from mcode.permissions.shell.units import ComplexError, Unit, units_of
from mcode.permissions.shell.words import Word, is_command_word

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH_LIMIT = 10_000
"""Characters of a line that is read."""

COMMAND_LIMIT = 50
"""Simple commands of a line that is read."""

HARMLESS_VARIABLES = frozenset(
    (
        "NODE_ENV",
        "LANG",
        "LC_ALL",
        "NO_COLOR",
        "CI",
        "TZ",
        "FORCE_COLOR",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
    )
)
"""Variables that may be set in front of a command."""

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufffd\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_REDIRECTS = frozenset((">/dev/null", "1>/dev/null", "2>/dev/null", "&>/dev/null", "2>&1"))
_UNNUMBERED = {"1>/dev/null": ">/dev/null"}


class Form(StrEnum):
    """How far a line was understood."""

    PLAIN = "plain"
    """A list of simple commands with literal words."""
    COMPLEX = "complex"
    """It parses, but holds what is not a literal word or a simple command."""
    UNPARSEABLE = "unparseable"


@dataclass(frozen=True, slots=True)
class FileRedirect:
    """A redirection into or from a file."""

    operator: str
    """With the descriptor in front, such as `2>`."""
    target: str


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command of a plain line."""

    operator: str
    """What stands before it: `&&`, `||`, `;` or `|`; empty for the first."""
    words: tuple[Word, ...]
    """The program, then its arguments."""
    assignments: tuple[str, ...] = ()
    """Harmless variables that are set for it, as they are rendered."""
    redirects: tuple[str, ...] = ()
    """Harmless redirections, as they are rendered."""
    files: tuple[FileRedirect, ...] = ()
    """All others."""

    @property
    def program(self) -> str:
        """The program as written."""
        return self.words[0].value

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]

    @property
    def text(self) -> str:
        """The words as they are rendered, without variables and redirections."""
        return " ".join(word.rendered for word in self.words)

    @property
    def shown(self) -> str:
        """The whole command, for people."""
        files = (f"{each.operator}{each.target}" for each in self.files)
        return " ".join((*self.assignments, self.text, *self.redirects, *files))


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a line."""

    text: str
    form: Form
    why: str = ""
    """Why the line is not plain, as the rest of a sentence that begins with what was read."""
    commands: tuple[SimpleCommand, ...] = ()
    """Empty unless the line is plain."""
    over_limit: bool = False
    """True where a limit of length, number or time was passed."""


def read_shell(text: str) -> Reading:
    """Read a line. Raises ParserMissingError where the parser cannot be loaded; never fails otherwise."""
    fault, over = _fault_before_parsing(text)
    if fault:
        return Reading(text, Form.UNPARSEABLE, fault, over_limit=over)
    return _read(text)


def render(commands: Sequence[SimpleCommand], texts: Sequence[str] = ()) -> str:
    """The line anew. `texts` replaces the words of each command where more is to be said than was."""
    line = ""
    for index, command in enumerate(commands):
        text = texts[index] if texts else command.text
        joint = "; " if command.operator == ";" else f" {command.operator} " if command.operator else ""
        line += joint + " ".join((*command.assignments, text, *command.redirects))
    return line


def _fault_before_parsing(text: str) -> tuple[str, bool]:
    """What is wrong with a text that is not even parsed, and whether that is its length."""
    if not text.strip():
        return "it is empty", False
    if len(text) > LENGTH_LIMIT:
        return f"it is longer than {LENGTH_LIMIT} characters", True
    letter = next(iter(_FORBIDDEN.findall(text)), None)
    if letter is None and not text.isascii():
        letter = next((each for each in text if unicodedata.category(each) == "Cn"), None)
    if letter is not None:
        return f"it contains the control or invisible character U+{ord(letter):04X}", False
    return "", False


@lru_cache(maxsize=512)
def _read(text: str) -> Reading:
    source = text.encode()
    root = tree.parse(source)
    if root is None:
        limit = f"{tree.TIME_LIMIT * 1000:g} ms"
        return Reading(text, Form.UNPARSEABLE, f"parsing it takes longer than {limit}", over_limit=True)
    if root.has_error:
        return Reading(text, Form.UNPARSEABLE, "it is not a complete line of bash that could be parsed")
    try:
        commands = _commands(units_of(root, source))
    except ComplexError as found:
        return Reading(text, Form.COMPLEX, str(found))
    if len(commands) > COMMAND_LIMIT:
        why = f"it has more than {COMMAND_LIMIT} commands"
        return Reading(text, Form.UNPARSEABLE, why, over_limit=True)
    if not commands:
        return Reading(text, Form.COMPLEX, "it has no command")
    return Reading(text, Form.PLAIN, commands=commands)


def _commands(units: Sequence[Unit]) -> tuple[SimpleCommand, ...]:
    """Put the units of a line together, in the order in which they stand. Raises ComplexError."""
    found: list[SimpleCommand] = []
    operator, current = "", _Gathered()
    for unit in units:
        if unit.kind != "operator":
            current.add(unit)
            continue
        if unit.text == "\n" and current.is_empty:
            continue  # an empty line, or the line goes on after `&&` or `|`
        if current.is_empty:
            raise ComplexError(f"there is no command before `{unit.text}`")
        found.append(current.command(operator))
        operator, current = unit.text.replace("\n", ";"), _Gathered()
        if len(found) > COMMAND_LIMIT:
            return tuple(found)
    if not current.is_empty:
        found.append(current.command(operator))
    elif operator not in ("", ";"):
        raise ComplexError(f"nothing follows `{operator}`")
    return tuple(found)


class _Gathered:
    """The units of one command, while they are read."""

    def __init__(self) -> None:
        self._words: list[Word] = []
        self._assignments: list[str] = []
        self._redirects: list[str] = []
        self._files: list[FileRedirect] = []

    @property
    def is_empty(self) -> bool:
        return not (self._words or self._assignments or self._redirects or self._files)

    def add(self, unit: Unit) -> None:
        word = unit.word
        if unit.kind == "redirect" and word is not None:
            self._add_redirect(unit.text, word)
        elif unit.kind == "assignment" and word is not None:
            if self._words or unit.text not in HARMLESS_VARIABLES:
                raise ComplexError(f"it sets the variable {unit.text}")
            self._assignments.append(f"{unit.text}={word.rendered}")
        elif word is not None:
            self._words.append(word)

    def _add_redirect(self, operator: str, target: Word) -> None:
        text = f"{operator}{target.value}"
        if text in _REDIRECTS and target.bare:
            self._redirects.append(_UNNUMBERED.get(text, text))
        else:
            self._files.append(FileRedirect(operator, target.value))

    def command(self, operator: str) -> SimpleCommand:
        if not self._words:
            raise ComplexError("a redirection or a variable stands without a command")
        if not is_command_word(self._words[0]):
            raise ComplexError(f"`{self._words[0].text}` is not a plain name of a program")
        return SimpleCommand(
            operator, tuple(self._words), tuple(self._assignments), tuple(self._redirects), tuple(self._files)
        )
