"""/theme where nothing is drawn: which theme the full screen has, and another one for its next start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.near_words import did_you_mean
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.config.write import set_value
from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext

THEMES = (
    "ansi-dark",
    "ansi-light",
    "atom-one-dark",
    "atom-one-light",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "dracula",
    "flexoki",
    "gruvbox",
    "monokai",
    "nord",
    "rose-pine",
    "rose-pine-dawn",
    "rose-pine-moon",
    "solarized-dark",
    "solarized-light",
    "textual-dark",
    "textual-light",
    "tokyo-night",
)
"""Themes of the full screen. They are named here as well, since the library that has them is slow to load."""

_USUAL = "ansi-dark or ansi-light, as your terminal's background is"


async def _theme(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/theme [name]")
    places = context.around.places
    name = context.agent.settings.own.ui.theme
    if words:
        check_theme(words[0], THEMES, name or "as it was")
        set_value(places.settings_file, ("mcode", "ui", "theme"), words[0], places=places)
        told = f"The full screen begins with the theme {words[0]}; kept in {places.settings_file}."
        return CommandResult(told, {"theme": words[0]})
    told = (
        f"Theme of the full screen: {name or _USUAL}. Lines have no theme; NO_COLOR takes their colour away.\n"
        f"The themes are {', '.join(THEMES)}."
    )
    return CommandResult(told, [{"theme": each, "current": each == name} for each in THEMES])


def check_theme(name: str, known: Sequence[str], now: str) -> None:
    """Raises UsageError where there is no theme of that name; `now` is the one that stays."""
    if name not in known:
        near = did_you_mean(name, known)
        raise UsageError(
            f"There is no theme `{name}`; it stays {now}.{near} The themes are {', '.join(known)}."
        )


THEME = Command("theme", "the colours of the full screen", _theme, "[name]", complete=lambda context: THEMES)
