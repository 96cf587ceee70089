"""Full passes of the garbage collector come behind a turn or a request, not in the middle of either."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from mcode.wiring.full_passes import AT_ANY_TIME, DUE
from tests.mcp.live import until
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


def full_passes() -> int:
    return gc.get_stats()[2]["collections"]


def let_a_full_pass_become_due() -> None:
    gc.collect()
    for _ in range(DUE):
        gc.collect(1)


async def test_a_full_pass_that_is_due_comes_behind_the_turn_and_only_then(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("one")) as here:
        let_a_full_pass_become_due()
        before = full_passes()
        for _ in range(100_000):  # enough for the collector to come by a hundred times
            cycle: list[object] = []
            cycle.append(cycle)
        assert full_passes() == before
        await here.say("first")
        await until(lambda: full_passes() == before + 1)


async def test_the_collector_is_left_as_it_was_when_the_last_session_is_closed(tmp_path: Path) -> None:
    usual = gc.get_threshold()
    async with stage(tmp_path / "one", turns("one")):
        async with stage(tmp_path / "two", turns("two")):
            assert gc.get_threshold() == (*usual[:2], AT_ANY_TIME)
        assert gc.get_threshold() == (*usual[:2], AT_ANY_TIME)
    assert gc.get_threshold() == usual
