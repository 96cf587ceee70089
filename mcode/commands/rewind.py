"""/rewind: going back to the moment before a message of the user's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult, Redraw
from mcode.commands.tables import plural, table, tokens
from mcode.errors import UsageError
from mcode.session.rewind import Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.agent.history import Part
    from mcode.agent.rewinding import Checkpoint, Rewound
    from mcode.agent.tracked_changes import TrackedChanges
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.session.rewind import FileResult

_ARGUMENTS = "[N [both|conversation|files] | N summarise-from|summarise-up-to [HINT] | undo]"
USAGE = f"/rewind {_ARGUMENTS}"
_PARTS: dict[str, Part] = {
    "summarise-from": "from",
    "summarise-up-to": "before",
    "summarize-from": "from",
    "summarize-up-to": "before",
}
"""What a summary takes the place of."""
_WHAT = {"both": (True, True), "conversation": (False, True), "files": (True, False)}
"""Whether files and conversation go back."""
_LISTED = 30
_NAMED = 8
"""Files of shell commands that are named."""


async def _rewind(context: CommandContext, arguments: Arguments) -> CommandResult:
    wish = _summary_wish(arguments.rest)
    words = arguments.at_most(2, USAGE) if wish is None else ()
    if not words and wish is None:
        return await _listing(context)
    if context.agent.busy:
        raise UsageError(
            "/rewind changes what a running turn builds on; nothing was done. Interrupt the turn first."
        )
    if wish:
        return await _summarise(context, *wish)
    async with context.agent.room.by_user:
        return await _go_back(context, words, arguments.rest)


async def _go_back(context: CommandContext, words: Sequence[str], typed: str) -> CommandResult:
    if words[0] == "undo":
        done = await context.agent.rewinding.undo_rewind()
        return CommandResult(_told(done, "The files are as before the last rewind."), _as_object(done))
    what = words[1] if len(words) > 1 else "both"
    if not words[0].isdecimal() or what not in _WHAT:
        raise UsageError(f"`/rewind {typed}` is not understood; nothing was changed. Usage: {USAGE}")
    files, conversation = _WHAT[what]
    done = await context.agent.rewinding.rewind(int(words[0]), files=files, conversation=conversation)
    heading = (
        f"Back to the moment before message {words[0]}; the message is in your draft."
        if conversation
        else f"The conversation stays; files are back to the moment before message {words[0]}."
    )
    gone = "what stands above from there on is no longer part of the conversation"
    remark = f"rewound to before message {words[0]}: {gone}"
    action = Redraw(done.draft, int(words[0]), remark) if conversation else None
    return CommandResult(_told(done, heading), _as_object(done), action)


def _summary_wish(rest: str) -> tuple[int, Part, str] | None:
    """The message, the part and the hint of `N summarise-from HINT`; None where something else is wished."""
    number, word, hint = (*rest.split(maxsplit=2), "", "", "")[:3]
    return (int(number), _PARTS[word], hint) if number.isdecimal() and word in _PARTS else None


async def _summarise(context: CommandContext, turn: int, part: Part, hint: str) -> CommandResult:
    points = await asyncio.to_thread(context.agent.rewinding.checkpoints)
    chosen = next((each for each in points if each.turn == turn), None)
    if chosen is None:
        raise UsageError(
            f"There is no message {turn} to summarise at; nothing was changed. /rewind lists them."
        )
    made = await context.agent.room.summarise_part(turn, part, hint)
    if made is None:
        data: JsonObject = {"before": 0, "after": 0}
        return CommandResult("A hook stands against it; nothing was summarised.", data, failed=True)
    what = f"message {turn} and what followed" if part == "from" else f"what came before message {turn}"
    stays = (
        "What came before it stays whole" if part == "from" else "The message and what followed stay whole"
    )
    lines = [
        f"A summary stands for {what}: from {tokens(made.before)} to {tokens(made.after)} tokens.",
        f"{stays}; files are as they were. /rewind goes back across the summary.",
        made.summary,
    ]
    data = {"before": made.before, "after": made.after, "summary": made.summary, "turn": turn, "part": part}
    remark = f"a summary stands for {what}: the model no longer has it word for word"
    return CommandResult(
        "\n".join(lines), data, Redraw(chosen.text, remark=remark) if part == "from" else None
    )


async def _listing(context: CommandContext) -> CommandResult:
    rewinding = context.agent.rewinding
    points = rewinding.checkpoints()
    if not points:
        return CommandResult("No message has been sent yet, so there is nothing to go back to.", [])
    counts = await asyncio.to_thread(lambda: [len(rewinding.changes_since(point.turn)) for point in points])
    data = [
        {"turn": point.turn, "text": point.text, "time": point.time, "files_changed_since": count}
        for point, count in zip(points, counts, strict=True)
    ]
    shown = list(zip(points, counts, strict=True))[-_LISTED:]
    rows = [(str(point.turn), _first_line(point), _since(count)) for point, count in reversed(shown)]
    lines = [
        "Messages that you can go back to, the last one first",
        table(rows, right=frozenset({0})),
        f"{USAGE}: the moment before that message. Without a word behind the number both go back.",
        "A summary takes the place of that message and what followed, or of what came before; the rest stays.",
        "Files are put back only where they still are as mcode left them; what shell commands did stays.",
    ]
    return CommandResult("\n".join(lines), data)


def _first_line(point: Checkpoint) -> str:
    line = point.text.strip().splitlines()[0] if point.text.strip() else "(nothing)"
    return line if len(line) <= 50 else line[:49] + "~"


def _since(count: int) -> str:
    return f"{plural(count, 'file')} changed since" if count else "no file changed since"


def _told(done: Rewound, heading: str) -> str:
    lines = [heading]
    lines += [_file_line(result) for result in done.files]
    if not done.files:
        lines.append("  No file had to be put back.")
    if done.shell_commands:
        lines.append(
            f"  {plural(done.shell_commands, 'shell command')} ran since then; what they changed is not undone."
        )
    if done.shell_changes is not None:
        lines.append(f"  {_changes_line(done.shell_changes)}")
    return "\n".join(lines)


def _changes_line(changes: TrackedChanges) -> str:
    if changes.unknown:
        return f"How many tracked files they changed cannot be told: {changes.unknown}."
    if not changes.paths:
        return "Against the commit of that moment, bash changed no tracked file."
    named = ", ".join(changes.paths[:_NAMED])
    more = f", and {len(changes.paths) - _NAMED} more" if len(changes.paths) > _NAMED else ""
    others = "What others changed since then is counted with them."
    return f"bash changed {plural(len(changes.paths), 'tracked file')}, not undone: {named}{more}. {others}"


def _file_line(result: FileResult) -> str:
    if result.fate is not Fate.KEPT:
        return f"  {result.fate}: {result.path}"
    copy = f" Its old version is in {result.copy}." if result.copy else ""
    return f"  kept as it is: {result.path}: {result.reason}.{copy}"


def _as_object(done: Rewound) -> JsonObject:
    return {
        "files": [
            {
                "path": result.path,
                "fate": str(result.fate),
                "reason": result.reason,
                "copy": str(result.copy) if result.copy else None,
            }
            for result in done.files
        ],
        "shell_commands": done.shell_commands,
        "shell_changes": _changes_object(done.shell_changes),
        "draft": done.draft,
    }


def _changes_object(changes: TrackedChanges | None) -> JsonObject | None:
    return None if changes is None else {"paths": list(changes.paths), "unknown": changes.unknown}


REWIND = Command(
    "rewind",
    "go back to the moment before a message: conversation, files, or both; or summarise from it on, or up to it",
    _rewind,
    _ARGUMENTS,
    aliases=("undo",),
)
