"""The numbered answers that a panel offers to what waits: to an approval, or to a tool's question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.events import ApprovalChoice, ApprovalRequested
    from mcode.tool import Question

BATCH = "batch"
WORDS = "words"
DECLINE = "decline"
"""Keys of answers that are not among the choices of an approval."""

_WITH_REASON = frozenset({"deny", "stop"})
_SHORT = {
    "once": "once",
    "program": "this program",
    "session": "session",
    "always": "always",
    "deny": "deny",
    "stop": "deny and stop",
    BATCH: "all of them",
}
_PLACES = {"session": "", "program": "", "local": "in .mcode/settings.local.json"}


@dataclass(frozen=True, slots=True)
class Offer:
    """One answer, by its number."""

    key: str
    """Key of an approval's choice, number of a question's choice, or one of the words above."""
    label: str
    """Clean, one line."""
    rule: str = ""
    """The rule that would be kept, and where; clean, one line."""
    to_the_end: bool = False
    """True where all that is decided on must have been in view first."""

    @property
    def short(self) -> str:
        """The answer in a word or two, where it is one to an approval."""
        return _SHORT.get(self.key, self.label)

    @property
    def named_rule(self) -> str:
        """The rule alone."""
        return self.rule.removeprefix("rule: ")

    @property
    def with_reason(self) -> bool:
        """True where the user may say why."""
        return self.key in _WITH_REASON


def approval_offers(request: ApprovalRequested, together: int = 0) -> tuple[Offer, ...]:
    """The answers to an approval; `together`: how many calls one of them may allow at once."""
    offers = [_offer(choice) for choice in request.choices]
    if together > 1:
        label = f"Allow the {together} calls listed above, once each"
        offers.insert(1, Offer(BATCH, label, to_the_end=True))
    return tuple(offers)


def question_offers(question: Question, chosen: Sequence[int] = ()) -> tuple[Offer, ...]:
    """The answers to one question; those `chosen` (from 0) carry a mark where several may be picked."""
    offers = [
        Offer(
            str(at), _mark(question, at, chosen) + _one_line(f"{choice.label}   {choice.description}".strip())
        )
        for at, choice in enumerate(question.choices)
    ]
    if question.several and question.choices:
        offers.append(Offer("done", "Answer with the marked ones"))
    return (*offers, Offer(WORDS, "Answer in your own words"), Offer(DECLINE, "Leave it unanswered"))


def _mark(question: Question, at: int, chosen: Sequence[int]) -> str:
    if not question.several:
        return ""
    return "[x] " if at in chosen else "[ ] "


def _offer(choice: ApprovalChoice) -> Offer:
    rule = ""
    if choice.rule is not None:
        place = _PLACES.get(choice.destination or "session")
        where = f"in {_one_line(choice.destination or '')}" if place is None else place
        rule = f"rule: {_one_line(choice.rule)} {where}".rstrip()
    lasting = choice.rule is not None and choice.destination not in {"session", "program"}
    return Offer(choice.key, _one_line(choice.label), rule, to_the_end=lasting)


def _one_line(text: str) -> str:
    return clean(text, Kind.DECISION).replace("\n", "\u2039U+000A\u203a").expandtabs(4)
