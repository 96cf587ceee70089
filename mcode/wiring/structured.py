"""`--json-schema`: the tool that takes the answer, and the reminders of a model that would end without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.builtins.structured_output import NAME, StructuredOutput
from mcode.errors import UsageError
from mcode.jsontext import JsonError, parse_object
from mcode.pipeline.hook_verdicts import StopVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.agent.turn import TurnHooks
    from mcode.call import Outcome
    from mcode.pipeline.hook_verdicts import PromptVerdict, Reaction

REMINDERS = 3
"""Times in one turn that the model is sent back for its answer."""


@dataclass(slots=True)
class Structured:
    """Stands between a turn and its hooks."""

    hooks: TurnHooks
    tool: StructuredOutput
    _reminded: int = field(default=0, init=False)

    async def prompt_submitted(self, text: str) -> PromptVerdict:
        self._reminded = 0
        self.tool.answers.clear()
        return await self.hooks.prompt_submitted(text)

    async def calls_ended(self, outcomes: Sequence[Outcome]) -> Reaction:
        return await self.hooks.calls_ended(outcomes)

    async def stop(self, last_message: str, *, active: bool) -> StopVerdict:
        if not self.tool.answers and self._reminded < REMINDERS:
            self._reminded += 1
            return StopVerdict(f"Your answer counts only through {NAME}. Call it now, with the whole answer.")
        return await self.hooks.stop(last_message, active=active)


def structured_tool(schema: str) -> StructuredOutput:
    """The tool for a schema given as JSON text; raises UsageError."""
    try:
        return StructuredOutput(parse_object(schema))
    except JsonError as error:
        raise UsageError(
            f"--json-schema takes a JSON Schema, an object: {error}. Nothing was started."
        ) from None
