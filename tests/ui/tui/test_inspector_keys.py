"""What inspectors say of the row under the cursor and of what is typed into their boxes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input
from typing_extensions import override

from mcode.ui.tui.inspector import TextInspector
from mcode.ui.tui.table_inspector import TableInspector
from tests.catalog.stand_ins import ServerTool, join
from tests.commands.test_mcp import Steered
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


@dataclass(slots=True)
class Slow(Steered):
    """Servers that connect when they are let."""

    let: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    async def reconnect(self, name: str) -> str:
        await self.let.wait()
        return await Steered.reconnect(self, name)


async def test_a_key_that_takes_its_time_says_so_and_what_came_of_it_is_told_even_after_escape(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path) as on:
        servers = Slow()
        join(on.stage, [ServerTool("far", "tool", "Does it.")], servers, transport="http")
        await on.type("/mcp\n")
        await on.until(lambda: "far" in on.shown and "http" in on.shown)
        await on.press("r")
        await on.until(lambda: "/mcp reconnect far: under way" in on.shown)
        servers.let.set()
        await on.until(lambda: "far is connected again." in on.shown)
        servers.let.clear()
        await on.press("r")
        await on.press("escape")
        await on.until(lambda: on.app.screen is on.app.main)
        assert "far is connected again." not in on.shown
        servers.let.set()
        await on.until(lambda: "far is connected again." in on.shown)


async def test_an_answer_of_many_rows_has_a_screen_of_its_own_where_it_would_take_that_of_the_table(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path, size=(60, 18)) as on:
        join(on.stage, [ServerTool("far", "tool", "Does it.")], Steered(), transport="http")
        await on.type("/mcp\n")
        await on.until(lambda: isinstance(on.app.screen, TableInspector) and "far" in on.shown)
        await on.press("enter")
        await on.until(lambda: isinstance(on.app.screen, TextInspector))
        await on.until(lambda: "always loaded" in on.shown)
        assert on.shown.splitlines()[0].endswith("Esc close")


async def test_on_a_low_screen_the_table_has_the_rows_and_its_foot_one(tmp_path: Path) -> None:
    async with screen(tmp_path, size=(45, 15)) as on:
        await on.type("/tools\n")
        await on.until(lambda: "tools in every request" in on.shown and "Glob" in on.shown)
        assert "with nothing deferred" not in on.shown
        assert sum(name in on.shown for name in ("AskUserQuestion", "Bash", "Edit", "Glob")) == 4


async def test_c_copies_the_row_under_the_cursor_and_says_so_where_the_user_looks(tmp_path: Path) -> None:
    async with screen(tmp_path, environment={"PATH": "/nowhere"}) as on:
        await on.type("/theme\n")
        await on.until(lambda: on.shown.startswith(" /theme"))
        await on.press("c")
        await on.until(lambda: "This row as JSON: sent to the terminal" in on.shown)
        assert on.app.clipboard == '{"theme":"ansi-dark","current":true}'


@pytest.mark.parametrize(("command", "title"), [("/theme", " /theme"), ("/cost", " /cost")])
async def test_words_typed_in_one_go_behind_the_slash_stand_in_the_box_and_do_nothing_else(
    tmp_path: Path, command: str, title: str
) -> None:
    async with screen(tmp_path) as on:
        await on.type(f"{command}\n")
        await on.until(lambda: on.shown.startswith(title))
        await on.type("/c ry/x")
        await on.until(lambda: [box.value for box in on.app.screen.query(Input)] == ["c ry/x"])
        assert on.app.clipboard == ""
