"""Foreign text, made safe to show.

Everything that was not written by mcode itself (files, commands, models, servers, hooks, paths, environment)
may hold bytes that steer a terminal, hide words or reorder them. `clean` takes them out or makes them
visible, in time linear in the length of the text. What it returns never holds a control character but
newline and tab, save whole SGR colour sequences in `Kind.OUTPUT`.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache, lru_cache

from mcode.text.lookalikes import mark_lookalikes


class Kind(StrEnum):
    """What a text is for, which decides what becomes of its unsafe parts."""

    LINE = "line"
    """One line: names, titles, labels. Line ends and tabs become a blank, hidden characters visible."""
    BLOCK = "block"
    """Many lines of prose or data. Hidden characters go, control characters show as `^G`."""
    OUTPUT = "output"
    """A command's output: known SGR colour stays and is reset at the end; overwritten text goes."""
    DECISION = "decision"
    """What the user decides on: nothing is taken out, all that is hidden or alike is named in place."""
    MODEL = "model"
    """A command's or server's text for the model: as OUTPUT, without colour."""


SEQUENCE_LIMIT = 4096
"""Characters that an unterminated control sequence can hide at most; the rest is shown as text."""

MARK_LIMIT = 8
"""Combining marks that one character can carry."""

_OPEN, _CLOSE = "\u2039", "\u203a"
"""The single angle quotes that hold what `clean` puts into a text."""

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u2060-\u2065\u206a-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINER = "\u200d"
_SEPARATORS = "\u2028\u2029"
_NO_CHARACTERS = "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
_CONTROLS = "\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f"
"""All control characters but newline, tab and ESC, which the scanner of sequences consumes."""

# The blocks that hold combining marks, coarsely; the exact category is looked up only inside these.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0590-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2cef-\u2cf1\u302a-\u302f\u3099\u309a"
    "\ua66f-\ua6f1\ua800-\uabff\ufb1e\ufe20-\ufe2f\U00010000-\U0001efff"
)

_CONTEXTUAL = f"[{_JOINER}{_SELECTORS}]+"
_SCANNED = f"[\x1b\x90\x98\x9b\x9d-\x9f]|{_CONTEXTUAL}"
_SCANNED_IN_DECISION = _CONTEXTUAL
_UNPLEASANT = f"[\x1b{_CONTROLS}{_BIDI}{_INVISIBLE}{_SELECTORS}{_JOINER}{_SEPARATORS}{_NO_CHARACTERS}]"
_REMOVED = f"[{_CONTROLS}{_BIDI}{_INVISIBLE}]+"
_REMOVED_FROM_BLOCK = f"[{_BIDI}{_INVISIBLE}]+"
_CONTROL = f"[{_CONTROLS}]+"
_SEPARATOR = f"[{_SEPARATORS}]"
_NO_CHARACTER = f"[{_NO_CHARACTERS}]"
_NAMED_IN_LINE = f"[{_BIDI}{_INVISIBLE}{_NO_CHARACTERS}]+"
_NAMED_IN_FILE = (
    f"[\x1b{_CONTROLS}{_BIDI}{_SEPARATORS}\ud800-\udfff\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]+"
)
_NAMED_IN_DECISION = (
    f"[\x1b{_CONTROLS}{_BIDI}{_INVISIBLE}{_SEPARATORS}{_NO_CHARACTERS}"
    "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]+"
)

_PARAMETERS = r"[0-?]*+[ -/]*+"
_INTERMEDIATES = r"[ -/]*+"
_STRING_END = "[\x07\x18\x1a\x1b\x9c]"
_STRING_INTRODUCERS = frozenset("]PX^_k")
_C1_STRINGS = frozenset("\x90\x98\x9d\x9e\x9f")
_COLOURS = frozenset(
    (0, 1, 2, 3, 4, 7, *range(21, 25), 27, 29, *range(30, 50), *range(90, 98), *range(100, 108))
)
"""SGR values that are kept. Not 8, which hides text, and not 5 and 6, which blink."""

_MARK_RUN = rf"(?:[{_MARKS}]|\x1b\[[0-9;]*m){{{MARK_LIMIT + 1},}}"
_LEADING_MARK = f"(?<=[\n\t])[{_MARKS}]"
_FIRST_MARK = f"[{_MARKS}]"
_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff"
    "\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at first use: start-up would pay some 20 ms for patterns that most sessions never need."""
    return re.compile(pattern)


