"""Steps 3 and 4: the policy's verdict, and where it asks, the answer of a hook or the user."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.call import FailureKind, Origin
from mcode.permissions.decide import Behavior
from mcode.pipeline import outcomes
from mcode.pipeline.admit import Refused
from mcode.pipeline.ask import Around
from mcode.pipeline.choices import RULE, STOP, YOU
from mcode.pipeline.rendered import as_judged, decision_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.call import Call, Outcome
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Policy, Proposal, Verdict
    from mcode.pipeline.admit import Admitted, Gate
    from mcode.pipeline.ask import Answer, Desk
    from mcode.pipeline.hook_verdicts import BeforeCall, PermissionAnswer
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.programs import Programs
    from mcode.pipeline.record import Recorder
    from mcode.tool import Preview, Workspace


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether a call runs, as what, and by whose word."""

    admitted: Admitted
    """With the arguments that a hook has put in place, where one did."""
    by: str
    """The verdict's kind, `you`, `hook NAME` or `nobody to ask`."""
    decision: str
    """The same in words, for card, journal and audit."""
    denial: Outcome | None = None
    """None where the call may run."""
    batch: str = ""
    run: Admitted | None = None
    """The call as it runs, where a command line runs as it was understood and not as it was written."""
    verdict: Verdict | None = None
    """The verdict that stands in the end, where it is not the first one."""

    @property
    def by_user(self) -> bool:
        """True where the user has seen this very call."""
        return self.by in {YOU, "user"}


