"""What a command has printed, as a few quiet rows under its call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from mcode.call import Status
from mcode.text import Kind, clean
from mcode.ui.wrap import wrap_cells

if TYPE_CHECKING:
    from mcode.call import Outcome
    from mcode.jsontext import JsonObject
    from mcode.ui.look import Look

_ROWS, _ROWS_OF_TROUBLE, _ROWS_INSIDE = 8, 12, 4
"""Rows that are shown of a command that went well, of one that did not, and of the latter inside a program."""

_LOOKED_AT = 16_000
"""Characters at the end of an output that are looked at; more than fit the rows of any terminal."""

_SUMMARY = re.compile(r"exit (\d+)\Z")

_ENDING = re.compile(r"(?:\A|\n+)(?:\(no output\)|Exit code \d+[^\n]*\.|Killed by [^\n]*\.)\s*\Z")
"""What the text for the model says at its end, and the row of the call says already."""

_CUT = re.compile(
    r"^\[\u2026 ([\d,]{1,15}) (bytes|characters) (left out; the whole (?:output|text) is in [^\n]{1,4000}?) \u2026\]$",
    re.MULTILINE,
)
"""How the pipeline and Bash say in a text for the model that it was cut."""


def exit_code(outcome: Outcome) -> int | None:
    """The exit code of a command; None for other tools, and where it is not known."""
    if outcome.call.tool != "Bash":
        return None
    code = _data(outcome).get("exit_code")
    if isinstance(code, int):
        return code
    found = _SUMMARY.match(outcome.summary)  # after a resume there is no data
    return int(found[1]) if found else None


def works_on(outcome: Outcome) -> bool:
    """Whether a sub-agent works in the background: its calls come after the end of its own."""
    return outcome.call.tool == "Agent" and _data(outcome).get("state") == "running"


def output_rows(outcome: Outcome, look: Look, depth: int, width: int) -> list[str]:
    """The last rows of what a command printed; nothing for other tools."""
    if outcome.call.tool != "Bash":
        return []
    trouble = outcome.status is Status.FAILED or bool(exit_code(outcome))
    if outcome.call.parent is not None:
        most = _ROWS_INSIDE if trouble else 0
    else:
        most = _ROWS_OF_TROUBLE if trouble else _ROWS
    printed = printed_text(outcome).rstrip()
    if not printed.strip() or not most:
        return []
    indent = "  " * (depth + 1) + " " * 8 if look.decorated else "  "
    tail = clean(printed[-_LOOKED_AT:], Kind.MODEL)
    lines = clean(tail, Kind.BLOCK).expandtabs(4).strip("\n").split("\n")
    room = width - len(indent) if look.decorated else 0
    rows: list[str] = []
    shown = 0
    for line in reversed(lines):
        cut = wrap_cells(line, room)
        if rows and len(rows) + len(cut) > most:
            break
        rows = [*cut[-most:], *rows]
        shown += 1
    left_out = printed.strip("\n").count("\n") + 1 - shown
    if left_out > 0:
        rows.insert(0, f"({left_out} more line{'s' if left_out > 1 else ''})")
    return [look.palette.dim(indent + row) for row in rows]


def printed_text(outcome: Outcome) -> str:
    """All that a command printed, raw; after a resume what the model was told of it."""
    data = _data(outcome)
    if not data and outcome.status is Status.CANCELLED:
        return outcome.text.partition("\n")[2]  # behind the sentence that says so
    if not data:
        return without_ending(outcome.text)
    streams = (str(data.get(name) or "") for name in ("stdout", "stderr"))
    return "\n".join(stream.rstrip("\n") for stream in streams if stream.strip())


def cut_note(text: str) -> str:
    """What the model did not get of a long result, where the whole is, and how much it got; empty where it got all."""
    found = _CUT.search(text)
    if found is None:
        return ""
    return f"{_grouped(found[1])} {found[2]} {found[3]}; the model got {len(text):,} characters"


def _grouped(number: str) -> str:
    return f"{int(number.replace(',', '')):,}"


def without_ending(text: str) -> str:
    """The text for the model without the sentence on how the command ended."""
    return _ENDING.sub("", text)


def _data(outcome: Outcome) -> JsonObject:
    return cast("JsonObject", outcome.data) if isinstance(outcome.data, dict) else {}
