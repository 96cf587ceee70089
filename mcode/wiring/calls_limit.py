"""The limit of calls that the model makes in one turn; at the limit the user is asked whether to go on (L-05)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.turn import CallsLimit
from mcode.call import Call, Origin
from mcode.tool import Choice, Question

if TYPE_CHECKING:
    from mcode.config.settings import OwnSettings
    from mcode.pipeline.ask import Desk

GO_ON, END = "Go on", "End the turn"


def calls_limit(own: OwnSettings, desk: Desk) -> CallsLimit | None:
    """The limit of the setting `mcode.maxCallsPerTurn`; None where it is 0. Nobody there to ask: no limit."""
    most = own.max_calls_per_turn
    if not most:
        return None

    async def may_go_on(made: int) -> bool:
        if not desk.attached:
            return True
        text = (
            f"The model has made {made} calls in this turn; you are asked after every {most} "
            "(mcode.maxCallsPerTurn; 0 for never). Shall it go on?"
        )
        choices = (
            Choice(GO_ON, f"it may make {most} more before you are asked again"),
            Choice(END, "what was done stays; say how to proceed"),
        )
        call = Call("calls-limit", "mcode", {}, Origin.USER)
        return await desk.question(call, (Question(text, "Limit", choices),)) == ((GO_ON,),)

    return CallsLimit(most, may_go_on)
