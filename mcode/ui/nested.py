"""Calls of programs as front ends tell of them: which rows of a long run are shown, and what a program came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcode.call import Origin, Status

if TYPE_CHECKING:
    from mcode.call import Outcome
    from mcode.jsontext import JsonObject

SHOWN = 20
"""Calls of a program that are each told of; after them only what did not go smoothly or changed a file."""


@dataclass(slots=True)
class NestedRows:
    """Decides for each finished call of a program whether it has a row of its own."""

    _told: Counter[str] = field(default_factory=Counter[str])
    _left_out: Counter[str] = field(default_factory=Counter[str])

    def shows(self, outcome: Outcome) -> bool:
        """Whether a finished call gets a row; calls that no program made always do."""
        parent = outcome.call.parent
        if parent is None:
            return True
        if self._told[parent] < SHOWN or outcome.diff is not None or outcome.status is not Status.OK:
            self._told[parent] += 1
            return True
        self._left_out[parent] += 1
        return False

    def rest(self, program: str) -> str:
        """What to say at a program's end of the calls that had no row; empty where all had one."""
        del self._told[program]
        left_out = self._left_out.pop(program, 0)
        return f"and {left_out} more calls that went well; /programs has all of them" if left_out else ""


def program_facts(outcome: Outcome) -> JsonObject | None:
    """The figures of a finished program, by name; None for any other call.

    `bytes_kept_out`: bytes that its calls brought in and that did not go to the model.
    """
    if outcome.call.tool != "run_code" or not isinstance(outcome.data, dict):
        return None
    data = cast("JsonObject", outcome.data)
    return {
        "tool_use_id": outcome.call.id,
        "origin": str(outcome.call.origin or Origin.MODEL),
        **data,
        "bytes_kept_out": max(0, int(data["bytes_in"]) - int(data["chars_out"])),
    }
