"""/output-style: which instructions stand in front of the conversation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.near_words import did_you_mean
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table
from mcode.errors import UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext

_WHERE = "Styles are files of .mcode/output-styles or .claude/output-styles, here or in your home."


async def _style(context: CommandContext, arguments: Arguments) -> CommandResult:
    from mcode.config.output_styles import DEFAULT, load_styles

    agent = context.agent
    words = arguments.at_most(1, "/output-style [name]")
    styles = await asyncio.to_thread(load_styles, context.around.places, agent.workspace.start)
    now = agent.style.name or DEFAULT
    if not words:
        names = [
            (DEFAULT, "mcode's own instructions"),
            *((each.name, each.description) for each in styles.values()),
        ]
        rows = [("*" if name.lower() == now.lower() else "", name, about) for name, about in names]
        data = [{"name": name, "current": mark == "*", "description": about} for mark, name, about in rows]
        return CommandResult("\n".join(("Output styles", table(rows), _WHERE)), data, foot=_WHERE)
    if agent.busy:
        raise UsageError(f"A turn runs; the style stays {now}. Switch it when the turn has ended.")
    chosen = styles.get(words[0].lower())
    if chosen is None and words[0].lower() != DEFAULT:
        known = (DEFAULT, *(each.name for each in styles.values()))
        raise UsageError(
            f"There is no output style {words[0]!r}; it stays {now}.{did_you_mean(words[0], known)} There "
            f"{'are' if len(known) > 1 else 'is'} {', '.join(known)}. {_WHERE}"
        )
    agent.style.use(chosen)
    name = chosen.name if chosen else DEFAULT
    text = f"Output style {name}, in this session. `outputStyle` in a settings file keeps one."
    return CommandResult(text, {"style": name})


OUTPUT_STYLE = Command("output-style", "how the model answers, by files of styles", _style, "[name]")
