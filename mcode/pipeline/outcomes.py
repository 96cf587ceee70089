"""Outcomes of calls whose body did not run, or was cut short, in words that say what is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind, Outcome, Status

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonValue
    from mcode.pipeline.admit import Refused


def refused(refusal: Refused) -> Outcome:
    """A call that was not admitted."""
    return Outcome(
        call=refusal.call,
        status=Status.FAILED,
        text=refusal.text,
        full_text=refusal.text,
        failure=refusal.failure,
        summary=str(refusal.failure).replace("_", " "),
    )


def denied(call: Call, reason: str, kind: FailureKind) -> Outcome:
    """A call that a rule, a mode, a hook or the user denied."""
    text = (
        f"Denied: {reason.rstrip('.')}. The call did not run and nothing was changed. "
        "Do not repeat it as it is; go another way, or say what you would need."
    )
    return Outcome(
        call=call, status=Status.DENIED, text=text, full_text=text, failure=kind, summary=reason[:200]
    )


def cancelled(call: Call, started: bool, decision: str) -> Outcome:
    """A call that the user's interrupt ended, before or after its body had started."""
    if started:
        text = (
            f"interrupted: {call.tool} ran when the user stopped the turn; it may have had effects."
        )
    else:
        text = f"not started: the user stopped the turn before {call.tool} ran; nothing was done."
    return Outcome(
        call=call,
        status=Status.CANCELLED,
        text=text,
        full_text=text,
        failure=FailureKind.CANCELLED,
        summary="interrupted" if started else "not started",
        decision=decision,
    )


def text_of(value: JsonValue) -> str:
    """A result that a hook put in place, as text for the model."""
    return value if isinstance(value, str) else jsontext.dump(value)
