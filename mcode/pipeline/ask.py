"""Step 4: the desk where questions to the user wait for whichever front end is attached."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcode.events import ApprovalPart, ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionResolved
from mcode.pipeline.choices import BATCH, DENY, ONCE, RULE, STOP, YOU, choices_of, digest_of, keyed_proposals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcode.call import Call, CallSite
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Proposal, Verdict
    from mcode.tool import Preview, Question


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user decided about one call."""

    choice: str
    """`once`, `deny`, `stop`, `rule`, or the key of a proposal."""
    comment: str = ""
    """The user's words for the model, given with a denial."""
    proposal: Proposal | None = None
    """The rule that the user chose to keep."""
    batch: str = ""
    """Id that all calls share which one answer has allowed."""
    arguments: JsonObject | None = None
    """The whole input that the call may run with; None where it stays."""
    by: str = YOU
    """Who has answered."""

    @property
    def allowed(self) -> bool:
        return self.choice not in {DENY, STOP}


Answers = tuple[tuple[str, ...], ...]
"""For each question of a tool, the labels or words that the user answered with."""


@dataclass(frozen=True, slots=True)
class Around:
    """What belongs to a question about a call beside the call itself."""

    site: CallSite | None = None
    """Where a program made it."""
    sandbox: str = ""
    """What would confine it; empty for nothing."""
    agent: str = ""
    """The kind of sub-agent that makes it; empty for none."""
    still_asked: Callable[[], bool] = lambda: True
    """Looked at when another answer has made a rule."""
    why_cancelled: Callable[[], str] = lambda: ""
    """Looked at when the question is withdrawn; empty for an interrupt."""


@dataclass(slots=True)
class _Waiting:
    request: ApprovalRequested | QuestionAsked
    proposals: dict[str, Proposal]
    future: asyncio.Future[Answer | Answers | None]
    around: Around = field(default_factory=Around)


