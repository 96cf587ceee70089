"""One line a call: state in a word, tool, on what, how long, what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Status
from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.line.wrap import wrap_words

if TYPE_CHECKING:
    from mcode.call import Call, Outcome
    from mcode.events import ToolStarted
    from mcode.ui.line.look import Look

_WORDS = {Status.OK: "ok", Status.FAILED: "FAIL", Status.DENIED: "denied", Status.CANCELLED: "stopped"}
"""The words for how a call ended; they carry the state without colour."""

_FAILURE_LINES = 4
"""Lines of a failed call's text that are shown under it."""

_PRINCIPAL = ("command", "file_path", "pattern", "url", "query", "path")
"""Arguments that say by themselves what a call is about."""

_LEAST_TITLE = 16
"""Cells that the title keeps, however narrow the terminal is."""


def head_line(started: ToolStarted, look: Look, depth: int, width: int) -> str:
    """The line of a call that has begun and whose own calls follow indented."""
    return _line("...", started.call, title_of(started), "", look, depth, width)


def finished_lines(
    outcome: Outcome, started: ToolStarted | None, look: Look, depth: int, width: int
) -> list[str]:
    """The line of a call that has ended; under a failure, the beginning of what the model was told."""
    word = _WORDS[outcome.status]
    title = title_of(started) if started is not None else _arguments(outcome.call)
    facts = [fact for fact in (_duration(outcome), outcome.summary, outcome.decision) if fact]
    if look.decorated and facts[-1:] == [outcome.decision] and not _fits(outcome, title, facts, depth, width):
        facts.pop()  # on what is worth more than by which rule; /permissions and the log have the rule
    lines = [_line(word, outcome.call, title, "  ".join(facts), look, depth, width)]
    if outcome.status is Status.FAILED or (outcome.status is Status.DENIED and not outcome.summary):
        lines += _reason(outcome, look, depth, width)
    return lines


def running_line(started: ToolStarted, progress: str, seconds: float, width: int) -> str:
    """The redrawn row of a call that still runs."""
    facts = f"{seconds:.0f} s  {clean(progress, Kind.LINE)}".rstrip()
    name = clean(started.call.tool, Kind.LINE)
    room = max(_LEAST_TITLE, width - cell_width(name) - cell_width(facts) - 14)
    return f"  ...     {name}  {shorten(title_of(started), room)}  {facts}"


def title_of(started: ToolStarted) -> str:
    """What a call is about, in one clean line."""
    return clean(started.preview.title, Kind.LINE) or _arguments(started.call)


def duration_text(seconds: float) -> str:
    """`0.1 s`, `12 s`, `2 min 5 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _line(word: str, call: Call, title: str, facts: str, look: Look, depth: int, width: int) -> str:
    name = clean(call.tool, Kind.LINE)
    facts = clean(facts, Kind.LINE)
    if not look.decorated:
        inner = " (inside a program)" if call.parent is not None else ""
        return f"Tool: {_spoken(word)} {name} {title}{inner}. {facts}".rstrip()
    palette = look.palette
    indent = "  " * (depth + 1)
    room = max(_LEAST_TITLE, width - len(indent) - 8 - cell_width(name) - 2 - cell_width(facts) - 2)
    painted = {"ok": palette.good, "FAIL": palette.bad, "denied": palette.warn}.get(word, palette.dim)
    return f"{indent}{painted(word.ljust(7))} {name}  {shorten(title, room)}  {palette.dim(facts)}".rstrip()


def _fits(outcome: Outcome, title: str, facts: list[str], depth: int, width: int) -> bool:
    taken = 2 * (depth + 1) + 8 + cell_width(outcome.call.tool) + 2 + cell_width(title) + 2
    return taken + cell_width("  ".join(facts)) <= width


def _spoken(word: str) -> str:
    return "started" if word == "..." else word


def _reason(outcome: Outcome, look: Look, depth: int, width: int) -> list[str]:
    indent = "  " * (depth + 1) + " " * 8 if look.decorated else "  "
    text = clean(outcome.text, Kind.BLOCK).strip()
    lines = text.split("\n") if text else []
    room = width - len(indent) if look.decorated else 0
    shown = [indent + row for line in lines[:_FAILURE_LINES] for row in wrap_words(line, room)]
    if len(lines) > _FAILURE_LINES:
        shown.append(f"{indent}({len(lines) - _FAILURE_LINES} more lines)")
    return shown


def _duration(outcome: Outcome) -> str:
    return duration_text(outcome.duration) if outcome.duration > 0 else ""


def _arguments(call: Call) -> str:
    """What the arguments say in one line, for a call without a preview."""
    for principal in _PRINCIPAL:
        if principal in call.arguments:
            return clean(str(call.arguments[principal])[:400], Kind.LINE)
    text = " ".join(f"{key}={value}" for key, value in list(call.arguments.items())[:4])
    return clean(text[:400], Kind.LINE)