@dataclass(frozen=True, slots=True)
class Permission:
    """Decides about admitted calls."""

    gate: Gate
    hooks: HookRunner
    policy: Policy
    desk: Desk
    recorder: Recorder
    workspace: Workspace
    programs: Programs
    keep_rule: Callable[[Proposal, Call], Awaitable[None]]
    """Keeps a rule that the user chose: in the program, in the session, or in a settings file."""
    apply_updates: Callable[[list[JsonObject]], Awaitable[None]]
    """Applies the `updatedPermissions` of a PermissionRequest hook."""

    def is_hopeless(self, admitted: Admitted, before: BeforeCall) -> bool:
        """True where the call will be denied whatever else is amiss with it: then the denial is what is told."""
        verdict = self._verdict(admitted, before)
        nobody_answers = not self.desk.attached and not self.hooks.knows("PermissionRequest")
        return verdict.behavior is Behavior.DENY or (verdict.behavior is Behavior.ASK and nobody_answers)

    async def decide(self, admitted: Admitted, preview: Preview, before: BeforeCall) -> Decided:
        """Take a call to its decision, which is in the verdict log when this returns."""
        call = admitted.call
        began = time.monotonic()
        verdict = self._verdict(admitted, before)
        if verdict.behavior is Behavior.ASK:
            decided = await self._ask(admitted, preview, verdict)
        elif verdict.behavior is Behavior.DENY:
            kind = FailureKind.HOOK_DENIED if verdict.kind == "hook" else FailureKind.DENIED
            denial = outcomes.denied(call, verdict.reason, kind)
            decided = Decided(admitted, verdict.kind, verdict.reason, denial)
        else:
            decided = _permitted(admitted, verdict)
        behavior = Behavior.ALLOW if decided.denial is None else Behavior.DENY
        final = replace(decided.verdict or verdict, behavior=behavior)
        self.recorder.judge(
            (decided.run or decided.admitted).call, final, decided.by, time.monotonic() - began
        )
        return decided

    def _verdict(self, admitted: Admitted, before: BeforeCall) -> Verdict:
        hook = Behavior(before.behavior) if before.behavior else None
        return self.policy.decide(
            admitted.call, admitted.tool, admitted.access, hook=hook, hook_reason=before.reason
        )

    async def _ask(self, admitted: Admitted, preview: Preview, verdict: Verdict) -> Decided:
        """A PermissionRequest hook may answer, else the user does."""
        answer = await self.hooks.permission_request(admitted.call, self.policy.suggestions(verdict))
        if answer is None:
            return await self._ask_user(admitted, preview, verdict)
        by = f"hook {answer.name}"
        if answer.behavior == "deny":
            return Decided(admitted, by, f"denied by {by}", _denied_by_hook(admitted.call, answer))
        if answer.arguments is not None:
            changed = await self.gate.admit(replace(admitted.call, arguments=answer.arguments))
            if isinstance(changed, Refused):
                return Decided(admitted, by, f"denied by {by}", outcomes.refused(changed))
            admitted = changed
            verdict = self.policy.decide(admitted.call, admitted.tool, admitted.access)
            preview = await admitted.tool.preview(admitted.call.arguments, self.workspace)
        if verdict.behavior is Behavior.DENY:
            denial = outcomes.denied(admitted.call, verdict.reason, FailureKind.DENIED)
            return Decided(admitted, verdict.kind, verdict.reason, denial)
        if verdict.kind not in ("path", "mode"):  # what always asks is the user's to answer, never a hook's
            await self.apply_updates(answer.updated_permissions)
            self.desk.reconsider()
            return Decided(admitted, by, f"approved by {by}")
        return await self._ask_user(admitted, preview, verdict)

    async def _ask_user(self, admitted: Admitted, preview: Preview, verdict: Verdict) -> Decided:
        call = admitted.call
        if call.origin is Origin.COMMAND:
            text = f"{verdict.reason}. Nobody is asked about what a command file runs; a rule has to allow it first"
            denial = outcomes.denied(call, text, FailureKind.DENIED)
            return Decided(admitted, "not asked about", "denied: a command file asks nobody", denial)
        if not self.desk.attached:
            text = f"{verdict.reason}. Nobody can be asked in this run, so it counts as denied"
            denial = outcomes.denied(call, text, FailureKind.DENIED)
            return Decided(admitted, "nobody to ask", "denied: nobody to ask", denial)
        await self.programs.before_asking(call)
        permitted = self._permitted_since(admitted, verdict) if call.parent is not None else None
        if permitted is not None:
            return _permitted(admitted, permitted)
        answer = await self.desk.approve(
            call,
            preview,
            verdict,
            str(self.workspace.current),
            Around(
                site=self.programs.site_of(call),
                sandbox=self.policy.sandbox if admitted.access.command is not None else "",
                agent=str(self.hooks.maker_of(call).get("agent_type", "")),
                still_asked=lambda: self._permitted_since(admitted, verdict) is None,
                why_cancelled=lambda: self.programs.why_cancelled(call),
            ),
        )
        if not answer.allowed:
            return self._denied(admitted, answer)
        if answer.choice == RULE:
            now = self._permitted_since(admitted, verdict)
            if now is None:  # the rule is gone again
                return await self._ask_user(admitted, preview, verdict)
            return _permitted(admitted, now)
        if answer.proposal is not None:
            await self.keep_rule(answer.proposal, call)
            self.desk.reconsider()
        if answer.arguments is not None:
            return await self._changed(admitted, answer.arguments, answer.by)
        return Decided(admitted, answer.by, f"approved by {answer.by}", batch=answer.batch)

    async def _changed(self, admitted: Admitted, arguments: JsonObject, by: str) -> Decided:
        """The call with the input that whoever was asked has put in its place: no rule may deny it."""
        changed = await self.gate.admit(replace(admitted.call, arguments=arguments))
        if isinstance(changed, Refused):
            return Decided(admitted, by, f"changed by {by}, and refused", outcomes.refused(changed))
        verdict = self.policy.decide(changed.call, changed.tool, changed.access)
        if verdict.behavior is Behavior.DENY:
            denial = outcomes.denied(changed.call, verdict.reason, FailureKind.DENIED)
            return Decided(changed, verdict.kind, verdict.reason, denial)
        return Decided(changed, by, f"changed and approved by {by}")

    def _permitted_since(self, admitted: Admitted, verdict: Verdict) -> Verdict | None:
        """What permits a call that waits, after a rule was made; never what a hook, a rule or a path asks about."""
        if verdict.kind not in ("default", "mode"):
            return None
        now = self.policy.decide(admitted.call, admitted.tool, admitted.access)
        return now if now.behavior is Behavior.ALLOW else None

    def _denied(self, admitted: Admitted, answer: Answer) -> Decided:
        call = admitted.call
        who = "the user" if answer.by == YOU else answer.by
        said = f"{who} said no: {answer.comment}" if answer.comment else f"{who} said no"
        if answer.choice == STOP and call.parent is not None:
            why = f": {answer.comment}" if answer.comment else ""
            self.programs.stop(call.parent, f"it was denied a call of {call.tool} and ended with that{why}")
        denial = outcomes.denied(call, said, FailureKind.DENIED)
        return Decided(admitted, answer.by, f"denied by {answer.by}", denial)


def _permitted(admitted: Admitted, verdict: Verdict) -> Decided:
    decision = decision_of(verdict, admitted)
    return Decided(admitted, verdict.kind, decision, run=as_judged(admitted, verdict), verdict=verdict)


def _denied_by_hook(call: Call, answer: PermissionAnswer) -> Outcome:
    denial = outcomes.denied(call, answer.message or f"hook {answer.name} denied it", FailureKind.HOOK_DENIED)
    if not answer.interrupt:
        return denial
    return replace(denial, stop_turn=answer.message or f"hook {answer.name} ended the turn")