def clean(text: str, kind: Kind = Kind.BLOCK) -> str:
    """Make foreign text safe to show in the way that `kind` asks for.

    The text may be a fragment of a stream: a fragment that ends inside a control sequence leaves no part of
    the sequence that a terminal would obey, only letters.
    """
    if text.isascii() and text.isprintable() and not (kind is Kind.DECISION and text.endswith(" ")):
        return text
    if kind is Kind.DECISION:
        return _show_everything(text)
    text = _take_overwritten(text) if kind in _FROM_COMMANDS else _join_line_ends(text)
    if _compiled(_UNPLEASANT).search(text) is not None:
        text = _Scanner(text, kind).run()
        text = _replace_rest(text, kind)
    if kind is Kind.LINE:
        text = text.replace("\n", " ").replace("\t", " ")
    return text if text.isascii() else _tame_marks(text, kind)


_FROM_COMMANDS = frozenset({Kind.OUTPUT, Kind.MODEL})


def show_control(text: str) -> str:
    """Show a file's text faithfully to the model, with what cannot be seen named, as `U+001B` in quotes.

    Control characters but newline and tab, bidi controls, invisible blanks, tags and lone surrogates are
    named; joiners, variation selectors and private characters stay, since scripts, emoji and icon fonts need
    them. The caller tells the model when the result differs from the text.
    """
    return _compiled(_NAMED_IN_FILE).sub(_name_each, text)


def _join_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\r") if "\r" in text else text


def _take_overwritten(text: str) -> str:
    """What a terminal would still show of lines that were overwritten by CR and BS, as progress bars are."""
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(map(_last_overwrite, text.split("\n")))


def _last_overwrite(line: str) -> str:
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part), "")
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _replace_rest(text: str, kind: Kind) -> str:
    """Deal with every single character that the scanner leaves."""
    if kind is Kind.LINE:
        text = _compiled(_NAMED_IN_LINE).sub(_name_each, _compiled(_CONTROL).sub(_caret_each, text))
        return _compiled(_SEPARATOR).sub(" ", text)
    if kind is Kind.BLOCK:
        text = _compiled(_CONTROL).sub(_caret_each, _compiled(_REMOVED_FROM_BLOCK).sub("", text))
    else:
        text = _compiled(_REMOVED).sub("", text)
    return _compiled(_NO_CHARACTER).sub("\ufffd", _compiled(_SEPARATOR).sub("\n", text))


