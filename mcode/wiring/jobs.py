"""The session's background jobs and its low-frequency tools, joined to events and journal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.builtins.all import job_tools
from mcode.builtins.jobs import Job, Jobs, one_line
from mcode.call import Status
from mcode.events import Notice, TodosChanged, ToolFinished
from mcode.process.masking import mask_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.agent.conversation import Conversation
    from mcode.events import Event, EventBus
    from mcode.tool import Tool
    from mcode.wiring.core import SessionCore

RECORD = "job"
"""Type of the journal's records of jobs: id, state (`running`, how it ended, `told`), command, file."""


class SessionJobs:
    """Background jobs of one session: their tools, their notices, and their end."""

    def __init__(self, core: SessionCore) -> None:
        self._mask = core.bench.masker.mask
        self._events = core.events
        self._tells_end = core.bench.interactive
        """At the session's end; the last line of a headless run is its result and nothing else."""
        earlier = [record.body for record in core.session.journal.records if record.type == RECORD]
        self.jobs = Jobs(self._note, lambda body: core.conversation.append(RECORD, body), earlier)
        announce_todos(core.conversation, core.events)

    @property
    def tools(self) -> Sequence[Tool]:
        return job_tools(self.jobs)

    def running_text(self) -> str:
        """The background jobs that run, for behind a summary; empty where none does."""
        lines = [f"- {job.id} (`{one_line(job.command)}`), output in {job.file}" for job in self.jobs.running]
        return "\n".join(("Background jobs that still run:", *lines)) if lines else ""

    async def close(self) -> None:
        """End what still runs, and say so."""
        ended = await self.jobs.close()
        for job in self.jobs:
            await asyncio.to_thread(mask_file, job.file, self._mask)
        for job in ended if self._tells_end else ():
            self._events.emit(
                Notice(f"Background job {job.id} ended with the session: {one_line(job.command)}")
            )

    def _note(self, job: Job) -> None:
        severity = "info" if job.state in {"exit 0", "stopped"} else "warning"
        text = f"Background job {job.id} has ended: {job.state} after {job.seconds:.0f} s: {one_line(job.command)}"
        self._events.emit(Notice(text, severity))


def announce_todos(conversation: Conversation, events: EventBus) -> None:
    """Emit TodosChanged behind the end of each TodoWrite call that has changed the list."""

    def receive(event: Event) -> None:
        if not isinstance(event, ToolFinished):
            return
        outcome = event.outcome
        if outcome.call.tool == "TodoWrite" and outcome.status is Status.OK:
            loop = asyncio.get_running_loop()
            loop.call_soon(lambda: events.emit(TodosChanged(conversation.todos)))

    events.subscribe(receive)
