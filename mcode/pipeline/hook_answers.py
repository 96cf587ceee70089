"""The answers of several hooks, merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mcode.pipeline.hook_reply import UNCHANGED, Unchanged
from mcode.pipeline.hook_verdicts import AfterCall, BeforeCall, PermissionAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.pipeline.hook_round import Answer

_RANK = {"allow": 1, "ask": 2, "defer": 3, "deny": 4}
"""The strongest answer of several hooks wins."""

_NO_REASON = "no reason was given"

_BEHAVIORS: tuple[Literal["allow", "ask", "deny"] | None, ...] = (None, "allow", "ask", "ask", "deny")
"""By rank. What a hook defers is asked: nobody takes a deferred call up later, and asking is what it is short of."""


def judged(answers: Sequence[Answer]) -> BeforeCall:
    """Merge several opinions on a call: deny beats defer beats ask beats allow; the last new input wins."""
    strongest = 0
    winners: list[Answer] = []
    arguments: JsonObject | None = None
    for answer in answers:
        decision = "deny" if answer.reply.blocked is not None else answer.reply.decision
        rank = _RANK[decision] if decision else 0
        if rank > strongest:
            strongest, winners = rank, []
        if rank and rank == strongest:
            winners.append(answer)
        if answer.reply.arguments is not None:
            arguments = answer.reply.arguments
    stop = stop_of(answers)
    behavior = _BEHAVIORS[strongest]
    reasons = [answer.reply.blocked or answer.reply.reason for answer in winners]
    reason = "\n".join(dict.fromkeys(filter(None, reasons)))
    name = winners[0].name if winners else ""
    if stop is not None and behavior != "deny":
        behavior, reason, name = "deny", stop, next(a.name for a in answers if a.reply.stop is not None)
    if behavior == "deny":
        arguments, reason = None, reason or f"blocked by the hook {name}; {_NO_REASON}"
    return BeforeCall(behavior, reason, arguments, notes_of(answers), stop, name)


def answer_for_user(answers: Sequence[Answer]) -> PermissionAnswer | None:
    """The end of the turn where a hook says so, else the first denial, or else the first permission."""
    stop = stop_of(answers)
    if stop is not None:
        name = next(answer.name for answer in answers if answer.reply.stop is not None)
        return PermissionAnswer("deny", stop, interrupt=True, name=name)
    given = [(answer.name, answer.reply.permission) for answer in answers if answer.reply.permission]
    for behavior in ("deny", "allow"):
        for name, reply in given:
            if reply.behavior == behavior:
                updates = list(reply.updated_permissions)
                return PermissionAnswer(
                    behavior, reply.message, reply.arguments, updates, reply.interrupt, name
                )
    return None


def after_call(answers: Sequence[Answer]) -> AfterCall:
    """All objections to what a call brought; the last result put in its place wins."""
    replaced: JsonValue | Unchanged = UNCHANGED
    for answer in answers:
        if answer.reply.replaced is not UNCHANGED:
            replaced = answer.reply.replaced
    feedback = tuple(
        answer.reply.blocked or f"{answer.name} objects; {_NO_REASON}"
        for answer in answers
        if answer.reply.blocked is not None
    )
    return AfterCall(feedback, replaced, notes_of(answers), stop_of(answers))


def objection(answers: Sequence[Answer]) -> str | None:
    """Why something is blocked; None where no hook objects."""
    objections = [answer for answer in answers if answer.reply.blocked is not None]
    if not objections:
        return None
    reasons = [answer.reply.blocked for answer in objections if answer.reply.blocked]
    return "\n".join(dict.fromkeys(reasons)) or f"the hook {objections[0].name} blocks; {_NO_REASON}"


def notes_of(answers: Sequence[Answer]) -> tuple[str, ...]:
    """What the hooks add for the model."""
    return tuple(answer.reply.context for answer in answers if answer.reply.context)


def stop_of(answers: Sequence[Answer]) -> str | None:
    """Why the turn is to end, in the words of the first hook that says so; None where none does."""
    for answer in answers:
        if answer.reply.stop is not None:
            return answer.reply.stop or f"the hook {answer.name} stopped the turn"
    return None
