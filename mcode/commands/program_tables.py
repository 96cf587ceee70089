"""Programs that have run, as tables: the list of a session, and one program with its calls beside its lines."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from mcode.commands.tables import plural, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.jsontext import JsonObject
    from mcode.run_code.audit_read import AuditedCall, AuditedProgram

_SHOWN = 100
"""Characters of a call's arguments in one line."""

_CALLS_OF_A_LINE = 12
"""Calls that are listed beside one line of a program; a loop makes many."""


def program_list(programs: Sequence[AuditedProgram]) -> str:
    """One line a program, and what all of them together kept out of the context."""
    rows = [
        (
            f"#{each.number}",
            _clock(each.started_ms),
            each.status.replace("_", " "),
            plural(len(each.calls), "call"),
            f"{size(each.bytes_in)} in",
            f"{each.chars_out:,} out",
            each.title,
        )
        for each in programs
    ]
    kept = sum(each.kept_out for each in programs)
    calls = sum(len(each.calls) for each in programs)
    total = (
        f"{plural(len(programs), 'program')}, {plural(calls, 'call')}, {size(kept)} kept out of the context."
    )
    return f"{table(rows, right=frozenset({3, 4, 5}))}\n{total} /programs NUMBER shows one."


def in_and_out(programs: Sequence[AuditedProgram]) -> str:
    """What all programs brought in and what of it went to the model: whether they filtered anything."""
    brought, went = sum(each.bytes_in for each in programs), sum(each.chars_out for each in programs)
    ratio = f", one in {brought / went:,.0f}" if 0 < went < brought else ""
    return (
        f"{plural(len(programs), 'program')} this session: {size(brought)} in, {went:,} characters out{ratio}"
    )


def program_page(program: AuditedProgram) -> str:
    """One program: how it ended, its text with the calls under the lines that made them, and its result."""
    head = (
        f"Program #{program.number} ({program.id}): {program.status.replace('_', ' ')}, "
        f"{plural(len(program.calls), 'call')}, {program.wall_ms / 1000:.1f} s, {program.cpu_ms} ms of CPU, "
        f"{f'{size(program.peak_bytes)} of memory, ' if program.peak_bytes else ''}"
        f"{size(program.bytes_in)} in, {program.chars_out:,} characters out, {size(program.kept_out)} kept out of "
        "the context"
    )
    by_line: dict[int, list[AuditedCall]] = {}
    for call in program.calls:
        by_line.setdefault(call.line, []).append(call)
    lines = program.code.split("\n")
    width = len(str(len(lines)))
    text: list[str] = [head, ""]
    for number, line in enumerate(lines, 1):
        text.append(f"  {number:>{width}} | {line}")
        text += _calls(by_line.pop(number, ()), width)
    for calls in by_line.values():  # their line is not known
        text += _calls(calls, width)
    if program.value:
        text += ["", "Result (its beginning):", program.value]
    return "\n".join(text)


def as_object(program: AuditedProgram) -> JsonObject:
    """The facts of one program without its records, for lists in JSON."""
    return {
        "number": program.number,
        "id": program.id,
        "started_ms": program.started_ms,
        "title": program.title,
        "status": program.status,
        "calls": len(program.calls),
        "wall_ms": program.wall_ms,
        "cpu_ms": program.cpu_ms,
        "peak_bytes": program.peak_bytes,
        "bytes_in": program.bytes_in,
        "chars_out": program.chars_out,
        "kept_out": program.kept_out,
        "tools": list(program.tools),
    }


def exported(program: AuditedProgram) -> JsonObject:
    """Everything about one program."""
    return {**as_object(program), "records": list(program.records)}


def size(count: int) -> str:
    """Bytes in few characters."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _calls(calls: Iterable[AuditedCall], width: int) -> list[str]:
    listed = list(calls)
    indent = " " * (width + 5)
    rows = [
        (
            str(call.number),
            call.state,
            call.tool,
            _cut(call.arguments),
            "-" if call.duration_ms is None else f"{call.duration_ms / 1000:.1f} s",
            size(call.result_bytes) if call.result_bytes else "",
            _came_of(call),
            f"({call.decision})" if call.decision else "",
        )
        for call in listed[:_CALLS_OF_A_LINE]
    ]
    lines = table(rows, indent=indent, right=frozenset({0})).split("\n") if rows else []
    more = len(listed) - len(rows)
    if more > 0:
        bad = sum(call.state != "ok" for call in listed[_CALLS_OF_A_LINE:])
        lines.append(f"{indent}and {more} more, {bad} of them not ok; --json has all")
    return lines


def _came_of(call: AuditedCall) -> str:
    """Why a call failed, else what is said of it in short."""
    why = call.message.strip().partition("\n")[0] if call.state == "failed" else ""
    return _cut(why) or call.summary or call.kind


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"


def _clock(milliseconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, tz=datetime.UTC).astimezone()
    return moment.strftime("%H:%M:%S")
