"""An Enter right behind a key waits to see what follows it, on a clock of the test."""

from __future__ import annotations

import asyncio

from mcode.ui.tui.enter_guard import EnterGuard
from tests.ui.clock import Clock, at_ones_own_pace


def guarded() -> tuple[EnterGuard, list[str]]:
    became: list[str] = []
    return EnterGuard(send=lambda: became.append("sent"), keep=lambda: became.append("kept")), became


def typed_in_one_go(guard: EnterGuard, moment: float) -> None:
    for _ in "a line":
        guard.key(moment, printable=True)
    guard.key(moment, printable=False)
    guard.enter()


@at_ones_own_pace
async def test_an_enter_that_nothing_follows_is_sent() -> None:
    guard, became = guarded()
    typed_in_one_go(guard, 1.0)
    assert guard.waits
    await asyncio.sleep(0.1)
    assert became == ["sent"]


@at_ones_own_pace
async def test_an_enter_in_a_paste_is_kept_although_the_loop_is_held_up_before_the_rest_is_read() -> None:
    guard, became = guarded()
    typed_in_one_go(guard, 1.0)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Clock)
    loop.now += 0.5
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert guard.waits
    guard.key(1.0, printable=True)
    assert became == ["kept"]
