"""The panel of a first run without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.tui.mockups import PLACES
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

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
