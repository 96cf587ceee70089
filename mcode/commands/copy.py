"""/copy: an answer of the model to the clipboard."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.near_words import did_you_mean
from mcode.commands.registry import Arguments, Command, CommandResult, CopyText
from mcode.commands.tables import plural
from mcode.errors import UsageError
from mcode.events import AssistantMessage
from mcode.files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.host import CommandContext

_USAGE = "/copy [file] [n]"


async def _copy(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(2, _USAGE)
    to_file = words[:1] == ("file",)
    words = words[1:] if to_file else words
    if len(words) > 1:
        raise UsageError(f"Nothing was copied. Usage: {_USAGE}")
    number = words[0] if words else "1"
    if not (number.isascii() and number.isdecimal()) or int(number) < 1:
        raise UsageError(
            f"{number!r} is no number of an answer, 1 being the last; nothing was copied."
            f"{did_you_mean(number, ('file',))} Usage: {_USAGE}"
        )
    answers = [
        text
        for event in context.agent.transcript()
        if isinstance(event, AssistantMessage) and event.parent is None and (text := _text_of(event))
    ]
    if int(number) > len(answers):
        has = f"has {plural(len(answers), 'answer')}" if answers else "has no answer yet"
        raise UsageError(f"This session {has}; nothing was copied. /copy N takes the N-th from the end.")
    text = answers[-int(number)]
    if to_file:
        path = context.agent.session.directory / f"answer-{len(answers) - int(number) + 1}.md"
        await asyncio.to_thread(_write, path, text)
        return CommandResult(f"The answer is in {path}", {"path": str(path)})
    return CommandResult(text, {"text": text}, CopyText(text))


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, f"{text}\n".encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"The answer was not written to {path}: {error.strerror or error}.") from None


def _text_of(event: AssistantMessage) -> str:
    blocks = event.message.get("content", ())
    return "\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()


COPY = Command(
    "copy",
    "copy the last answer, or the n-th before it; to a file where the clipboard is out of reach",
    _copy,
    "[file] [n]",
)
