"""The six states of the screen: dark, light, ASCII, 60 columns. MCODE_NEW_PICTURES=1 takes the pictures anew."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.scrollbar import ScrollBar, ScrollBarRender

from mcode.ui.tui.look import PlainBar
from tests.ui.tui.mockups import SCENES, picture, played

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.tui.screen import Driven

PICTURES = Path(__file__).parent / "pictures"


@pytest.fixture(autouse=True)
def bars() -> Iterator[None]:
    yield
    ScrollBar.renderer = ScrollBarRender


@pytest.mark.parametrize("scene", SCENES)
async def test_the_pictures_of_a_state(scene: str, tmp_path: Path) -> None:
    async with played(tmp_path, scene) as on:
        await looks_like(f"{scene}-dark", on)
        on.app.theme = "ansi-light"
        await looks_like(f"{scene}-light", on)
        await on.pilot.resize_terminal(60, 24)
        await looks_like(f"{scene}-60", on, styled=False)
        assert all(len(row) <= 60 for row in on.rows)
        make_plain(on)
        await on.pilot.resize_terminal(100, 30)
        await looks_like(f"{scene}-ascii", on, styled=False)
        assert on.shown.isascii(), [row for row in on.rows if not row.isascii()]


async def looks_like(name: str, on: Driven, *, styled: bool = True) -> None:
    """Wait until the screen is the picture of this name."""
    file = PICTURES / f"{name}.txt"
    if os.environ.get("MCODE_NEW_PICTURES"):
        await on.rest(0.5)
        file.write_text(picture(on, styled=styled), "utf-8")
    expected = file.read_text("utf-8")
    with suppress(AssertionError):  # the difference is told below
        await on.until(lambda: picture(on, styled=styled) == expected)
    assert picture(on, styled=styled) == expected, name


def make_plain(on: Driven) -> None:
    """As where the locale shows nothing but ASCII; found out at the start otherwise."""
    app = on.app
    app.unicode = False
    ScrollBar.renderer = PlainBar
    for widget in (app.prompt, app.panel, app.setup, app.screen):
        widget.add_class("ascii")
    app.theme = "ansi-dark"
