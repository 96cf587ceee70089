"""Outcomes of calls whose body did not run, or was cut short, in words that say what is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind, Outcome, Status

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonValue
    from mcode.pipeline.admit import Refused
    from mcode.tool import ToolResult


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


def cancelled(call: Call, started: bool, decision: str, so_far: ToolResult | None = None) -> Outcome:
    """A call that the user's interrupt ended, before its body had started or with what it had done so far."""
    if started:
        text = f"interrupted: {call.tool} ran when the user stopped the turn; it may have had effects."
    else:
        text = f"not started: the user stopped the turn before {call.tool} ran; nothing was done."
    if so_far is not None and so_far.text:
        text = f"{text}\n{so_far.text}"
    return Outcome(
        call=call,
        status=Status.CANCELLED,
        text=text,
        data=so_far.data if so_far else None,
        full_text=text,
        failure=FailureKind.CANCELLED,
        summary="interrupted" if started else "not started",
        decision=decision,
    )


def text_of(value: JsonValue) -> str:
    """A result that a hook put in place, as text for the model."""
    return value if isinstance(value, str) else jsontext.dump(value)
