"""/mode: how much mcode asks before it acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.near_words import did_you_mean
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table
from mcode.errors import UsageError
from mcode.permissions.modes import Mode, parse_mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext

CYCLE = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN)
"""The modes that one key goes through; those that ask for nothing are not among them."""

_MEANING = {
    Mode.DEFAULT: "asks before anything but reading in the workspace",
    Mode.ACCEPT_EDITS: "edits files in the workspace without asking; asks for the rest",
    Mode.PLAN: "reads and explores only",
    Mode.DONT_ASK: "never asks: what no rule allows is denied",
    Mode.BYPASS: "asks for almost nothing; only where mcode was started so",
}


def next_mode(mode: str) -> str:
    """The mode after `mode` in the cycle; the first one after a mode that is not in it."""
    names = [str(each) for each in CYCLE]
    return names[(names.index(mode) + 1) % len(names)] if mode in names else names[0]


async def _mode(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/mode [name]")
    agent = context.agent
    if not words:
        rows = [("*" if mode == agent.mode else "", str(mode), _MEANING[mode]) for mode in Mode]
        data = [
            {"mode": str(mode), "current": mode == agent.mode, "meaning": _MEANING[mode]} for mode in Mode
        ]
        return CommandResult("\n".join(("Permission modes", table(rows))), data)
    try:
        mode, notice = parse_mode(words[0])
    except ValueError:
        raise UsageError(
            f"There is no permission mode `{words[0]}`; it stays {agent.mode}.{did_you_mean(words[0], Mode)} "
            f"The modes are {', '.join(Mode)}."
        ) from None
    agent.set_mode(str(mode))
    text = f"Permission mode: {mode} ({_MEANING[mode]})."
    return CommandResult(f"{text} {notice}" if notice else text, {"mode": str(mode), "notice": notice})


def _names(context: CommandContext) -> Sequence[str]:
    del context
    return [str(mode) for mode in Mode]


MODE = Command("mode", "show or change the permission mode", _mode, "[name]", complete=_names)
