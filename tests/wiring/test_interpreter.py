"""What keeps the interpreter from holding up the loop: full passes come behind a turn, threads hand over at once."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from mcode.wiring.interpreter import AT_ANY_TIME, DUE, HAND_OVER
from tests.stage import stage, turns
from tests.waiting import until

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
        held = [[number] for number in range(100_000)]  # so many new ones call for a full pass
        assert full_passes() == before
        del held
        await here.say("first")
        await until(lambda: full_passes() == before + 1)


def manners() -> tuple[int, float]:
    return gc.get_threshold()[2], round(sys.getswitchinterval(), 6)


async def test_the_interpreter_is_left_as_it_was_when_the_last_session_is_closed(tmp_path: Path) -> None:
    usual = manners()
    async with stage(tmp_path / "one", turns("one")):
        async with stage(tmp_path / "two", turns("two")):
            assert manners() == (AT_ANY_TIME, HAND_OVER)
        assert manners() == (AT_ANY_TIME, HAND_OVER)
    assert manners() == usual
