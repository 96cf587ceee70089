"""The result of a command that has ended, for the model, for programs and for the screen."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from mcode.builtins.job_output import new_output
from mcode.call import FailureKind
from mcode.text import Kind, clean
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from mcode.builtins.jobs import Job
    from mcode.jsontext import JsonObject
    from mcode.process.output import Captured, Shown
    from mcode.process.run import ProcessResult

_NEAR = 2_000
"""Characters within which a cut moves to the end of a line."""

_AT_ONCE = 4_000
"""Characters that are cleaned within a millisecond or two, whatever they are."""

_FOR_THE_REST = 1_000
"""Characters that are kept free for how the command ended, and for notes."""


def report(result: ProcessResult, timeout: float, limit: int, notes: tuple[str, ...] = ()) -> ToolResult:
    """Put a result into words. `timeout`: the seconds it had; `limit`: characters that the model gets at most.

    The text is cut here, where head and tail of the output are known: `fit` finds nothing left to cut.
    """
    output = shown_text(result.shown, room_for_output(limit))
    ending = _ending(result, timeout)
    text = "\n\n".join(part for part in (output or "(no output)", ending) if part)
    return ToolResult(
        text,
        data=_data(result),
        failure=_failure(result),
        summary=_summary(result, timeout),
        notes=(*notes, *_further_notes(result)),
        spill=result.shown.file,
    )


async def report_aside(
    result: ProcessResult, timeout: float, limit: int, notes: tuple[str, ...] = ()
) -> ToolResult:
    """As `report`; cleaning what is more than a screenful does not hold up the event loop.

    Cancelled, it hands over the report all the same: the command has ended.
    """
    if len(result.shown.head) + len(result.shown.tail) <= _AT_ONCE:
        return report(result, timeout, limit, notes)
    try:
        return await asyncio.to_thread(report, result, timeout, limit, notes)
    except asyncio.CancelledError as cancelled:
        cancelled.args = (report(result, timeout, limit, notes),)
        raise


def report_job(job: Job, limit: int, notes: tuple[str, ...] = ()) -> ToolResult:
    """Put the start of a background job into words; of one that has ended already, also how and its output."""
    data = _data_of_job(job)
    if job.running:
        text = (
            f"Started as background job {job.id}; its output goes to {job.file}. TaskOutput (task_id {job.id}) "
            "shows it and can wait for the end, TaskStop ends it. When it has ended you are told with the user's "
            "next message."
        )
        return ToolResult(text, data=data, summary=f"background job {job.id}", notes=notes)
    if job.result is None:
        text = f"The command did not start in the background: {job.problem}. Nothing was run."
        return ToolResult(text, failure=FailureKind.TOOL_ERROR, summary="not started")
    data["exit_code"] = _exit_code(job.result)
    output = shown_text(job.result.shown, limit)
    text = (
        f"Background job {job.id} has ended already: {job.state}. Its output, also in {job.file}:\n{output}"
    )
    return ToolResult(
        text, data=data, summary=f"background job {job.id}: {job.state}", notes=(*notes, *job.notes)
    )


def report_moved(job: Job, limit: int, notes: tuple[str, ...] = ()) -> ToolResult:
    """Put into words that the user has moved a running command to the background. Reads its file."""
    output, more = new_output(job, limit)
    data = _data_of_job(job)
    how = "goes on" if job.running else f"has ended meanwhile ({job.state})"
    text = (
        f"The user moved this command to the background after {job.seconds:.0f} s. It {how} as background job "
        f"{job.id}; its output goes to {job.file}. TaskOutput (task_id {job.id}) shows it and can wait for the end, "
        "TaskStop ends it. When it has ended you are told with the user's next message. "
        f"Its output so far:\n{output or '(none)'}"
    )
    return ToolResult(text, data=data, summary=f"background job {job.id}", notes=(*notes, *more))


def _data_of_job(job: Job) -> JsonObject:
    return {
        "stdout": "",
        "stderr": "",
        "exit_code": None,
        "timed_out": False,
        "interrupted": False,
        "isImage": False,
        "backgroundTaskId": job.id,
    }


def room_for_output(limit: int) -> int:
    """Characters of output that go into a text of `limit` characters."""
    return limit - min(_FOR_THE_REST, limit // 4)


def shown_text(shown: Shown, limit: int) -> str:
    """The output for the model: safe, at most about `limit` characters, head and tail where it is longer."""
    head, tail = clean(shown.head, Kind.MODEL), clean(shown.tail, Kind.MODEL)
    if not shown.left_out and len(head) <= limit:
        return head.strip("\n")
    if not shown.left_out:
        head, tail = head[: len(head) // 2], head[len(head) // 2 :]
    kept_head, kept_tail = _to_line_end(head[: limit // 2]), _from_line_start(tail[-(limit // 2) :])
    left_out = shown.left_out + _bytes(head) - _bytes(kept_head) + _bytes(tail) - _bytes(kept_tail)
    where = f"; the whole output is in {shown.file}" if shown.file else ""
    return f"{kept_head.rstrip()}\n[… {left_out:,} bytes left out{where} …]\n{kept_tail.strip()}".lstrip("\n")


def _ending(result: ProcessResult, timeout: float) -> str:
    """How the command ended; nothing where it simply succeeded."""
    if result.interrupted:
        return f"Interrupted after {_seconds(result)}; ended together with everything it had started."
    if result.timed_out:
        return (
            f"The command timed out after {timeout:g} s and was ended together with everything it had started. "
            "Give a larger `timeout` (milliseconds, at most 600000) if it needs longer."
        )
    if result.signal is not None:
        return f"Killed by {result.signal} after {_seconds(result)}."
    if result.exit_code:
        return f"Exit code {result.exit_code}{_signal_meant(result.exit_code)} after {_seconds(result)}."
    return ""


def _seconds(result: ProcessResult) -> str:
    return f"{result.duration:.2f} s" if result.duration < 1 else f"{result.duration:.1f} s"


def _signal_meant(exit_code: int) -> str:
    """Shells report a signal that ended their last command as 128 + its number."""
    try:
        return f" (128 + {signal.Signals(exit_code - 128).name})" if exit_code > 128 else ""
    except ValueError:
        return ""


def _summary(result: ProcessResult, timeout: float) -> str:
    if result.interrupted:
        return "interrupted"
    if result.timed_out:
        return f"timed out after {timeout:g} s"
    return f"killed by {result.signal}" if result.signal else f"exit {result.exit_code}"


def _failure(result: ProcessResult) -> FailureKind | None:
    if result.interrupted:
        return FailureKind.CANCELLED
    if result.timed_out:
        return FailureKind.TIMEOUT
    return FailureKind.TOOL_ERROR if result.signal else None


def _data(result: ProcessResult) -> JsonObject:
    return {
        "stdout": _stream(result.stdout, result.shown),
        "stderr": _stream(result.stderr, result.shown),
        "exit_code": _exit_code(result),
        "timed_out": result.timed_out,
        "interrupted": result.interrupted,
        "isImage": False,
    }


def _exit_code(result: ProcessResult) -> int | None:
    if result.signal is None:
        return result.exit_code
    number = result.signal.removeprefix("signal ")
    return 128 + (int(number) if number.isdigit() else signal.Signals[number].value)


def _stream(stream: Captured, shown: Shown) -> str:
    if stream.is_whole:
        return stream.text
    where = f"; stdout and stderr are in {shown.file}" if shown.file else ""
    return f"{stream.text}\n[… cut: {stream.total:,} bytes in all{where} …]"


def _further_notes(result: ProcessResult) -> list[str]:
    notes: list[str] = []
    if result.left_running:
        running = "1 process" if result.left_running == 1 else f"{result.left_running} processes"
        notes.append(f"{running} still running; what still runs when mcode ends is ended with it.")
    if result.shown.not_text:
        notes.append(f"Not UTF-8, and shown as U+FFFD: {result.shown.not_text:,} byte(s) of the output.")
    if result.shown.file_problem:
        place = result.shown.file or "the whole output"
        notes.append(f"The file for {place} is not complete: {result.shown.file_problem}.")
    for name, stream in (("stdout", result.stdout), ("stderr", result.stderr)):
        if not stream.is_whole:
            notes.append(f"Programs get only the beginning of {name}: it has {stream.total:,} bytes.")
    return notes


def _to_line_end(text: str) -> str:
    end = text.rfind("\n")
    return text[:end] if end >= 0 and len(text) - end < _NEAR else text


def _from_line_start(text: str) -> str:
    start = text.find("\n")
    return text[start + 1 :] if 0 <= start < _NEAR else text


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
