"""What a command line runs as that no person has approved: the words that were judged, written anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.permissions.decide import Verdict
    from mcode.pipeline.admit import Admitted


def as_judged(admitted: Admitted, verdict: Verdict) -> Admitted | None:
    """The call with the line that the verdict is about; None where that is the line as it came.

    Display, hooks and journal of everything after the verdict see this call, so they tell what ran.
    """
    line = verdict.run_as
    given = admitted.access.command
    if line is None or given is None or admitted.call.arguments.get("command") != given:
        return None
    if line == given and not verdict.note:
        return None
    call = replace(admitted.call, arguments={**admitted.call.arguments, "command": line})
    notes = (*admitted.restorations, verdict.note.rstrip(".")) if verdict.note else admitted.restorations
    return replace(admitted, call=call, access=replace(admitted.access, command=line), restorations=notes)


def decision_of(verdict: Verdict, admitted: Admitted) -> str:
    """The verdict's reason, and the line that runs where it is another than the given one."""
    if verdict.run_as is None or verdict.run_as == admitted.access.command:
        return verdict.reason
    return f"{verdict.reason}; run as `{verdict.run_as}`"
