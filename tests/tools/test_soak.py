"""A few hundred calls in one session; `python -m tools.soak` makes five thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.soak import run

if TYPE_CHECKING:
    from pathlib import Path


async def test_l_02_l_04_a_session_with_many_calls_stays_level(tmp_path: Path) -> None:
    soaked = await run(tmp_path.resolve(), 200)
    assert soaked.calls == 200
    assert soaked.growth < 15, "a tenth of the calls may bring a third of the growth: caches fill up first"
    before, after = soaked.descriptors
    assert after <= before + 2
    assert soaked.children == 0
