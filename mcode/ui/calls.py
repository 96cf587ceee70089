"""One line a call: state in a word, tool, on what, how long, what came of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.call import Origin, Status
from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.output import exit_code, output_rows
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from mcode.call import Call, Outcome
    from mcode.events import ToolStarted
    from mcode.ui.look import Look

_WORDS = {Status.OK: "ok", Status.FAILED: "FAIL", Status.DENIED: "denied", Status.CANCELLED: "stopped"}
"""The words for how a call ended; they carry the state without colour."""

_BY_USER = "approved by you"
"""A decision of the user's own; it is kept however narrow the terminal is, since nothing else tells of it."""

_DENIAL = re.compile(r"Denied: (.+?)\. The call did not run", re.DOTALL)
"""The part of a denial's text that is for the user too; the rest tells the model what to do."""

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
    """The line of a call that has ended; under it why it failed or was denied, or what a command printed."""
    title = title_of(started) if started is not None else _arguments(outcome.call)
    if outcome.status is Status.DENIED:
        return _denied(outcome, title, look, depth, width)
    code = exit_code(outcome)
    word = f"exit {code}" if code and outcome.status is Status.OK else _WORDS[outcome.status]
    facts = "  ".join(_facts(outcome, word, title, look, depth, width))
    lines = [_line(word, outcome.call, title, facts, look, depth, width)]
    if outcome.call.origin is Origin.USER and outcome.call.tool == "Bash":
        return lines  # its output stands above
    printed = output_rows(outcome, look, depth, width)
    if outcome.status is Status.FAILED and not printed:
        lines += _reason(outcome, look, depth, width)
    return lines + printed


def running_line(started: ToolStarted, progress: str, seconds: float, width: int, cut: str) -> str:
    """The redrawn row of a call that still runs."""
    return _live_line(started, f"{seconds:.0f} s  {clean(progress, Kind.LINE)}".rstrip(), width, cut)


def waiting_line(started: ToolStarted, width: int, cut: str) -> str:
    """The redrawn row of a call that the user is asked about; no time runs."""
    return _live_line(started, "waiting for you", width, cut)


def _live_line(started: ToolStarted, facts: str, width: int, cut: str) -> str:
    name = clean(started.call.tool, Kind.LINE)
    room = max(_LEAST_TITLE, width - cell_width(name) - cell_width(facts) - 14)
    return f"  ...     {name}  {shorten(title_of(started), room, cut)}  {facts}"


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
    state = max(8, len(word) + 1)
    room = max(_LEAST_TITLE, width - len(indent) - state - cell_width(name) - 2 - cell_width(facts) - 2)
    paints = {"ok": palette.good, "FAIL": palette.bad, "denied": palette.warn, "exit": palette.warn}
    painted = paints.get(word.partition(" ")[0], palette.dim)
    return f"{indent}{painted(word.ljust(7))} {name}  {shorten(title, room, look.cut)}  {palette.dim(facts)}".rstrip()


def _fits(outcome: Outcome, title: str, facts: list[str], depth: int, width: int) -> bool:
    taken = 2 * (depth + 1) + 8 + cell_width(outcome.call.tool) + 2 + cell_width(title) + 2
    return taken + cell_width("  ".join(facts)) <= width


def _facts(outcome: Outcome, word: str, title: str, look: Look, depth: int, width: int) -> list[str]:
    """How long, what came of it, and by whose leave; what does not fit goes, the least telling first."""
    summary = "" if outcome.summary == word else outcome.summary
    mentioned = outcome.call.origin is Origin.USER and outcome.call.tool not in {"Bash", "run_code"}
    decision = "(you mentioned it)" if mentioned else outcome.decision
    facts = [fact for fact in (_duration(outcome), summary, decision) if fact]
    if not look.decorated or not decision or _fits(outcome, title, facts, depth, width):
        return facts
    if mentioned or decision == _BY_USER:
        return [fact for fact in facts if fact != "exit 0"]
    return facts[:-1]  # on what is worth more than by which rule; /permissions and the log have the rule


def _denied(outcome: Outcome, title: str, look: Look, depth: int, width: int) -> list[str]:
    """Why, once: beside the subject where it fits, else under it."""
    found = _DENIAL.match(outcome.text)
    reason = clean(found[1] if found else outcome.summary or outcome.text, Kind.LINE).strip()
    if not look.decorated or not reason or _fits(outcome, title, [reason], depth, width):
        return [_line("denied", outcome.call, title, reason, look, depth, width)]
    indent = "  " * (depth + 1) + " " * 8
    rows = [indent + row for row in wrap_words(reason, width - len(indent))]
    return [_line("denied", outcome.call, title, "", look, depth, width), *rows]


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
