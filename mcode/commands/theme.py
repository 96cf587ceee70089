"""/theme where nothing is drawn: which theme the full screen has, and another one for its next start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.config.write import set_value

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext

_USUAL = "ansi"
"""The terminal's own colours, dark or light as it says."""


async def _theme(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/theme [name]")
    places = context.around.places
    if words:
        set_value(places.settings_file, ("mcode", "ui", "theme"), words[0], places=places)
        told = f"The full screen begins with the theme {words[0]}, if it has one of that name"
        return CommandResult(f"{told}; kept in {places.settings_file}.", {"theme": words[0]})
    name = context.agent.settings.own.ui.theme or _USUAL
    told = f"Theme of the full screen: {name}. Lines have no theme; NO_COLOR takes their colour away."
    return CommandResult(told, [{"theme": name, "current": True}])


THEME = Command("theme", "the colours of the full screen", _theme, "[name]")
