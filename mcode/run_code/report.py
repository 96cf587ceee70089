"""What the model is told of a program: status, result, console, notes, within the budgets of output."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.pipeline.fit import fit
from mcode.run_code.faults import explain
from mcode.run_code.records import CallState, Ending, well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from mcode.run_code.limits import Limits
    from mcode.run_code.program_text import ProgramText
    from mcode.run_code.records import CallRecord, ProgramRecord

_ARGUMENTS_SHOWN = 160
_CALLS_LISTED = 30
_MESSAGE_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Report:
    """The text for the model, and how much of it came from the program."""

    text: str
    shown: int
    """Characters of result and console that are in it."""


async def report(
    record: ProgramRecord,
    text: ProgramText,
    limits: Limits,
    wanted: int | None,
    failures: Sequence[CallRecord],
    spill: Callable[[str], Path],
    mask: Callable[[str], str],
) -> Report:
    """Put a program that has ended into words.

    `wanted`: characters of result that the model asked for; `failures`: the failed calls that the program had
    seen; `spill` gives a fresh path for what is too long, `mask` takes secrets out of that.
    Raises StorageError where it cannot be written.
    """
    room = max(limits.result_least, min(wanted or limits.result_shown, limits.result_most))
    together = max(room, limits.shown_together)
    result = "\n".join((*record.texts, *(() if record.value is None else (record.value,))))

    def keep(whole: str) -> Path:
        return _keep(spill(".txt"), mask(whole))

    shown_result = await _fitted(result, room, keep)
    log = "\n".join(record.log)
    shown_log = await _fitted(log, min(limits.log_shown, max(0, together - len(shown_result))), keep)
    parts = [
        _status(record),
        explain(record, text, limits),
        shown_result,
        f"Console:\n{shown_log}" if shown_log else "",
        *_what_happened(record, failures),
        *_notes(record, limits, over=len(result) - room),
    ]
    whole = "\n\n".join(well_formed(part) for part in parts if part)
    return Report(whole, len(shown_result) + len(shown_log))


def summary(record: ProgramRecord, shown: int, limit: int) -> str:
    """One line for the screen: how it ended, what it called, what that brought in and what of it went out."""
    calls = _counted(len(record.calls), "call")
    if len(record.calls) >= limit:
        calls += f" (its limit is {limit:,})"
    out = "1 character" if shown == 1 else f"{shown:,} characters"
    through = f", {_size(record.bytes_in)} in, {out} out" if record.bytes_in else ""
    return f"{record.ending.replace('_', ' ')}, {calls}{through}"


def _status(record: ProgramRecord) -> str:
    word = "ok" if record.ending is Ending.OK else f"failed ({record.ending})"
    counts, states = [_counted(len(record.calls), "call")], record.states()
    counts += [
        f"{states[state]} {state}"
        for state in (CallState.FAILED, CallState.DENIED, CallState.CANCELLED, CallState.NOT_STARTED)
        if states[state]
    ]
    return f"{word}: {', '.join(counts)}"


def _what_happened(record: ProgramRecord, failures: Sequence[CallRecord]) -> Iterable[str]:
    """For a program that failed: what went before, what is done and stays done, what never ran."""
    if record.ending is Ending.OK:
        return
    if failures and record.ending is Ending.EXCEPTION:
        yield _listed(
            "The last failed calls that the program had seen:",
            [
                f"{_named(call)}: {call.kind}: {_short(call.message, _MESSAGE_SHOWN)}"
                for call in failures[-3:]
            ],
        )
    done = list(record.with_effects())
    if done:
        yield _listed(
            "These calls did run and their effects stay; do not repeat them:",
            [f"{_named(call)}: {_outcome(call)}" for call in done],
        )
    missed = [call for call in record.calls if call.state is CallState.NOT_STARTED or not call.let_through]
    if missed:
        yield _listed("These calls never started:", [_named(call) for call in missed])
    if not done and record.calls:
        yield "No call that changes anything has run."


def _notes(record: ProgramRecord, limits: Limits, over: int) -> Iterable[str]:
    if record.ending is Ending.OK and record.not_awaited:
        verb = "was" if record.not_awaited == 1 else "were"
        yield (
            f"{_counted(record.not_awaited, 'call')} {verb} not awaited: the program did not see what came of them. "
            "They were run to their end all the same."
        )
        lost = [call for call in record.calls if not call.answered and call.kind]
        if lost:
            yield _listed(
                "Of these failed:",
                [f"{_named(call)}: {call.kind}: {_short(call.message, 200)}" for call in lost],
            )
    if over > 0:
        yield "The result was cut. Filter or summarise before returning, instead of reading it from the file."
    if record.log_size + len(record.log) >= limits.log:
        yield f"The console was cut off at {limits.log:,} characters."
    if record.described & {"Map", "Set"}:
        yield "A Map or Set is only named in a result; return Object.fromEntries(map) or [...set]."
    if "promise" in record.described:
        yield "A promise in the result was not awaited; use `await Promise.all(list)`."
    if record.images:
        yield "Programs cannot return images; call the tool directly to see one."


async def _fitted(text: str, room: int, keep: Callable[[str], Path]) -> str:
    if len(text) <= room:
        return text
    return await asyncio.to_thread(fit, text, room, keep)


def _keep(path: Path, text: str) -> Path:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    except OSError as error:
        raise StorageError(
            f"The program's output could not be kept in {path}: {error.strerror}. The program has run; "
            "make room on that disk, or let it return less."
        ) from error
    return path


def _named(call: CallRecord) -> str:
    line = f", line {call.line}" if call.line > 0 else ""
    return f"{call.tool} {_short(call.arguments, _ARGUMENTS_SHOWN)} (call {call.number}{line})"


def _outcome(call: CallRecord) -> str:
    if call.state is CallState.OK:
        return call.summary or "done"
    return f"{call.state}, and may have had effects"


def _listed(title: str, lines: Sequence[str]) -> str:
    shown = [f"- {line}" for line in lines[:_CALLS_LISTED]]
    more = len(lines) - len(shown)
    return "\n".join((title, *shown, *((f"- and {more} more",) if more else ())))


def _short(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[:width]}…"


def _counted(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _size(count: int) -> str:
    return (
        f"{count} B" if count < 1000 else f"{count / 1000:.0f} KB" if count < 1e6 else f"{count / 1e6:.1f} MB"
    )
