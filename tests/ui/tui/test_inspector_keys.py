"""What inspectors say of the row under the cursor and of what is typed into their boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.ui.tui.table_inspector import TableInspector
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("size", [(100, 30), (60, 18)])
async def test_help_says_all_of_the_command_under_the_cursor_however_narrow_the_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with screen(tmp_path, size=size) as on:
        await on.type("/help\n")
        await on.until(lambda: on.shown.startswith(" /help"))
        for name in ("tools", "context"):
            command = on.app.registry.find(name)
            assert command is not None
            page = on.app.screen
            assert isinstance(page, TableInspector)
            while (page.picked or {})["name"] != name:
                await on.press("down")
            whole = f"/{name} {command.usage}: {command.summary}"
            await on.until(lambda whole=whole: whole in " ".join(on.shown.split()))


async def test_a_command_typed_into_a_search_box_is_told_to_be_one(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        await on.press("slash")
        await on.type("context")
        await on.until(lambda: "/context is a command, too: Esc Esc, then type it at the prompt" in on.shown)
        await on.type("s")
        await on.until(lambda: "is a command" not in on.shown)
        assert "/ search" in on.shown
