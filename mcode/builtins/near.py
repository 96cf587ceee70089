"""Explains why a text to be replaced was not found: the likely cause, and the most similar lines."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from mcode.builtins.splice import line_of, places
from mcode.builtins.window import CUT_MARK
from mcode.text import show_control

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NEAR_PLACES = 5
"""Near places that are named at most."""
EXPLAINED_LIMIT = 2_000_000
"""Characters of the longest text that is looked through for every cause."""
SEARCHED_LINES = 100_000
"""Lines of the file that are searched for near places."""
_COMPARED_LINES = 10_000
_ALIKE = 0.75
"""Share of characters in common from which two lines count as alike."""
_SHOWN_LINES = 10
_BLOCK = 1 << 15
"""Characters that are changed at once."""
_SHOWN_WIDTH = 200

_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u2002\u2003\u3000", " "),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    }
)
"""Characters that are easily taken for plain ones, one for one."""


def explain_mismatch(text: str, old: str) -> str:
    """Sentences that say why `old` is not in `text`, as far as that can be told, and where it nearly is."""
    causes = (_cut_mark, _line_numbers, _escapes, _normalisation, _look_alikes, _letter_case)
    for find_cause in causes if len(text) <= EXPLAINED_LIMIT else causes[:2]:
        cause, lines = find_cause(text, old)
        if cause:
            return f"{cause}{_list_lines(lines)}"
    lines = _near_lines(text, old)
    if not lines:
        return "No line of the file comes near it. Read the file again."
    return f"Compare letters, blanks and indentation.{_list_lines(lines)}\n{_excerpt(text, old, lines[0])}"


def _cut_mark(_text: str, old: str) -> tuple[str, list[int]]:
    found = CUT_MARK in old
    return ("It contains the mark of a line that Read showed cut; that mark is not in the file." * found, [])


def _line_numbers(text: str, old: str) -> tuple[str, list[int]]:
    without = re.sub(r"^ *\d+\t", "", old, flags=re.MULTILINE)
    if without == old or without not in text:
        return "", []
    return "It carries the line numbers that Read shows; leave them out.", _lines(text, without)


def _escapes(text: str, old: str) -> tuple[str, list[int]]:
    """The escape of a control character, as Read shows it, taken for the file's own text."""
    if "\u2039" not in old:
        return "", []
    visible = _in_blocks(show_control, text)
    if visible == text or old not in visible:
        return "", []
    cause = (
        "The file has control characters there, which Read shows as escapes; old_string needs the characters."
    )
    return cause, _lines(visible, old)


def _normalisation(text: str, old: str) -> tuple[str, list[int]]:
    composed_text, composed_old = _in_blocks(_composed, text), _composed(old)
    if (composed_text == text and composed_old == old) or composed_old not in composed_text:
        return "", []
    cause = (
        "The file has the same text in another Unicode normalisation (composed or decomposed accents), which "
        "is not matched. Copy the characters from the file, or change this place with Bash."
    )
    return cause, _lines(composed_text, composed_old)


def _look_alikes(text: str, old: str) -> tuple[str, list[int]]:
    plain_text, plain_old = _in_blocks(_plain, text), _plain(old)
    index = plain_text.find(plain_old)
    if index < 0:
        return "", []
    there = _in_blocks(_composed, text)[index : index + len(plain_old)]
    differing = (
        (ours, theirs) for ours, theirs in zip(_composed(old), there, strict=False) if ours != theirs
    )
    pairs = dict.fromkeys(differing)
    named = "; ".join(f"the file has {_name(theirs)} for {_name(ours)}" for ours, theirs in list(pairs)[:4])
    cause = f"Non-breaking spaces, typographic quotes or dashes differ: {named}."
    return cause, _lines(plain_text, plain_old)


def _letter_case(text: str, old: str) -> tuple[str, list[int]]:
    small_text, small_old = _in_blocks(str.lower, text), old.lower()
    if small_old not in small_text:
        return "", []
    return "The letter case differs.", _lines(small_text, small_old)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _plain(text: str) -> str:
    return _composed(text).translate(_LOOK_ALIKES)


def _in_blocks(change: Callable[[str], str], text: str) -> str:
    """Change a text some lines at a time, so that other threads get their turn between."""
    blocks: list[str] = []
    position = 0
    while position < len(text):
        end = text.find("\n", position + _BLOCK) + 1 or len(text)
        blocks.append(change(text[position:end]))
        position = end
    return "".join(blocks)


def _name(character: str) -> str:
    return f"U+{ord(character):04X} ({unicodedata.name(character, 'unnamed').lower()})"


def _lines(text: str, part: str) -> list[int]:
    return [line_of(text, index) for index in places(text, part, overlapping=False)[:NEAR_PLACES]]


def _list_lines(lines: list[int]) -> str:
    if not lines:
        return ""
    return f" Near {'line' if len(lines) == 1 else 'lines'}: {', '.join(map(str, lines))}."


def _near_lines(text: str, old: str) -> list[int]:
    """First lines of the places that share most lines with `old`, blanks aside; else lines that are alike."""
    file_lines = [_folded(line) for line in text.split("\n", SEARCHED_LINES)[:SEARCHED_LINES]]
    wanted: dict[str, list[int]] = {}
    for offset, line in enumerate(old.split("\n")):
        if folded := _folded(line):
            wanted.setdefault(folded, []).append(offset)
    votes: Counter[int] = Counter()
    for number, line in enumerate(file_lines):
        votes.update(number - offset for offset in wanted.get(line, ()) if number >= offset)
    if votes:
        best = max(votes.values())
        starts = [start for start, count in votes.items() if count * 2 >= best]
        return [start + 1 for start in sorted(starts, key=lambda start: (-votes[start], start))[:NEAR_PLACES]]
    return _alike_lines(file_lines, max(wanted, key=len, default=""))


def _alike_lines(lines: Iterable[str], wanted: str) -> list[int]:
    if not wanted:
        return []
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[:_SHOWN_WIDTH])
    scored: list[tuple[float, int]] = []
    compared = 0
    for number, line in enumerate(lines, 1):
        if not len(wanted) // 2 <= len(line) <= len(wanted) * 2:
            continue
        compared += 1
        if compared > _COMPARED_LINES:
            break
        matcher.set_seq1(line[:_SHOWN_WIDTH])
        if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
            scored.append((-matcher.ratio(), number))
    return [number for score, number in sorted(scored)[:NEAR_PLACES] if -score >= _ALIKE]


def _folded(line: str) -> str:
    return " ".join(line.translate(_LOOK_ALIKES).split())


def _excerpt(text: str, old: str, number: int) -> str:
    """The file's own lines at the nearest place."""
    height = min(old.count("\n") + 1, _SHOWN_LINES)
    lines = text.split("\n")[number - 1 : number - 1 + height]
    cut = [line if len(line) <= _SHOWN_WIDTH else f"{line[:_SHOWN_WIDTH]} {CUT_MARK}\u203a" for line in lines]
    return f"The file has at line {number}:\n" + show_control("\n".join(cut))
