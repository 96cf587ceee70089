"""The road itself: `Pipeline.run` is the only way to use a tool."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.call import FailureKind, Outcome, Status
from mcode.errors import McodeError
from mcode.permissions.decide import Behavior
from mcode.pipeline import outcomes
from mcode.pipeline.admit import Refused
from mcode.pipeline.fit import fit, with_notes
from mcode.pipeline.hooks import UNCHANGED
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Policy, Proposal, Verdict
    from mcode.pipeline.admit import Admitted, Gate
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.execute import Executor
    from mcode.pipeline.hooks import BeforeCall, HookRunner, PermissionAnswer
    from mcode.pipeline.record import Recorder
    from mcode.tool import Preview, Workspace


HOOKS_AFTER_INTERRUPT = 0.5
"""Seconds that hooks have to take note of an interrupted call."""


@dataclass(slots=True)
class _Journey:
    """How far one call has come; what a cancelled call's record is made from."""

    call: Call
    started: bool = False
    decision: str = ""
    result: tuple[ToolResult, float] | None = None
    """What the body returned, and the seconds it took."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The steps of the road, put together once a session by `wiring`."""

    gate: Gate
    hooks: HookRunner
    policy: Policy
    desk: Desk
    executor: Executor
    recorder: Recorder
    workspace: Workspace
    keep_rule: Callable[[Proposal, Call], Awaitable[None]]
    """Keeps a rule that the user chose: in the session, or in a settings file."""
    apply_updates: Callable[[list[JsonObject], Call], Awaitable[None]]
    """Applies the `updatedPermissions` of a PermissionRequest hook."""
    refresh: Callable[[Path], Awaitable[str | None]]
    """Takes note of what hooks made of a changed file; returns a sentence for the model where it differs."""
    spill: Callable[[str], Path]
    """Writes text to a private session file and returns its path."""
    approved: set[str] = field(default_factory=set[str])
    """Ids of the calls that the user has seen and let run, while they run."""

    async def run(self, call: Call) -> Outcome:
        """Take one call down the road. A failure is an Outcome; only cancellation and StorageError raise."""
        journey = _Journey(call)
        try:
            outcome = await self._travel(journey)
        except asyncio.CancelledError as stopped:
            outcome = self._outcome_of_cancelled(journey, stopped)
            self.recorder.finish(outcome, started=journey.started)
            if journey.started and journey.result is None:
                await self._tell_hooks_of_interrupt(outcome)
            raise
        except McodeError:
            raise
        except Exception:  # noqa: BLE001 -- the tool boundary: a bug on the road must not end the session
            outcome = outcomes.broken(journey.call, journey.started, journey.decision)
        return self.recorder.finish(outcome, started=journey.started)

    async def _tell_hooks_of_interrupt(self, outcome: Outcome) -> None:
        """PostToolUseFailure hooks hear of it; they have no say any more, and the interrupt waits for nobody."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HOOKS_AFTER_INTERRUPT):
                await self.hooks.after_failure(
                    outcome.call, outcome.text, interrupted=True, duration=outcome.duration
                )

    def _outcome_of_cancelled(self, journey: _Journey, stopped: asyncio.CancelledError) -> Outcome:
        """A body that had ended keeps its result, though hooks could not look at it any more."""
        if journey.result is not None:
            result, seconds = journey.result
            return replace(self._outcome(journey.call, result, seconds), decision=journey.decision)
        so_far = next((each for each in stopped.args if isinstance(each, ToolResult)), None)
        return outcomes.cancelled(journey.call, journey.started, journey.decision, so_far)

    async def _travel(self, journey: _Journey) -> Outcome:
        admitted = await self.gate.admit(journey.call)
        if isinstance(admitted, Refused):
            return outcomes.refused(admitted)
        before = await self.hooks.before_call(admitted.call)
        if before.arguments is not None:
            admitted = await self.gate.admit(replace(admitted.call, arguments=before.arguments))
            if isinstance(admitted, Refused):
                return outcomes.refused(admitted)
        journey.call = admitted.call

        preview = await admitted.tool.preview(admitted.call.arguments, self.workspace)
        self.recorder.show(admitted.call, preview, admitted.tool.source)
        objection = await admitted.tool.objection(admitted.call.arguments, self.workspace)
        if objection is not None:
            return outcomes.refused(Refused(admitted.call, FailureKind.TOOL_ERROR, objection))
        permitted = await self._permit(admitted, preview, before, journey)
        if isinstance(permitted, Outcome):
            told = with_notes(permitted.text, before.notes)
            return replace(permitted, text=told, stop_turn=_first(before.stop, permitted.stop_turn))
        admitted = permitted

        await self.recorder.start(admitted, journey.decision)
        journey.started = True
        try:
            result, seconds = await self.executor.execute(admitted)
        finally:
            self.approved.discard(admitted.call.id)
        journey.result = (result, seconds)
        notes = (*before.notes, *(f"Read as it was meant: {each}." for each in admitted.restorations))
        outcome = await self._conclude(admitted, result, seconds, notes)
        return replace(outcome, decision=journey.decision, stop_turn=_first(before.stop, outcome.stop_turn))

    async def _permit(
        self, admitted: Admitted, preview: Preview, before: BeforeCall, journey: _Journey
    ) -> Admitted | Outcome:
        """Steps 3 and 4: the admitted call, perhaps with a hook's changed input, or a denial."""
        call = admitted.call
        hook = Behavior(before.behavior) if before.behavior else None
        began = time.monotonic()
        verdict = self.policy.decide(
            call, admitted.tool, admitted.access, hook=hook, hook_reason=before.reason
        )
        decided_by = verdict.kind
        outcome: Outcome | None = None
        if verdict.behavior is Behavior.ASK:
            admitted, outcome, decided_by = await self._ask(admitted, preview, verdict)
        elif verdict.behavior is Behavior.DENY:
            by_hook = verdict.kind == "hook"
            outcome = outcomes.denied(
                call, verdict.reason, FailureKind.HOOK_DENIED if by_hook else FailureKind.DENIED
            )
        behavior = Behavior.ALLOW if outcome is None else Behavior.DENY
        waited = time.monotonic() - began
        self.recorder.judge(admitted.call, replace(verdict, behavior=behavior), decided_by, waited)
        if decided_by in {"you", "user"}:
            self.approved.add(admitted.call.id)
        journey.call = admitted.call
        journey.decision = verdict.reason if decided_by == verdict.kind else f"approved by {decided_by}"
        return outcome if outcome is not None else admitted

    async def _ask(
        self, admitted: Admitted, preview: Preview, verdict: Verdict
    ) -> tuple[Admitted, Outcome | None, str]:
        """Step 4: a PermissionRequest hook may answer, else the user does; who decided comes last."""
        answer = await self.hooks.permission_request(admitted.call, self.policy.suggestions(verdict))
        if answer is not None and answer.behavior == "deny":
            return admitted, _denied_by_hook(admitted.call, answer), f"hook {answer.name}"
        if answer is not None:
            if answer.arguments is not None:
                changed = await self.gate.admit(replace(admitted.call, arguments=answer.arguments))
                if isinstance(changed, Refused):
                    return admitted, outcomes.refused(changed), f"hook {answer.name}"
                admitted = changed
                verdict = self.policy.decide(admitted.call, admitted.tool, admitted.access)
                preview = await admitted.tool.preview(admitted.call.arguments, self.workspace)
            if verdict.behavior is Behavior.DENY:
                denial = outcomes.denied(admitted.call, verdict.reason, FailureKind.DENIED)
                return admitted, denial, verdict.kind
            if verdict.kind != "path":  # what always asks is the user's to answer, never a hook's
                await self.apply_updates(answer.updated_permissions, admitted.call)
                return admitted, None, f"hook {answer.name}"
        return await self._ask_user(admitted, preview, verdict)

    async def _ask_user(
        self, admitted: Admitted, preview: Preview, verdict: Verdict
    ) -> tuple[Admitted, Outcome | None, str]:
        call = admitted.call
        if not self.desk.attached:
            text = f"{verdict.reason}. Nobody can be asked in this run, so it counts as denied"
            return admitted, outcomes.denied(call, text, FailureKind.DENIED), "nobody to ask"
        answer = await self.desk.approve(call, preview, verdict, str(self.workspace.current))
        if not answer.allowed:
            said = f"the user said no: {answer.comment}" if answer.comment else "the user said no"
            return admitted, outcomes.denied(call, said, FailureKind.DENIED), "you"
        if answer.proposal is not None:
            await self.keep_rule(answer.proposal, call)
        return admitted, None, "you"

    async def _conclude(
        self, admitted: Admitted, result: ToolResult, seconds: float, notes: tuple[str, ...]
    ) -> Outcome:
        """Steps 6 and 7: the hooks after the call, then the result cut to size."""
        call = admitted.call
        text, data = result.text, result.data
        if result.failure is None:
            after = await self.hooks.after_call(call, text if data is None else data, seconds)
            if after.replaced is not UNCHANGED:
                data = after.replaced
                text = outcomes.text_of(data)
        else:
            after = await self.hooks.after_failure(call, text, interrupted=False, duration=seconds)
        drift = [await self.refresh(path) for path in admitted.access.writes]
        every_note = (*notes, *after.notes, *after.feedback, *filter(None, drift))
        whole = replace(result, text=text, data=data, notes=(*result.notes, *every_note))
        if len(text) <= admitted.tool.output_limit:
            return replace(self._outcome(call, whole, seconds), stop_turn=after.stop)
        outcome = await asyncio.to_thread(self._outcome, call, whole, seconds)
        return replace(outcome, stop_turn=after.stop)

    def _outcome(self, call: Call, result: ToolResult, seconds: float) -> Outcome:
        """Step 7: what came of a body, cut to size for the model."""
        return Outcome(
            call=call,
            status=Status.OK if result.failure is None else Status.FAILED,
            text=with_notes(fit(result.text, self.gate.output_limit(call.tool), self.spill), result.notes),
            data=result.data,
            full_text=result.text,
            failure=result.failure,
            summary=result.summary,
            diff=result.diff,
            duration=seconds,
            notes=result.notes,
        )


def _denied_by_hook(call: Call, answer: PermissionAnswer) -> Outcome:
    denial = outcomes.denied(call, answer.message or f"hook {answer.name} denied it", FailureKind.HOOK_DENIED)
    if not answer.interrupt:
        return denial
    return replace(denial, stop_turn=answer.message or f"hook {answer.name} ended the turn")


def _first(*reasons: str | None) -> str | None:
    """The first reason to end the turn that was given."""
    return next((reason for reason in reasons if reason is not None), None)
