"""/tasks: the session's background jobs, their output, and their end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.builtins.jobs import Job, one_line
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table
from mcode.errors import UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject

_USAGE = "/tasks [ID | stop ID|all]"
_SHOWN = 8_000
"""Bytes at the end of a job's output that are shown."""


async def _tasks(context: CommandContext, arguments: Arguments) -> CommandResult:
    match arguments.at_most(2, _USAGE):
        case ():
            return _list(tuple(context.agent.jobs))
        case ("stop", "all"):
            return await _stop(context, context.agent.jobs.running)
        case ("stop", job_id):
            return await _stop(context, (context.agent.jobs.find(job_id),))
        case (job_id,) if job_id != "stop":
            return await _show(context.agent.jobs.find(job_id))
        case _:
            raise UsageError(f"Nothing was done. Usage: {_USAGE}.")


def _list(jobs: tuple[Job, ...]) -> CommandResult:
    data: JsonObject = {"jobs": [_as_object(job) for job in jobs]}
    if not jobs:
        return CommandResult("No background jobs in this session.", data)
    rows = [(job.id, job.state, f"{job.seconds:.0f} s", one_line(job.command), _size(job)) for job in jobs]
    running = sum(job.running for job in jobs)
    head = f"{plural(len(jobs), 'background job')}, {running} running"
    return CommandResult(f"{head}\n{table(rows)}", data)


async def _show(job: Job) -> CommandResult:
    output = await asyncio.to_thread(tail_of, job)
    head = f"{job.id}: {job.state}, {job.seconds:.0f} s\n{job.command}\nOutput: {job.file} ({_size(job)})"
    lines = "\n".join((head, *job.notes, output or "(no output)"))
    return CommandResult(lines, {**_as_object(job), "output": output})


async def _stop(context: CommandContext, jobs: tuple[Job, ...]) -> CommandResult:
    running = [job for job in jobs if job.running]
    await asyncio.gather(*(context.agent.jobs.stop(job) for job in running))
    if running:
        text = f"Ended {', '.join(job.id for job in running)}, with everything started by it."
    else:
        text = f"{jobs[0].id} has ended before: {jobs[0].state}." if jobs else "No background job is running."
    return CommandResult(text, {"stopped": [job.id for job in running]})


def tail_of(job: Job) -> str:
    """The end of the output, as bytes that the front end cleans."""
    try:
        size = job.file.stat().st_size
        with job.file.open("rb") as file:
            file.seek(max(0, size - _SHOWN))
            text = file.read(_SHOWN).decode("utf-8", "replace")
    except OSError as error:
        return f"The output file cannot be read: {error.strerror}."
    return text if size <= _SHOWN else "[\u2026]\n" + text.partition("\n")[2]


def _size(job: Job) -> str:
    try:
        return f"{job.file.stat().st_size:,} bytes"
    except OSError:
        return "no output file"


def _as_object(job: Job) -> JsonObject:
    return {
        "id": job.id,
        "state": job.state,
        "running": job.running,
        "seconds": round(job.seconds, 1),
        "command": job.command,
        "file": str(job.file),
        "exit_code": job.result.exit_code if job.result is not None else None,
    }


TASKS = Command(
    "tasks",
    "commands that run in the background, their output and their end",
    _tasks,
    usage="[ID | stop ID|all]",
    elsewhere=("bashes", "jobs"),
    complete=lambda context: ["stop", *(job.id for job in context.agent.jobs)],
)
