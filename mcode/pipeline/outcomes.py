"""Outcomes of calls whose body did not run, or was cut short, in words that say what is unchanged."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind, Outcome, Status

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonValue
    from mcode.pipeline.admit import Refused
    from mcode.tool import ToolResult


logger = logging.getLogger(__name__)


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
    if kind is FailureKind.HOOK_DENIED and "hook" not in reason:
        reason = f"a hook says: {reason}"
    text = (
        f"Denied: {reason.rstrip('.')}. The call did not run and nothing was changed: {_named(call)}. "
        "Do not repeat it as it is; go another way, or say what you would need."
    )
    return Outcome(
        call=call, status=Status.DENIED, text=text, full_text=text, failure=kind, summary=reason[:200]
    )


_OBJECTS = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "name", "description")
"""Arguments that tell what a call is about, the most telling first."""
_SHOWN = 100


def _named(call: Call) -> str:
    """A call in a few words: its tool, and what it is about."""
    about = next((call.arguments[key] for key in _OBJECTS if isinstance(call.arguments.get(key), str)), "")
    about = " ".join(about.split())
    return f"{call.tool} `{about[:_SHOWN]}{'…' * (len(about) > _SHOWN)}`" if about else call.tool


def cancelled(
    call: Call,
    decision: str,
    *,
    started: bool,
    so_far: ToolResult | None = None,
    why: str = "",
) -> Outcome:
    """A call that ended with its turn or program, before its body had started or with what it had done so far.

    `why`: what ended it, where that was not the user who stopped the turn.
    """
    why = why or "the user stopped the turn"
    if started:
        text = f"interrupted: {call.tool} ran when {why}; it may have had effects."
    else:
        text = f"not started: {why} before {call.tool} ran; nothing was done."
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


def broken(call: Call, decision: str, *, started: bool) -> Outcome:
    """A call that an error inside mcode ended; to be made while the exception is handled, which is logged."""
    number = os.urandom(3).hex()
    logger.exception("internal error %s in %s, call %s", number, call.tool, call.id)
    effects = "It may have had effects" if started else "Nothing was done"
    text = (
        f"{call.tool} failed by an error inside mcode (number {number}; details are in mcode's log). {effects}. "
        "Try another way, or tell the user this number."
    )
    return Outcome(
        call=call,
        status=Status.FAILED,
        text=text,
        full_text=text,
        failure=FailureKind.INTERNAL,
        summary=f"internal error {number}",
        decision=decision,
    )


def text_of(value: JsonValue) -> str:
    """A result that a hook put in place, as text for the model."""
    return value if isinstance(value, str) else jsontext.dump(value)
