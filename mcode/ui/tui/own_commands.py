"""Commands that only make sense on the full screen: its theme, and copying from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.copy import COPY
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table
from mcode.commands.theme import THEME, check_theme
from mcode.config.write import set_value
from mcode.errors import UsageError
from mcode.ui.tui.clipboard import WHERE
from mcode.ui.tui.key_screen import KeyScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import Registry
    from mcode.ui.tui.app import McodeApp


def with_own_commands(registry: Registry, front: McodeApp) -> Registry:
    """The commands of every front end, and those of this one before the last, which quits."""
    *most, last = registry
    others = [command for command in most if command.name not in {COPY.name, THEME.name}]
    return registry.of((*others, _theme(front), _mouse(front), _copy(front), _key(front), last))


def _theme(front: McodeApp) -> Command:
    async def run(context: CommandContext, arguments: Arguments) -> CommandResult:
        words = arguments.at_most(1, "/theme [name]")
        known = sorted(front.available_themes)
        if not words:
            data = [{"theme": name, "current": name == front.theme} for name in known]
            rows = [("*" if name == front.theme else "", name) for name in known]
            return CommandResult("\n".join(("Themes", table(rows))), data)
        check_theme(words[0], known, front.theme)
        front.theme = words[0]
        places = context.around.places
        set_value(places.settings_file, ("mcode", "ui", "theme"), words[0], places=places)
        return CommandResult(f"Theme: {words[0]}, kept in {places.settings_file}", {"theme": words[0]})

    def names(context: CommandContext) -> Sequence[str]:
        del context
        return sorted(front.available_themes)

    return Command("theme", "the colours of the screen", run, "[name]", complete=names)


def _mouse(front: McodeApp) -> Command:
    async def run(context: CommandContext, arguments: Arguments) -> CommandResult:
        words = arguments.at_most(1, "/mouse [on|off]")
        if words and words[0] not in {"on", "off"}:
            raise UsageError(f"/mouse is on or off, not `{words[0]}`; it stays as it is.")
        if words:
            places = context.around.places
            front.mouse.turn(on=words[0] == "on")
            set_value(places.settings_file, ("mcode", "ui", "mouse"), front.mouse.on, places=places)
        told = (
            "The mouse is mcode's: it scrolls, opens cards and selects; Shift+drag selects past mcode."
            if front.mouse.on
            else "The mouse is your terminal's: it selects and copies by itself; PgUp and PgDn scroll."
        )
        return CommandResult(told, {"mouse": front.mouse.on})

    def names(context: CommandContext) -> Sequence[str]:
        del context
        return ("on", "off")

    return Command(
        "mouse", "whether mcode takes the mouse, or your terminal", run, "[on|off]", complete=names
    )


def _copy(front: McodeApp) -> Command:
    async def run(context: CommandContext, arguments: Arguments) -> CommandResult:
        text = front.transcript.text_at_cursor()
        if arguments.rest or not text.strip():
            return await COPY.run(context, arguments)
        front.copy(text)
        told = f"Sent {len(text):,} characters of the block under the cursor {WHERE}."
        return CommandResult(told, {"characters": len(text)})

    summary = "send the last answer to the clipboard, or the n-th before it; the block under the cursor where one is"
    return Command("copy", summary, run, COPY.usage)


def _key(front: McodeApp) -> Command:
    async def run(context: CommandContext, arguments: Arguments) -> CommandResult:
        arguments.at_most(0, "/key")
        if context.agent.busy:
            raise UsageError("A key begins a new session, and a turn is running; nothing was done.")
        front.push_screen(KeyScreen(front))
        return CommandResult("", {"credential": context.around.credential})

    return Command("key", "where a key is looked for; take one for this run only, hidden", run)
