"""The user's own status line stands above mcode's, and takes no row where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stage import turns
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_the_status_command_prints_stands_above_the_last_row(tmp_path: Path) -> None:
    settings = {"statusLine": {"type": "command", "command": "printf 'on [bold]main[/]\\nsecond row'"}}
    async with screen(tmp_path, turns("Yes."), settings=settings) as on:
        await on.until(lambda: on.rows[-3:-1] == [" on [bold]main[/]", " second row"])
        assert "scripted-1" in on.rows[-1]
        await on.type("hello\n")
        await on.until(lambda: "Yes." in on.shown)
        assert on.rows[-3:-1] == [" on [bold]main[/]", " second row"]


async def test_without_a_status_command_the_prompt_stands_right_above_the_last_row(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        assert on.rows[-2].startswith("└")
