"""One round of hooks: those meant by an event run at the same time, and each one's answer is collected."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.events import HookRan, HookStarted, Notice
from mcode.pipeline.hook_process import Ran, run_hook
from mcode.pipeline.hook_reply import Reply, read_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from mcode.config.settings import HookHandler
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hook_process import HookContext
    from mcode.pipeline.hook_text import HookTexts

logger = logging.getLogger(__name__)

_USUAL_TIMEOUT = 600.0
_TIMEOUTS = {
    "UserPromptSubmit": 30.0,
    "PreModelSwitch": 30.0,
    "PostModelSwitch": 30.0,
    "MessageDisplay": 10.0,
}
"""Seconds, by event, where they differ from the usual."""

_END_TIME = 1.5
"""Seconds that all SessionEnd hooks have together, unless one of them asks for more."""
_END_TIME_MAXIMUM = 60.0

_GRACE = 2.0
_END_GRACE = 0.2
"""Seconds between SIGTERM and SIGKILL, while a session goes on and at its end."""

_CANNOT_BLOCK_BY_FAILING = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})
_BLOCKING_MEANS_NOTHING = frozenset(
    {
        *(
            "PermissionRequest",
            "PermissionDenied",
            "SessionStart",
            "SessionEnd",
            "Notification",
            "StopFailure",
        ),
        *("CwdChanged", "InstructionsLoaded", "PostCompact", "PostModelSwitch"),
        *("ConfigChange", "FileChanged", "DirectoryAdded"),
    }
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hook answered, ready to be read."""

    name: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run of a hook, for /hooks."""

    ran: HookRan
    at: float
    """Seconds since the epoch when it ended."""
    problem: str
    """Why it did not do its work, safe to be shown as the event is; empty where it did."""
    stops: bool
    """It asked for the end of the turn."""
    decision: str
    """What it said of a call that was about to run, as `Reply.decision`; empty for nothing."""


class HookRound:
    """Runs rounds and remembers how each hook ended."""

    def __init__(
        self, context: HookContext, events: EventBus, texts: HookTexts, wake: Callable[[str], object]
    ) -> None:
        """`wake` gives the model a message, whatever it does at the time."""
        self._context = context
        self._wake = wake
        self._events = events
        self._texts = texts
        self._background: set[asyncio.Task[object]] = set()
        self._count = 0
        self._prompt_id = ""
        """Of the user's last message; empty before the first."""
        self.last_runs: dict[HookHandler, LastRun] = {}

    async def run(
        self,
        event: str,
        subject: str,
        handlers: Sequence[HookHandler],
        fields: JsonObject,
        call_id: str | None = None,
        *,
        late: Callable[[], Awaitable[None]] | None = None,
    ) -> list[Answer]:
        """Run hooks at the same time; their answers stand in the order of the hooks, those in the background none.

        `late` is awaited whenever one in the background has ended, or was ended.
        """
        message = self._message(event, fields)
        jobs: list[_Job] = []
        for handler, timeout in zip(handlers, _timeouts(event, handlers), strict=True):
            job = _Job(event, subject, handler, message, call_id, timeout)
            if handler.run_async:
                self._start_in_background(job, late)
            else:
                jobs.append(job)
        if len(jobs) == 1:
            return [await self._answer(jobs[0])]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._answer(job)) for job in jobs]
        return [task.result() for task in tasks]

    def begin_prompt(self) -> None:
        """The user has sent a message: what happens until the next one belongs together, by one id."""
        self._prompt_id = str(uuid.uuid4())

    async def close(self) -> None:
        """End the hooks that run in the background."""
        tasks = tuple(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def effort(self) -> JsonObject:
        """The member of every message that says how hard the model is asked to try now; empty where nothing does."""
        return effort_member(self._context.effort)

    def _message(self, event: str, fields: JsonObject) -> JsonObject:
        context = self._context
        return {
            "session_id": context.session_id,
            "transcript_path": str(context.transcript_path),
            "cwd": str(context.cwd),
            **({"prompt_id": self._prompt_id} if self._prompt_id else {}),
            "permission_mode": context.permission_mode,
            **self.effort,
            "hook_event_name": event,
            **fields,
        }

    def _start_in_background(self, job: _Job, late: Callable[[], Awaitable[None]] | None) -> None:
        async def run() -> None:
            try:
                answer = await self._answer(job)
            finally:
                if late is not None:
                    await late()
            if job.handler.rewakes and answer.reply.blocked is not None:
                self._wake(
                    f"The hook {answer.name} for {job.event} says: {answer.reply.blocked or 'it objects'}"
                )

        self.in_background(run())

    def in_background(self, work: Coroutine[None, None, object]) -> None:
        """Let hooks run that nobody waits for; `close` ends them."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _answer(self, job: _Job) -> Answer:
        """Run one hook and read its answer; whatever goes wrong is a problem in it, but for cancellation."""
        name = self._texts.name(job.handler)
        self._count += 1
        hook_id = f"hook-{self._count}"
        self._events.emit(HookStarted(hook_id, job.event, name, self._texts.status(job.handler)))
        began = time.monotonic()
        try:
            if (
                job.handler.unsupported is not None
            ):  # a guard that cannot do its work: it fails, and that blocks
                ran = Ran(None, "", "", 0.0, job.handler.unsupported)
            else:
                grace = _END_GRACE if job.event == "SessionEnd" else _GRACE
                ran = await run_hook(job.handler, job.message, self._context, job.timeout, grace)
        except asyncio.CancelledError:
            ran = Ran(None, "", "", time.monotonic() - began, "it was interrupted")
            self._note(job, name, hook_id, ran, "cancelled", Reply(problem=ran.problem))
            raise
        except Exception:  # the hook boundary -- a bug here must not end the session
            logger.exception("internal error in the hook %s for %s", name, job.event)
            ran = Ran(None, "", "", time.monotonic() - began, "an error inside mcode; details are in its log")
        reply = self._read(job, name, ran)
        self._note(job, name, hook_id, ran, _outcome(reply), reply)
        self._tell_user(job, name, reply)
        return Answer(name, reply)

    def _read(self, job: _Job, name: str, ran: Ran) -> Reply:
        if ran.exit_code is None:
            reply = Reply(problem=ran.problem)
        else:
            reply = read_reply(job.event, job.subject, ran.exit_code, ran.stdout, ran.stderr)
        if reply.problem and job.blocks_by_failing:
            reason = f"the hook {name} failed, and is set to block then: {reply.problem}"
            reply = Reply(problem=reply.problem, blocked=reason)
        return self._texts.for_readers(reply)

    def _note(self, job: _Job, name: str, hook_id: str, ran: Ran, outcome: str, reply: Reply) -> None:
        event = HookRan(
            hook_id,
            job.event,
            name,
            outcome,
            job.call_id,
            ran.exit_code,
            self._texts.for_event(ran.stdout),
            self._texts.for_event(ran.stderr),
            ran.duration,
        )
        problem = self._texts.for_event(reply.problem)
        stops, decision = reply.stop is not None, reply.decision or ""
        self.last_runs[job.handler] = LastRun(event, time.time(), problem, stops, decision)
        self._events.emit(event)

    def _tell_user(self, job: _Job, name: str, reply: Reply) -> None:
        if reply.message:
            self._events.emit(Notice(self._texts.for_event(f"{name}: {reply.message}")))
        if reply.problem:
            text = f"The {job.event} hook {name} failed: {reply.problem}. {_consequence(job, reply)}"
            self._events.emit(Notice(self._texts.for_event(text), "warning"))
        elif (
            reply.blocked is not None
            and (job.event in _BLOCKING_MEANS_NOTHING or job.handler.run_async)
            and not job.handler.rewakes
        ):
            text = f"The {job.event} hook {name} objects, which has no effect: {reply.blocked or 'no reason given'}"
            self._events.emit(Notice(self._texts.for_event(text), "warning"))


@dataclass(frozen=True, slots=True)
class _Job:
    """One hook to run once."""

    event: str
    subject: str
    handler: HookHandler
    message: JsonObject
    call_id: str | None
    timeout: float
    """Seconds."""

    @property
    def blocks_by_failing(self) -> bool:
        handler = self.handler
        return (
            handler.on_failure == "block"
            and not handler.run_async
            and self.event not in _CANNOT_BLOCK_BY_FAILING
        )


def _timeouts(event: str, handlers: Sequence[HookHandler]) -> list[float]:
    """Seconds that each hook may take."""
    if event != "SessionEnd":
        usual = _TIMEOUTS.get(event, _USUAL_TIMEOUT)
        return [usual if handler.timeout is None else handler.timeout for handler in handlers]
    asked = [handler.timeout for handler in handlers if handler.timeout is not None]
    total = min(max([_END_TIME, *asked]), _END_TIME_MAXIMUM)
    return [total if handler.timeout is None else min(handler.timeout, total) for handler in handlers]


def _outcome(reply: Reply) -> str:
    if reply.blocked is not None or reply.decision == "deny":
        return "blocked"
    return "failed" if reply.problem else "success"


def _consequence(job: _Job, reply: Reply) -> str:
    if reply.blocked is not None:
        return "It is set to block when it fails, so this counts as its refusal."
    if reply != replace(Reply(), problem=reply.problem):
        return "Its output was understood and counts."
    if job.event == "PreToolUse" and not job.handler.run_async:
        return "It decided nothing: the call goes on to the permission check as if there were no hook."
    return "It had no effect."


def effort_member(level: str) -> JsonObject:
    """How hooks are told of an effort; empty where there is none."""
    return {"effort": {"level": level}} if level else {}