def _show_everything(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if _compiled(_UNPLEASANT).search(text) is not None:
        text = _Scanner(text, Kind.DECISION).run()
    text = _compiled(_NAMED_IN_DECISION).sub(_name_each, text)
    if not text.isascii():
        text = _tame_marks(mark_lookalikes(text), Kind.DECISION)
    if " \n" in text or text.endswith(" "):
        text = "\n".join(map(_show_trailing_blanks, text.split("\n")))
    return text.replace("\t", "→\t")


def _show_trailing_blanks(line: str) -> str:
    kept = line.rstrip(" ")
    return kept + "·" * (len(line) - len(kept))


@lru_cache(maxsize=2048)
def _name(character: str) -> str:
    return f"{_OPEN}U+{ord(character):04X}{_CLOSE}"


def _name_each(found: re.Match[str]) -> str:
    return "".join(map(_name, found[0]))


def _caret_each(found: re.Match[str]) -> str:
    return "".join(map(_caret, found[0]))


@lru_cache(maxsize=128)
def _caret(character: str) -> str:
    code = ord(character)
    return f"<{code:02X}>" if code >= 0x80 else "^" + chr(code ^ 0x40)


class _Scanner:
    """One pass over a text: control sequences go, joiners and selectors stay where they belong."""

    def __init__(self, text: str, kind: Kind) -> None:
        self._text = text
        self._kind = kind
        self._string_end = -1
        """Where the next end of a control string is, found once for all strings that begin before it."""

    def run(self) -> str:
        text = self._text
        pattern = _SCANNED_IN_DECISION if self._kind is Kind.DECISION else _SCANNED
        pieces: list[str] = []
        colour = ""
        position = 0
        while (found := _compiled(pattern).search(text, position)) is not None:
            start = found.start()
            pieces.append(text[position:start])
            if text[start] == _JOINER or text[start] >= "\ufe00":
                pieces.append(self._joiners(start, found[0]))
                position = found.end()
                continue
            position = self._sequence(start)
            sequence = text[start:position]
            if self._kind is Kind.OUTPUT and sequence[-1] == "m" and sequence.startswith(("\x1b[", "\x9b")):
                kept = _colour(sequence)
                colour = kept or colour
                pieces.append(kept)
            elif sequence == "\x1b" and self._kind not in _FROM_COMMANDS:
                pieces.append("^[")
        pieces.append(text[position:])
        if colour not in {"", "\x1b[0m"}:
            pieces.append("\x1b[0m")
        return "".join(pieces)

    def _sequence(self, start: int) -> int:
        """The end of the control sequence that begins at `start`: just after it where it is none."""
        text = self._text
        introducer = text[start]
        if introducer == "\x9b":
            return self._control(start, start + 1)
        if introducer in _C1_STRINGS:
            return self._string(start, start + 1)
        following = text[start + 1 : start + 2]
        if following == "[":
            return self._control(start, start + 2)
        if following in _STRING_INTRODUCERS:
            return self._string(start, start + 2)
        if not "\x20" <= following <= "\x7e":
            return start + 1
        limit = min(len(text), start + SEQUENCE_LIMIT)
        found = _compiled(_INTERMEDIATES).match(text, start + 1, limit)
        end = start + 1 if found is None else found.end()
        return end + 1 if "0" <= text[end : end + 1] <= "~" else end

    def _control(self, start: int, body: int) -> int:
        limit = min(len(self._text), start + SEQUENCE_LIMIT)
        found = _compiled(_PARAMETERS).match(self._text, body, limit)
        end = body if found is None else found.end()
        return end + 1 if "@" <= self._text[end : end + 1] <= "~" else end

    def _string(self, start: int, body: int) -> int:
        text = self._text
        if self._string_end < body:
            found = _compiled(_STRING_END).search(text, body)
            self._string_end = len(text) if found is None else found.start()
        end = self._string_end
        if text[end : end + 1] == "\x1b":
            if text[end + 1 : end + 2] == "\\":
                return end + 2
        elif end < len(text):
            return end + 1
        return min(end, start + SEQUENCE_LIMIT)

    def _joiners(self, start: int, run: str) -> str:
        """Of a run of joiners and selectors: one selector on a base, and one joiner between two emoji."""
        before = self._text[start - 1 : start]
        if not before or before in "\n\t" or _compiled(_UNPLEASANT).match(before) is not None:
            return self._hide(run)
        kept = ""
        if run[0] != _JOINER and (run[0] <= "\ufe0f" or unicodedata.category(before) == "Lo"):
            kept, run = run[0], run[1:]
        following = self._text[start + len(kept) + 1 : start + len(kept) + 2]
        emoji = _compiled(_EMOJI)
        if run == _JOINER and emoji.match(before) is not None and emoji.match(following) is not None:
            return kept + run
        return kept + self._hide(run)

    def _hide(self, run: str) -> str:
        return "".join(map(_name, run)) if self._kind in {Kind.LINE, Kind.DECISION} else ""


@lru_cache(maxsize=1024)
def _colour(sequence: str) -> str:
    """The known part of an SGR sequence, in its plain form; empty where there is none."""
    body = sequence[1:-1] if sequence[0] == "\x9b" else sequence[2:-1]
    parts = body.split(";")
    if len(parts) > 32 or not all(part == "" or (part.isdecimal() and len(part) <= 3) for part in parts):
        return ""
    numbers = [int(part or "0") for part in parts]
    kept: list[int] = []
    while numbers:
        count = 1
        if numbers[0] in {38, 48}:
            count = {5: 3, 2: 5}.get(numbers[1] if len(numbers) > 1 else -1, 0)
            if count == 0 or len(numbers) < count or max(numbers[1:count]) > 255:
                break
        if numbers[0] in _COLOURS:
            kept += numbers[:count]
        del numbers[:count]
    return f"\x1b[{';'.join(map(str, kept))}m" if kept else ""


def _tame_marks(text: str, kind: Kind) -> str:
    """Cut floods of combining marks, and give a base to those that would land on a border or a prompt."""

    def cut(found: re.Match[str]) -> str:
        return _cut_marks(found[0], kind)

    text = _compiled(_MARK_RUN).sub(cut, text)
    text = _compiled(_LEADING_MARK).sub(_with_base, text)
    if kind in {Kind.LINE, Kind.DECISION} and (found := _compiled(_FIRST_MARK).match(text)) is not None:
        text = _with_base(found) + text[1:]
    return text


def _with_base(found: re.Match[str]) -> str:
    return "\u25cc" + found[0] if unicodedata.category(found[0])[0] == "M" else found[0]


def _cut_marks(run: str, kind: Kind) -> str:
    kept: list[str] = []
    marks = 0
    in_colour = False
    for character in run:
        if in_colour or character == "\x1b":
            in_colour = character != "m"
        elif unicodedata.category(character)[0] == "M":
            marks += 1
            if marks > MARK_LIMIT:
                continue
        else:
            _note_cut(kept, marks, kind)
            marks = 0
        kept.append(character)
    _note_cut(kept, marks, kind)
    return "".join(kept)


def _note_cut(kept: list[str], marks: int, kind: Kind) -> None:
    if kind is Kind.DECISION and marks > MARK_LIMIT:
        kept.append(f"{_OPEN}{marks - MARK_LIMIT} more marks{_CLOSE}")