class Desk:
    """Questions wait here, each under its id, until the front end answers or the turn is interrupted."""

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._waiting: dict[str, _Waiting] = {}
        self._front_ends = 0
        self._count = 0

    @property
    def attached(self) -> bool:
        """True while somebody is there to answer."""
        return self._front_ends > 0

    @property
    def waiting(self) -> tuple[ApprovalRequested | QuestionAsked, ...]:
        """What waits, oldest first."""
        return tuple(entry.request for entry in self._waiting.values() if not entry.future.done())

    def attach(self) -> Callable[[], None]:
        """Say that a front end answers questions from now on; returns the function that ends it."""
        self._front_ends += 1

        def detach() -> None:
            self._front_ends -= 1

        return detach

    async def approve(
        self,
        call: Call,
        preview: Preview,
        verdict: Verdict,
        directory: str,
        around: Around | None = None,
    ) -> Answer:
        """Ask about one call and wait as long as it takes; cancelling withdraws the question."""
        around = around or Around()
        in_program = around.site is not None
        keyed = keyed_proposals(verdict.proposals, in_program=in_program)
        request = ApprovalRequested(
            approval_id=self._fresh_id(),
            call=call,
            preview=preview,
            reason=verdict.reason,
            choices=choices_of(keyed, in_program=in_program),
            directory=directory,
            site=around.site,
            digest=digest_of(call),
            parts=_parts_of(verdict),
            sandbox=around.sandbox,
            agent=around.agent,
        )
        entry = _Waiting(request, keyed, _future(), around)
        return cast("Answer", await self._wait(request.approval_id, entry))

    async def question(self, call: Call, questions: Sequence[Question]) -> Answers | None:
        """Put a tool's questions to the user; None where nobody is there or they declined."""
        if not self.attached:
            return None
        request = QuestionAsked(self._fresh_id(), call, tuple(questions))
        answers = await self._wait(request.question_id, _Waiting(request, {}, _future()))
        return cast("Answers | None", answers)

    def decide(
        self,
        approval_id: str,
        choice: str,
        comment: str = "",
        *,
        arguments: JsonObject | None = None,
        by: str = YOU,
    ) -> bool:
        """Answer an approval by the key of one of its choices; False where it no longer waits.

        `arguments`: with a permission, the whole input that takes the place of the call's. `by`: who answers.
        """
        found = self._approval(approval_id)
        if found is None or choice not in {offered.key for offered in found[0].choices}:
            return False
        request, entry = found
        answer = Answer(choice, comment, entry.proposals.get(choice), arguments=arguments, by=by)
        self._resolve(request, entry, answer, choice)
        return True

    def batch_of(self, approval_id: str) -> tuple[ApprovalRequested, ...]:
        """The approvals that may be allowed together with this one, itself included, oldest first.

        They are of one program, one tool, and one rule that would be suggested; empty where nothing waits with it.
        """
        found = self._approval(approval_id)
        if found is None:
            return ()
        mark = _mark(*found)
        if mark is None:
            return ()
        alike = tuple(request for request, entry in self._approvals() if _mark(request, entry) == mark)
        return alike if len(alike) > 1 else ()

    def allow_batch(self, requests: Sequence[ApprovalRequested]) -> int:
        """Allow exactly these, once each; returns how many still waited.

        What was listed counts: one that asks about other arguments by now, or that was not listed, waits on.
        """
        self._count += 1
        batch = f"{BATCH}-{self._count}"
        allowed = 0
        for listed in requests:
            found = self._approval(listed.approval_id)
            if found is not None and found[0].digest == listed.digest:
                self._resolve(*found, Answer(ONCE, batch=batch), BATCH)
                allowed += 1
        return allowed

    def reconsider(self) -> None:
        """A rule was made: let go what it covers of all that waits."""
        for request, entry in tuple(self._approvals()):
            if not entry.around.still_asked():
                self._resolve(request, entry, Answer(RULE), RULE)

    def answer(self, question_id: str, answers: Answers | None) -> bool:
        """Answer a tool's questions, or decline them with None; False where they no longer wait."""
        entry = self._waiting.get(question_id)
        if entry is None or not isinstance(entry.request, QuestionAsked) or entry.future.done():
            return False
        entry.future.set_result(answers)
        self._events.emit(QuestionResolved(question_id, answers is not None))
        return True

    def _approvals(self) -> Iterator[tuple[ApprovalRequested, _Waiting]]:
        for entry in self._waiting.values():
            if isinstance(entry.request, ApprovalRequested) and not entry.future.done():
                yield entry.request, entry

    def _approval(self, approval_id: str) -> tuple[ApprovalRequested, _Waiting] | None:
        return next((found for found in self._approvals() if found[0].approval_id == approval_id), None)

    def _resolve(self, request: ApprovalRequested, entry: _Waiting, answer: Answer, choice: str) -> None:
        entry.future.set_result(answer)
        by = "user" if answer.by == YOU else answer.by
        self._events.emit(ApprovalResolved(request.approval_id, choice, by))

    async def _wait(self, key: str, entry: _Waiting) -> Answer | Answers | None:
        self._waiting[key] = entry
        self._events.emit(entry.request)
        try:
            return await entry.future
        except asyncio.CancelledError:
            if isinstance(entry.request, ApprovalRequested):
                why = entry.around.why_cancelled() or "interrupt"
                self._events.emit(ApprovalResolved(key, "withdrawn", why))
            else:
                self._events.emit(QuestionResolved(key, answered=False))
            raise
        finally:
            del self._waiting[key]

    def _fresh_id(self) -> str:
        self._count += 1
        return f"ask-{self._count}"


def _mark(request: ApprovalRequested, entry: _Waiting) -> tuple[str, str, tuple[str, ...]] | None:
    """What approvals have in common that may be allowed together; None for one that stands alone."""
    rules = next((proposal.rules for proposal in entry.proposals.values()), None)
    if request.call.parent is None or rules is None:
        return None
    return request.call.parent, request.call.tool, rules


def _parts_of(verdict: Verdict) -> tuple[ApprovalPart, ...]:
    """What was found about each command of a line; nothing of a line with one, whose reason says it all."""
    if len(verdict.parts) < 2:
        return ()
    return tuple(ApprovalPart(part.text, part.allowed, part.why) for part in verdict.parts)


def _future() -> asyncio.Future[Answer | Answers | None]:
    return asyncio.get_running_loop().create_future()
