"""Step 4: the desk where questions to the user wait for whichever front end is attached."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcode.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    QuestionResolved,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.call import Call
    from mcode.events import EventBus
    from mcode.permissions.decide import Proposal, Verdict
    from mcode.tool import Preview, Question

ONCE = "once"
DENY = "deny"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user decided about one call."""

    choice: str
    """`once`, `deny`, or the key of a proposal."""
    comment: str = ""
    """The user's words for the model, given with a denial."""
    proposal: Proposal | None = None
    """The rule that the user chose to keep."""

    @property
    def allowed(self) -> bool:
        return self.choice != DENY


Answers = tuple[tuple[str, ...], ...]
"""For each question of a tool, the labels or words that the user answered with."""


@dataclass(slots=True)
class _Waiting:
    request: ApprovalRequested | QuestionAsked
    proposals: dict[str, Proposal]
    future: asyncio.Future[Answer | Answers | None]


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
        return tuple(entry.request for entry in self._waiting.values())

    def attach(self) -> Callable[[], None]:
        """Say that a front end answers questions from now on; returns the function that ends it."""
        self._front_ends += 1

        def detach() -> None:
            self._front_ends -= 1

        return detach

    async def approve(self, call: Call, preview: Preview, verdict: Verdict, directory: str) -> Answer:
        """Ask about one call and wait as long as it takes; cancelling withdraws the question."""
        keyed = {_key(proposal, index): proposal for index, proposal in enumerate(verdict.proposals)}
        request = ApprovalRequested(
            approval_id=self._fresh_id(),
            call=call,
            preview=preview,
            reason=verdict.reason,
            choices=_choices(keyed),
            directory=directory,
        )
        return cast("Answer", await self._wait(request.approval_id, _Waiting(request, keyed, _future())))

    async def question(self, call: Call, questions: Sequence[Question]) -> Answers | None:
        """Put a tool's questions to the user; None where nobody is there or they declined."""
        if not self.attached:
            return None
        request = QuestionAsked(self._fresh_id(), call, tuple(questions))
        answers = await self._wait(request.question_id, _Waiting(request, {}, _future()))
        return cast("Answers | None", answers)

    def decide(self, approval_id: str, choice: str, comment: str = "") -> bool:
        """Answer an approval by the key of one of its choices; False where it no longer waits."""
        entry = self._waiting.get(approval_id)
        if entry is None or not isinstance(entry.request, ApprovalRequested) or entry.future.done():
            return False
        if choice not in {offered.key for offered in entry.request.choices}:
            return False
        entry.future.set_result(Answer(choice, comment, entry.proposals.get(choice)))
        self._events.emit(ApprovalResolved(approval_id, choice, "user"))
        return True

    def answer(self, question_id: str, answers: Answers | None) -> bool:
        """Answer a tool's questions, or decline them with None; False where they no longer wait."""
        entry = self._waiting.get(question_id)
        if entry is None or not isinstance(entry.request, QuestionAsked) or entry.future.done():
            return False
        entry.future.set_result(answers)
        self._events.emit(QuestionResolved(question_id, answers is not None))
        return True

    async def _wait(self, key: str, entry: _Waiting) -> Answer | Answers | None:
        self._waiting[key] = entry
        self._events.emit(entry.request)
        try:
            return await entry.future
        except asyncio.CancelledError:
            if isinstance(entry.request, ApprovalRequested):
                self._events.emit(ApprovalResolved(key, "withdrawn", "interrupt"))
            else:
                self._events.emit(QuestionResolved(key, answered=False))
            raise
        finally:
            del self._waiting[key]

    def _fresh_id(self) -> str:
        self._count += 1
        return f"ask-{self._count}"


def _future() -> asyncio.Future[Answer | Answers | None]:
    return asyncio.get_running_loop().create_future()


def _key(proposal: Proposal, index: int) -> str:
    word = "session" if proposal.destination == "session" else "always"
    return word if index < 2 else f"{word}-{index}"


def _choices(proposals: dict[str, Proposal]) -> tuple[ApprovalChoice, ...]:
    kept = [
        ApprovalChoice(key, proposal.label, proposal.rule, proposal.destination)
        for key, proposal in proposals.items()
    ]
    return (ApprovalChoice(ONCE, "Allow once"), *kept, ApprovalChoice(DENY, "Deny, and tell the agent why"))
