"""How full the window is stands in the last row at once where an earlier session goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.events import Ledger
from tests.stage import turns
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

ESTIMATED = re.compile(r"ctx ~(\d+)%")
TOLD = re.compile(r"ctx (\d+)%")


async def test_a_resumed_session_shows_an_estimate_until_its_first_request(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Long answer. " * 2_000)) as on:
        await on.type("tell me all\n")
        await on.finished()
        session = on.stage.agent.session.id
    async with screen(tmp_path, turns("More."), source="resume", reference=session) as on:
        await on.until(lambda: ESTIMATED.search(on.rows[-1]) is not None)
        estimated = int(next(iter(ESTIMATED.findall(on.rows[-1]))))
        await on.type("and more\n")
        await on.until(lambda: bool(on.stage.of(Ledger)))
        await on.until(lambda: TOLD.search(on.rows[-1]) is not None)
        assert abs(int(next(iter(TOLD.findall(on.rows[-1])))) - estimated) <= 1


async def test_a_new_session_estimates_nothing(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        await on.until(lambda: "Ready." in on.shown)
        assert "ctx" not in on.rows[-1]
