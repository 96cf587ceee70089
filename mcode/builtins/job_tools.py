"""TaskOutput and TaskStop: read the output of a background job, and stop it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.builtins.job_output import new_output
from mcode.builtins.jobs import Job, Jobs, one_line
from mcode.builtins.refusal import RefusalError, failed
from mcode.tool import Effect, Placement, Preview, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

DEFAULT_WAIT = 30_000
"""Milliseconds."""
LONGEST_WAIT = 600_000
"""Milliseconds."""


class JobTool(Tool):
    """A tool on one background job of the session, which the model has started itself."""

    effects = frozenset({Effect.CHANGES_SESSION})
    placement = Placement.DEFERRED

    def __init__(self, jobs: Jobs, description: str) -> None:
        self.jobs = jobs
        self.description = read_description(description)

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        try:
            job = self.jobs.find(arguments["task_id"])
        except RefusalError:
            return Preview(arguments["task_id"])
        return Preview(f"{job.id}: {one_line(job.command)}", job.command)


class TaskOutput(JobTool):
    """Shows what a job has written since the last look. Its data is {task_id, status, exit_code, output, file}."""

    name = "TaskOutput"
    input_schema = object_schema(
        {
            "task_id": {"type": "string", "description": "Such as b1, from the call that started the job"},
            "block": {"type": "boolean", "description": "Wait for the job's end; default true"},
            "timeout": {
                "type": "integer",
                "minimum": 0,
                "maximum": LONGEST_WAIT,
                "description": f"Milliseconds to wait at most; default {DEFAULT_WAIT}",
            },
        },
        required=["task_id"],
    )
    input_examples: tuple[JsonObject, ...] = (
        {"task_id": "b1"},
        {"task_id": "b2", "block": False},
        {"task_id": "b1", "block": True, "timeout": 300_000},
    )

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs, "task_output")

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        try:
            job = self.jobs.find(arguments["task_id"])
        except RefusalError as error:
            return failed(error)
        if arguments.get("block", True):
            services.progress(f"waiting for {job.id}")
            await self.jobs.wait(job, arguments.get("timeout", DEFAULT_WAIT) / 1000)
        return await _look(self.jobs, job)


class TaskStop(JobTool):
    """Ends a job with everything that it started. Its data is as TaskOutput's."""

    name = "TaskStop"
    input_schema = object_schema(
        {"task_id": {"type": "string", "description": "Such as b1"}}, required=["task_id"]
    )

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs, "task_stop")

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        del services
        try:
            job = self.jobs.find(arguments["task_id"])
        except RefusalError as error:
            return failed(error)
        await self.jobs.stop(job)
        return await _look(self.jobs, job)


async def _look(jobs: Jobs, job: Job) -> ToolResult:
    """How a job stands and what is new of its output."""
    jobs.tell(job)
    output, notes = await asyncio.to_thread(new_output, job)
    verb = "is running" if job.running else f"has ended: {job.state}"
    code = job.result.exit_code if job.result is not None else None
    return ToolResult(
        f"Job {job.id} {verb}, {job.seconds:.0f} s.\n\n{output or '(no new output)'}",
        data={
            "task_id": job.id,
            "status": job.state,
            "exit_code": code,
            "output": output,
            "file": str(job.file),
        },
        summary=f"{job.id}: {job.state}",
        notes=(*notes, *job.notes),
    )
