"""/copy: an answer of the model to the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult, CopyText
from mcode.errors import UsageError
from mcode.events import AssistantMessage

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext

_USAGE = "/copy [n]"


async def _copy(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, _USAGE)
    number = words[0] if words else "1"
    if not (number.isascii() and number.isdecimal()) or int(number) < 1:
        raise UsageError(f"{number!r} is no number of an answer, 1 being the last. Usage: {_USAGE}")
    answers = [
        text
        for event in context.agent.transcript()
        if isinstance(event, AssistantMessage) and event.parent is None and (text := _text_of(event))
    ]
    if int(number) > len(answers):
        raise UsageError(f"This session has {len(answers)} answers, so there is no {number}. from the end.")
    text = answers[-int(number)]
    return CommandResult(text, {"text": text}, CopyText(text))


def _text_of(event: AssistantMessage) -> str:
    blocks = event.message.get("content", ())
    return "\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()


COPY = Command("copy", "copy the last answer, or the n-th before it", _copy, "[n]")
