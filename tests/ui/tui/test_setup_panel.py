"""The panel of a first run without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import ColorType

from mcode.ui.look import Look
from tests.ui.tui.mockups import PLACES
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.ui.tui.screen import Driven

AROUND = {"credential": "none", "endpoint": "offline guide", "looked_at": PLACES}


async def test_only_a_number_alone_chooses_and_the_message_that_was_held_back_returns(tmp_path: Path) -> None:
    async with screen(tmp_path, around=AROUND) as on:
        await on.until(lambda: "Set up the model" in on.shown)
        await on.type("hello there")
        await on.press("enter")
        await on.until(lambda: "nothing was sent" in on.shown)
        assert on.draft == "hello there"
        await on.type(" now")
        await on.press("enter")  # refused again, and said once only
        await on.until(lambda: on.draft == "hello there now")
        assert on.shown.count("nothing was sent") == 1
        for written in ("hello there now 4", "hello there now 4 3"):  # words of the message, and no choice
            await on.type(written[-2:])
            await on.press("enter")
            await on.until(lambda written=written: on.draft == written)
            assert "Set up the model" in on.shown
        await on.press("ctrl+a", "ctrl+k")
        await on.until(lambda: not on.draft)
        await on.type("3")
        await on.press("enter")
        await on.until(lambda: on.app.unsent.demo)  # the next start brings the demo along, and the draft
        assert on.app.unsent.draft == "hello there now 4 3"


def colours(on: Driven) -> set[str]:
    """All colours of the screen but the terminal's own two."""
    styles = [
        segment.style
        for strip in on.app.screen._compositor.render_strips()
        for segment in strip
        if segment.style is not None
    ]
    named = [colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None]
    return {colour.name for colour in named if colour.type is not ColorType.DEFAULT}


async def test_24_without_a_key_and_colour_the_panel_fits_a_small_screen_and_inspectors_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")  # Textual reads it, too
    manners = Look(color=False)
    async with screen(tmp_path, around=AROUND, size=(60, 18), manners=manners) as on:
        await on.until(lambda: "Set up the model" in on.shown)
        assert all(f"  {number}  " in on.shown for number in range(1, 5))
        assert "sending is off until a key is set" in on.shown
        assert colours(on) == set()
        for command, shown in (("/tools", "RESIDENT"), ("/mcp", "MCP"), ("/permissions", "Permission mode")):
            await on.type(f"{command}\n")
            await on.until(lambda shown=shown: shown in on.shown)
            assert colours(on) == set()
            if on.app.screen is not on.app.main:
                await on.press("escape")
                await on.until(lambda: on.app.screen is on.app.main)
