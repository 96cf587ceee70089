"""The event pump: what streams waits for a key to be painted, but not for many of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.events import Notice, TextDelta
from mcode.ui.tui import pump as module
from mcode.ui.tui.pump import EventPump

if TYPE_CHECKING:
    import pytest

    from mcode.events import Event


async def test_a_key_comes_before_what_streams_and_holds_it_up_for_one_repaint_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[Event] = []
    pump = EventPump(shown.extend, stream_gap=10.0)
    pump.flush()
    pump.receive(TextDelta("a"))
    first = _due(pump)
    monkeypatch.setattr(module, "PAINT", 15.0)
    pump.key_pressed()
    later = _due(pump)
    assert first < later <= first + 6
    monkeypatch.setattr(module, "PAINT", 60.0)
    pump.key_pressed()
    assert _due(pump) == later
    assert not shown
    pump.receive(TextDelta("b"))
    pump.flush()
    assert shown == [TextDelta("ab")]
    pump.stop()


async def test_what_ends_a_block_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GAP", 0.0)
    shown: list[Event] = []
    pump = EventPump(shown.extend, stream_gap=10.0)
    pump.flush()
    pump.receive(TextDelta("a"))
    pump.receive(Notice("the end"))
    async with asyncio.timeout(60):
        while not shown:
            await asyncio.sleep(0.01)
    assert shown == [TextDelta("a"), Notice("the end")]
    pump.stop()


def _due(pump: EventPump) -> float:
    assert pump._timer is not None
    return pump._timer.when()
