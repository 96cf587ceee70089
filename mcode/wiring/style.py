"""The output style that the settings name, and options that a resumed session cannot follow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.events import Notice

if TYPE_CHECKING:
    from mcode.agent.conversation import Conversation
    from mcode.agent.style import Style
    from mcode.events import EventBus
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench


async def begin_style(bench: Workbench, style: Style, events: EventBus) -> None:
    """Read the files only where a style is named that is not mcode's own."""
    named = bench.settings.output_style
    if not named or named.lower() == "default":
        return
    from mcode.config.output_styles import load_styles

    found = (await asyncio.to_thread(load_styles, bench.places, bench.start)).get(named.lower())
    if found is None:
        events.emit(
            Notice(f"There is no output style `{named}`; /output-style lists those there are.", "warning")
        )
    style.begin(found)


def unheard(options: Options, conversation: Conversation) -> tuple[Notice, ...]:
    """What the command line says of the system prompt, where the session's stands already."""
    if conversation.prefix is None or not (options.system_prompt or options.append_system_prompt):
        return ()
    text = (
        "This session keeps the system prompt that it began with: --system-prompt and --append-system-prompt "
        "count for new sessions. /compact begins with the present one."
    )
    return (Notice(text, "warning"),)
