"""/export: the conversation as a plain text file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.call import Status
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural
from mcode.errors import StorageError, UsageError
from mcode.events import AssistantMessage, Notice, ToolFinished, TurnStarted
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.commands.host import CommandContext
    from mcode.events import Event

_RESULT_LINES = 40
"""Lines of one tool result that the file holds; the session file has all of it."""


async def _export(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/export [file]")
    agent, around = context.agent, context.around
    text = around.masker.mask(clean(transcript_text(agent.transcript()), Kind.BLOCK))
    if not text.strip():
        raise UsageError("There is nothing to export yet: the conversation is empty. No file was written.")
    named = words[0] if words else f"mcode-{agent.session.id[:8]}.txt"
    path = agent.workspace.start / Path(named).expanduser()
    await asyncio.to_thread(_write_new, path, text)
    lines = len(text.splitlines())
    return CommandResult(
        f"Exported {plural(lines, 'line')} to {path}. Secrets that mcode knows are masked; read it before "
        "you pass it on.",
        {"path": str(path), "lines": lines},
    )


def transcript_text(events: Iterable[Event]) -> str:
    """The conversation as plain text, with who speaks in front of each block."""
    return "\n\n".join(block for event in events if (block := _block(event)))


def _block(event: Event) -> str:
    match event:
        case TurnStarted(text=text):
            return f"You: {text}"
        case AssistantMessage(message=message, complete=complete):
            said = "\n\n".join(
                str(part.get("text", "")) for part in message.get("content", []) if part.get("type") == "text"
            ).strip()
            return f"Assistant: {said}{'' if complete else ' [cut off]'}" if said else ""
        case ToolFinished(outcome=outcome):
            word = "FAIL" if outcome.status is Status.FAILED else str(outcome.status)
            call = outcome.call
            arguments = ", ".join(f"{key}={value}" for key, value in call.arguments.items())
            head = f"Tool: {word} {call.tool} {' '.join(arguments.split())[:200]}"
            return f"{head}\n{_indented(outcome.text)}".rstrip()
        case Notice(text=text):
            return f"Notice: {text}"
        case _:
            return ""


def _indented(text: str) -> str:
    lines = text.splitlines()
    shown = [f"    {line}" for line in lines[:_RESULT_LINES]]
    if len(lines) > _RESULT_LINES:
        shown.append(f"    ({len(lines) - _RESULT_LINES} more lines)")
    return "\n".join(shown)


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(text + "\n")
    except FileExistsError:
        raise UsageError(f"{path} exists and was left as it is; name another file: /export FILE") from None
    except OSError as error:
        raise StorageError(f"The export could not be written to {path}: {error.strerror}.") from None


EXPORT = Command("export", "write the conversation to a text file, secrets masked", _export, "[file]")
