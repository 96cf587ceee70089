"""When a question is asked, and from when on a key answers it; with a real event loop on a clock of the test."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import pytest

from mcode.call import Call
from mcode.events import ApprovalRequested
from mcode.tool import Preview
from mcode.ui.asking import Asking
from tests.ui.clock import Clock, at_ones_own_pace

if TYPE_CHECKING:
    from mcode.ui.asking import Request

IDLE, ARM = 0.06, 0.04


@dataclass
class Prompt:
    """A draft, and what was asked."""

    draft: str = ""
    asked: list[Request] = field(default_factory=list["Request"])

    def asking(self) -> Asking:
        return Asking(
            idle=IDLE,
            arm=ARM,
            may_ask=lambda: not self.draft,
            ask=self.asked.append,
            counts=lambda: None,
        )


def approval(identifier: str) -> ApprovalRequested:
    return ApprovalRequested(identifier, Call(identifier, "Bash", {}), Preview("x"), "why", ())


@at_ones_own_pace
async def test_it_is_asked_after_the_hands_have_rested_and_counts_a_little_later() -> None:
    prompt = Prompt()
    asking = prompt.asking()
    asking.add(approval("a"))
    for _ in range(4):
        await asyncio.sleep(IDLE / 2)
        asking.key_pressed()
        assert not prompt.asked
    await asyncio.sleep(IDLE + ARM / 2)
    assert len(prompt.asked) == 1
    assert not asking.armed
    await asyncio.sleep(ARM)
    assert asking.armed


@at_ones_own_pace
async def test_with_a_draft_it_is_never_asked_however_long_the_pause() -> None:
    prompt = Prompt(draft="half")
    asking = prompt.asking()
    asking.add(approval("a"))
    await asyncio.sleep(3 * IDLE)
    asking.key_pressed()
    await asyncio.sleep(3 * IDLE)
    assert not prompt.asked
    prompt.draft = ""
    asking.draft_done()
    await asyncio.sleep(1.5 * IDLE)
    assert len(prompt.asked) == 1


@at_ones_own_pace
async def test_p_17_the_next_one_begins_anew_with_its_own_rest_and_its_own_delay() -> None:
    prompt = Prompt()
    asking = prompt.asking()
    asking.add(approval("a"))
    asking.add(approval("b"))
    await asyncio.sleep(IDLE + 2 * ARM)
    assert asking.armed
    assert asking.position(asking.waiting[0]) == "1 of 2"
    assert asking.remove("a")
    assert asking.asked is None
    assert not asking.armed
    await asyncio.sleep(IDLE / 2)
    assert len(prompt.asked) == 1
    await asyncio.sleep(IDLE)
    assert asking.asked == asking.waiting[0]
    assert asking.position(asking.waiting[0]) == "1 of 1"


@at_ones_own_pace
async def test_turning_away_puts_it_off_until_tab_or_the_next_draft() -> None:
    prompt = Prompt()
    asking = prompt.asking()
    asking.add(approval("a"))
    await asyncio.sleep(1.5 * IDLE)
    asking.step_back(put_off=True)
    await asyncio.sleep(3 * IDLE)
    assert len(prompt.asked) == 1
    asking.ask_now()
    assert len(prompt.asked) == 2
    assert not asking.armed
    asking.step_back(put_off=True)
    asking.draft_done()
    await asyncio.sleep(1.5 * IDLE)
    assert len(prompt.asked) == 3


@at_ones_own_pace
async def test_keys_read_after_the_loop_was_held_up_come_before_the_moment_from_which_they_count() -> None:
    prompt = Prompt()
    asking = prompt.asking()
    asking.add(approval("a"))
    asking.ask_now()
    seen: list[bool] = []
    loop = asyncio.get_running_loop()
    reading, writing = _pipe()

    def key_read() -> None:
        loop.remove_reader(reading)
        seen.append(asking.armed)

    loop.add_reader(reading, key_read)
    writing.write(b"y")
    writing.flush()
    assert isinstance(loop, Clock)
    loop.now += 3 * ARM
    await asyncio.sleep(IDLE)
    assert asking.armed
    assert seen == [False]
    reading.close()
    writing.close()


@at_ones_own_pace
async def test_one_that_could_not_be_shown_is_not_taken_for_asked() -> None:
    asking = Asking(idle=IDLE, arm=ARM, may_ask=lambda: True, ask=_fail, counts=lambda: None)
    asking.add(approval("a"))
    with pytest.raises(ZeroDivisionError):
        asking.ask_now()
    assert asking.asked is None


def _fail(request: Request) -> None:
    del request
    raise ZeroDivisionError


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    read, write = os.pipe()
    return os.fdopen(read, "rb"), os.fdopen(write, "wb")
