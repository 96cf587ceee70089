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
    from collections.abc import Callable, Sequence

    from mcode.agent.conversation import Conversation
    from mcode.agent.room import RoomMaker
    from mcode.events import Event, EventBus
    from mcode.session.store import OpenSession
    from mcode.tool import Tool

RECORD = "job"
"""Type of the journal's records of jobs: id, state (`running`, how it ended, `told`), command, file."""


class SessionJobs:
    """Background jobs of one session: their tools, their notices, and their end."""

    def __init__(
        self,
        conversation: Conversation,
        session: OpenSession,
        events: EventBus,
        *,
        tells_end: bool,
        mask: Callable[[str], str] = str,
    ) -> None:
        """`tells_end`: somebody is there to read, at the session's end, what ended with it; the last line of a
        headless run is its result and nothing else. `mask` takes secrets out of the files that stay."""
        self._mask = mask
        self._events = events
        self._tells_end = tells_end
        earlier = [record.body for record in session.journal.records if record.type == RECORD]
        self.jobs = Jobs(self._note, lambda body: conversation.append(RECORD, body), earlier)
        announce_todos(conversation, events)

    @property
    def tools(self) -> Sequence[Tool]:
        return job_tools(self.jobs)

    def return_after_summary(self, room: RoomMaker) -> None:
        """Put what still runs behind every summary of the conversation."""
        before = room.more
        room.more = lambda: (*before(), running_text(self.jobs))

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


def running_text(jobs: Jobs) -> str:
    """The background jobs that run, for behind a summary; empty where none does."""
    lines = [f"- {job.id} (`{one_line(job.command)}`), output in {job.file}" for job in jobs.running]
    return "\n".join(("Background jobs that still run:", *lines)) if lines else ""


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
