"""Words that mean themselves: unquoted, quoted, put together of both, or a pattern of the simplest kind."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from mcode.permissions.programs import words_of

_LITERAL = re.compile(r"[\w./:=@%+,^~-]+")
_GLOB = re.compile(r"[A-Za-z0-9_./*?-]+")
_HOME = re.compile(r"(?:^|[=:])~")
_EXPANDS_IN_QUOTES = re.compile(r'[\\`$!"]')
_COMMAND = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@%+,:-]*")
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:=@%+,^-][A-Za-z0-9_./:=@%+,^~-]*", re.ASCII)
_DOUBLE_QUOTED = re.compile(r"[^\\`$!\"]*")

_RESERVED = words_of("if then elif else fi case esac for select while until do done in function time coproc")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a plain line."""

    value: str
    """What the program gets; for a pattern the pattern itself."""
    text: str
    """As it stood in the line."""
    bare: bool = False
    """Not quoted at all."""
    glob: bool = False
    """A pattern, which the shell replaces by the names of files."""

    @property
    def rendered(self) -> str:
        """The word as it is written into a line, so that any shell reads `value` again."""
        if self.glob:
            return f"./{self.value}" if self.value[0] in "*?" else self.value
        if self.value and _NEEDS_NO_QUOTES.fullmatch(self.value) and not _HOME.search(self.value):
            return self.value if self.bare else self._quoted()
        return self._quoted()

    def _quoted(self) -> str:
        """In the quotes that the line had, where they can hold the value; else as the library quotes."""
        double = f'"{self.value}"'
        if self.text == double and _DOUBLE_QUOTED.fullmatch(self.value):
            return double
        single = f"'{self.value}'"
        if self.text == single and "'" not in self.value:
            return single
        return shlex.quote(self.value)


def bare_word(text: str) -> Word | None:
    """An unquoted word; None where it is not literal and not a simple pattern."""
    if _LITERAL.fullmatch(text) and not _HOME.search(text):
        return Word(text, text, bare=True)
    if _GLOB.fullmatch(text) and text[0] != "-":
        return Word(text, text, bare=True, glob=True)
    return None


def single_quoted(text: str) -> Word | None:
    """A word in single quotes, which stand around it in `text`."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != "'" or text[-1] != "'" or "'" in inner:
        return None
    return Word(inner, text)


def double_quoted(text: str) -> Word | None:
    """A word in double quotes in which nothing is expanded."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != '"' or text[-1] != '"' or _EXPANDS_IN_QUOTES.search(inner):
        return None
    return Word(inner, text)


def joined(pieces: list[Word]) -> Word | None:
    """One word of several that touch; None where a piece is a pattern, or may stand for a home directory."""
    if any(piece.glob or (piece.bare and "~" in piece.value) for piece in pieces):
        return None
    return Word("".join(piece.value for piece in pieces), "".join(piece.text for piece in pieces))


def is_command_word(word: Word) -> bool:
    """True where the word can be the name of a program, and is no word of the shell's own grammar."""
    return (
        word.bare
        and not word.glob
        and _COMMAND.fullmatch(word.value) is not None
        and word.value not in _RESERVED
    )
