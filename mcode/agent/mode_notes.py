"""Notes to the model when plan mode begins and when it ends: each once, before the request that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.agent.conversation import Folded
    from mcode.jsontext import JsonObject

PLAN = "plan"
EXIT = "ExitPlanMode"

BEGINS = (
    "<mode>\nThe user has switched to permission mode plan: read and explore only, everything that changes something "
    f"is denied. Work out a plan and present it with {EXIT}. Only the user ends this mode.\n</mode>"
)
ENDS = "<mode>\nMode plan has ended; the permission mode is {mode}.\n</mode>"


def mode_note(conversation: Folded, mode: str) -> JsonObject | None:
    """The body of a `context` record that tells of the mode; None where the model knows."""
    if mode == PLAN and conversation.mode_told != PLAN:
        return {"content": BEGINS, "mode_told": PLAN}
    if mode != PLAN and conversation.mode_told == PLAN:
        return {"content": ENDS.format(mode=mode), "mode_told": mode}
    return None
