"""The road itself: `Pipeline.run` is the only way to use a tool."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from mcode.call import Call, FailureKind, Origin, Outcome, Status
from mcode.errors import McodeError
from mcode.pipeline import outcomes
from mcode.pipeline.admit import Refused
from mcode.pipeline.fit import fit, with_notes
from mcode.pipeline.hook_reply import UNCHANGED
from mcode.pipeline.hook_verdicts import NOTHING_TO_ADD
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from pathlib import Path

    from mcode.images.picture import Picture
    from mcode.jsontext import JsonObject
    from mcode.pipeline.admit import Admitted, Gate
    from mcode.pipeline.execute import Executor
    from mcode.pipeline.hook_verdicts import BeforeCall
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.permit import Decided, Permission
    from mcode.pipeline.programs import Programs
    from mcode.pipeline.record import Recorder
    from mcode.tool import Preview, Workspace


HOOKS_AFTER_INTERRUPT = 0.5
"""Seconds that hooks have to take note of an interrupted call."""

HOOKS_BEHIND_CALL = 20.0
"""Seconds behind a call in which what a hook that goes on makes of its files belongs to the call; later it may as well
have been the user."""


class Refresh(Protocol):
    """Takes note of what hooks made of a changed file, and has that kept for undo."""

    def __call__(
        self, path: Path, left: Callable[[Path, bytes], Awaitable[None]], *, later: bool = False
    ) -> Awaitable[str | None]:
        """Returns a sentence for the model where the file differs now.

        `later`: the model is not told any more, so that the file counts as changed since it was read.
        """
        ...


@dataclass(slots=True)
class _Journey:
    """How far one call has come: what its outcome is made from, whether it arrives or is cancelled on the way."""

    call: Call
    started: bool = False
    """The body has been started."""
    result: tuple[ToolResult, float] | None = None
    """What the body returned, and the seconds it took."""
    writes: Sequence[Path] = ()
    """Files that the body may have changed."""
    drift: list[str] = field(default_factory=list[str])
    """For the model: which of them hooks have changed since, and how."""

    # The rest as the fields of the same names in `Outcome`.
    decision: str = ""
    judged: float = 0.0
    batch: str = ""
    restorations: tuple[str, ...] = ()
    rewritten: bool = False
    hooks: list[str] = field(default_factory=list[str])
    stop_turn: str | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The steps of the road, put together once a session by `wiring`."""

    gate: Gate
    hooks: HookRunner
    permission: Permission
    executor: Executor
    recorder: Recorder
    workspace: Workspace
    programs: Programs
    refresh: Refresh
    spill: Callable[[str], Path]
    """Writes text to a private session file and returns its path."""
    keep_image: Callable[[Picture], JsonObject]
    """Keeps an image with the session; returns what stands for it in the conversation."""
    approved: set[str] = field(default_factory=set[str])
    """Ids of the calls that the user has seen and let run, while they run."""
    writers: dict[str, Call] = field(default_factory=dict[str, Call])
    """The call that has changed a file last, by the file's path; without arguments, which may be all of the file."""

    async def run(self, call: Call) -> Outcome:
        """Take one call down the road. A failure is an Outcome; only cancellation and StorageError raise."""
        journey = _Journey(call)
        try:
            outcome = await self._travel(journey)
        except asyncio.CancelledError as stopped:
            if journey.result is not None:
                await _undisturbed(self._look_at_writes(journey))
            outcome = self._outcome_of_cancelled(journey, stopped)
            self.recorder.finish(outcome, started=journey.started)
            if journey.started and journey.result is None:
                await self._tell_hooks_of_interrupt(outcome)
            raise
        except McodeError:
            raise
        except Exception:  # noqa: BLE001 -- the tool boundary: a bug on the road must not end the session
            failed = outcomes.broken(journey.call, journey.decision, started=journey.started)
            outcome = replace(failed, hooks=tuple(journey.hooks))
        return self.recorder.finish(outcome, started=journey.started)

    async def _tell_hooks_of_interrupt(self, outcome: Outcome) -> None:
        """Let PostToolUseFailure hooks know. They cannot change anything, and get HOOKS_AFTER_INTERRUPT seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HOOKS_AFTER_INTERRUPT):
                await self.hooks.after_failure(
                    outcome.call, outcome.text, interrupted=True, duration=outcome.duration
                )

    def _outcome_of_cancelled(self, journey: _Journey, stopped: asyncio.CancelledError) -> Outcome:
        """The outcome of a cancelled call. A body that had ended keeps its result, which no hook has seen."""
        if journey.result is not None:
            result, seconds = journey.result
            result = replace(result, notes=(*result.notes, *journey.drift))
            return self._outcome(journey, result, seconds)
        so_far = next((each for each in stopped.args if isinstance(each, ToolResult)), None)
        why = self.programs.why_cancelled(journey.call)
        return outcomes.cancelled(
            journey.call, journey.decision, started=journey.started, so_far=so_far, why=why
        )

    async def _travel(self, journey: _Journey) -> Outcome:
        """Steps 1 to 7."""
        admitted = await self.gate.admit(journey.call)
        if isinstance(admitted, Refused):
            return outcomes.refused(admitted)
        before = await self.hooks.before_call(admitted.call)
        journey.hooks += before.said
        if before.arguments is not None:
            admitted = await self.gate.admit(replace(admitted.call, arguments=before.arguments))
            if isinstance(admitted, Refused):
                return replace(outcomes.refused(admitted), hooks=tuple(journey.hooks))
        journey.call = admitted.call
        await self.programs.before_preview(admitted.call, admitted.access)

        preview = await admitted.tool.preview(admitted.call.arguments, self.workspace)
        self.recorder.show(admitted.call, preview, admitted.tool.source)
        objection = await admitted.tool.objection(admitted.call.arguments, self.workspace)
        if objection is not None and not self.permission.is_hopeless(admitted, before):
            refusal = Refused(admitted.call, FailureKind.TOOL_ERROR, objection)
            return replace(outcomes.refused(refusal), hooks=tuple(journey.hooks))
        decided = await self._decide(admitted, preview, before, journey)
        if decided.denial is not None:
            return replace(
                decided.denial,
                text=with_notes(decided.denial.text, before.notes),
                decision=decided.decision,
                judged=journey.judged,
                hooks=tuple(journey.hooks),
                stop_turn=_first(before.stop, decided.denial.stop_turn),
            )
        journey.batch, journey.restorations = decided.batch, decided.admitted.restorations
        given, run = admitted.call.arguments, decided.admitted.call.arguments
        journey.rewritten = before.arguments is not None or run != given
        journey.stop_turn = before.stop
        return await self._perform(decided, before.notes, journey)

    async def _decide(
        self, admitted: Admitted, preview: Preview, before: BeforeCall, journey: _Journey
    ) -> Decided:
        """Steps 3 and 4, until the call may run as things stand then.

        Earlier calls of a program that ran in the meantime may have changed the directory or put links where
        there were none, so what was decided before them is decided anew, unless the user saw this very call.
        """
        while True:
            directory = self.workspace.current
            began = time.monotonic()
            decided = await self.permission.decide(admitted, preview, before)
            journey.judged += time.monotonic() - began
            journey.decision = decided.decision
            if decided.by.startswith("hook "):
                journey.hooks.append(f"PermissionRequest {decided.decision}")
            if decided.denial is not None or not await self.programs.before_body(admitted.call):
                return decided
            if decided.by_user and self.workspace.current == directory:
                return decided
            again = await self.gate.admit(decided.admitted.call)
            if isinstance(again, Refused):
                return replace(decided, denial=outcomes.refused(again))
            admitted = replace(again, restorations=decided.admitted.restorations)

    async def _perform(self, decided: Decided, notes: tuple[str, ...], journey: _Journey) -> Outcome:
        """Steps 5 to 7 for a call that may run."""
        admitted = decided.run or decided.admitted
        journey.call = admitted.call
        if decided.by_user:
            self.approved.add(admitted.call.id)
        try:
            await self.recorder.start(admitted, journey.decision)
            journey.started = True
            result, seconds = await self.executor.execute(admitted)
        finally:
            self.approved.discard(admitted.call.id)
        journey.result = (result, seconds)
        meant = (f"Read as it was meant: {each}." for each in admitted.restorations)
        journey.writes = admitted.access.writes
        if journey.writes and result.failure is None:
            writer = replace(journey.call, arguments={})
            self.writers.update(dict.fromkeys(map(str, journey.writes), writer))
        return await self._conclude(journey, result, seconds, (*notes, *meant))

    async def conclude_later(self, call: Call, result: ToolResult, seconds: float) -> Outcome:
        """Steps 6 to 8 for a body that has worked on behind its turn (`ToolResult.goes_on`) and has ended now.

        Raises CancelledError, with the result recorded as it came, and StorageError.
        """
        journey = _Journey(call, started=True, result=(result, seconds))
        try:
            outcome = await self._conclude(journey, result, seconds, ())
        except asyncio.CancelledError:
            self.recorder.finish_later(self._outcome(journey, result, seconds))
            raise
        return self.recorder.finish_later(outcome)

    async def _conclude(
        self, journey: _Journey, result: ToolResult, seconds: float, notes: tuple[str, ...]
    ) -> Outcome:
        """Steps 6 and 7: the hooks after the call, then the result cut to size."""
        call = journey.call
        text, data, replaced = result.text, result.data, False
        if result.goes_on:
            after = NOTHING_TO_ADD  # they hear of it when it has ended
        elif result.failure is None:
            late = partial(self._look_later, journey, time.monotonic())
            after = await self.hooks.after_call(call, text if data is None else data, seconds, late)
            if after.replaced is not UNCHANGED:
                data, replaced = after.replaced, True
                text = outcomes.text_of(data)
        else:
            after = await self.hooks.after_failure(call, text, interrupted=False, duration=seconds)
        journey.hooks += after.said
        journey.rewritten = journey.rewritten or replaced
        journey.stop_turn = _first(journey.stop_turn, result.stop_turn, after.stop)
        await self._look_at_writes(journey)
        every_note = (*notes, *after.notes, *after.feedback, *journey.drift)
        images = () if replaced or call.origin is Origin.PROGRAM else result.images
        whole = replace(result, text=text, data=data, notes=(*result.notes, *every_note), images=images)
        if len(text) <= self.gate.output_limit(call.tool) and not images:
            outcome = self._outcome(journey, whole, seconds)
        else:
            outcome = await asyncio.to_thread(self._outcome, journey, whole, seconds)
        await self.recorder.prepare(outcome)
        return outcome

    async def _look_at_writes(self, journey: _Journey) -> None:
        """Note how hooks have changed the files that the call wrote; a second look reports only later changes."""
        left = partial(self.executor.note_left, journey.call)
        for path in journey.writes:
            changed = await self.refresh(path, left)
            if changed is not None:
                journey.drift.append(changed)

    async def _look_later(self, journey: _Journey, began: float) -> None:
        """The same for a hook that went on behind the call: what it leaves is undone with whatever changed it last."""
        if time.monotonic() - began <= HOOKS_BEHIND_CALL:
            for path in journey.writes:
                call = self.writers.get(str(path), journey.call)
                await self.refresh(path, partial(self.executor.note_left, call), later=True)

    def _outcome(self, journey: _Journey, result: ToolResult, seconds: float) -> Outcome:
        """Step 7: what came of a body, cut to size for the model. Raises StorageError where the rest is lost."""
        text = fit(result.text, self.gate.output_limit(journey.call.tool), self.spill)
        return Outcome(
            call=journey.call,
            status=Status.OK if result.failure is None else Status.FAILED,
            text=with_notes(text, result.notes),
            data=result.data,
            full_text=result.text,
            failure=result.failure,
            summary=result.summary,
            diff=result.diff,
            duration=seconds,
            judged=journey.judged,
            decision=journey.decision,
            batch=journey.batch,
            restorations=journey.restorations,
            rewritten=journey.rewritten,
            hooks=tuple(journey.hooks),
            notes=result.notes,
            images=tuple(self.keep_image(image) for image in result.images),
            stop_turn=journey.stop_turn,
        )


async def _undisturbed(work: Coroutine[None, None, None]) -> None:
    """Do a short piece of work to its end in a task that is being cancelled."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    task.result()


def _first(*reasons: str | None) -> str | None:
    """The first reason to end the turn that was given."""
    return next((reason for reason in reasons if reason is not None), None)
