"""The commands of a line one by one, for people: also of a line that was decided as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.permissions.modes import Mode
from mcode.permissions.programs import words_of
from mcode.permissions.verdict import Behavior, PartVerdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.permissions.shell.lines import RoughLine
    from mcode.permissions.verdict import Verdict

_BETWEEN = re.compile(r"[;&|\n]+")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./~-]+")

_CHANGES_WHAT_FOLLOWS = words_of("cd pushd popd eval source . alias unalias export set hash exec")


def part_alone(part: PartVerdict, alone: Verdict, mode: Mode) -> PartVerdict:
    """What decides about a command alone goes before what its place in the line says."""
    allowed = alone.behavior is Behavior.ALLOW
    if (allowed and mode is not Mode.BYPASS) or alone.kind == "default":
        return part
    return _as_part(part.text, alone)


def rough_parts(line: RoughLine, alone: Callable[[str], Verdict]) -> tuple[PartVerdict, ...]:
    """The commands of a line that is not read word for word; empty where not even they can be told."""
    if line.doubt:
        return ()
    parts: list[PartVerdict] = []
    changed = ""
    # Variables, reserved words, redirections and quotes are not among the words: with any of them it is another text.
    written = [segment.strip() for segment in _BETWEEN.split(line.text) if segment.strip()]
    commands = [each for each in line.parts if each.words]
    if len(written) != len(commands):
        written = [""] * len(commands)
    for each, segment in zip(commands, written, strict=True):
        text = " ".join(each.words)
        verdict = _as_part(text, alone(text))
        plain = text == segment and all(_PLAIN_WORD.fullmatch(word) for word in each.words)
        if verdict.allowed and (changed or not plain):
            why = (
                f"`{changed}` before it may change what it does"
                if changed
                else "it is not read word for word"
            )
            verdict = PartVerdict(text, False, why)
        parts.append(verdict)
        changed = changed or (each.words[0] if each.words[0] in _CHANGES_WHAT_FOLLOWS else "")
    return tuple(parts)


def _as_part(text: str, verdict: Verdict) -> PartVerdict:
    allowed, denied = verdict.behavior is Behavior.ALLOW, verdict.behavior is Behavior.DENY
    return PartVerdict(text, allowed, verdict.reason, verdict.kind, verdict.rule, denied)
