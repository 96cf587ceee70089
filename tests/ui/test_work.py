"""Faults and failures of what runs beside the prompt."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from mcode.errors import UsageError
from mcode.ui.work import Work

if TYPE_CHECKING:
    import pytest


async def fail(error: BaseException) -> None:
    raise error


def working() -> tuple[Work, list[str], list[str]]:
    said: list[str] = []
    last: list[str] = []
    return Work(said.append, last.append), said, last


async def test_what_a_person_can_act_on_is_said_as_it_is() -> None:
    work, said, _ = working()
    await work.begin(fail(UsageError("There is no such session; nothing was done.")))
    assert said == ["There is no such session; nothing was done."]


async def test_a_fault_is_a_sentence_with_a_number_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work, said, _ = working()
    with caplog.at_level(logging.ERROR):
        await work.begin(fail(ZeroDivisionError()))
    number = caplog.records[0].getMessage().split()[-1]
    assert f"number {number} in the log" in said[0]
    assert "Traceback" not in said[0]
    assert caplog.records[0].exc_info


async def test_faults_again_and_again_end_the_screen_instead_of_filling_it() -> None:
    work, said, last = working()
    for _ in range(10):
        await work.begin(fail(ZeroDivisionError()))
    assert len(said) == 9
    assert len(last) == 1
    assert "The session is kept." in last[0]


async def test_a_fault_in_showing_a_fault_does_not_spread() -> None:
    def broken(text: str) -> None:
        raise ValueError(text)

    work = Work(broken, broken)
    await work.begin(fail(ZeroDivisionError()))


async def test_stop_cancels_what_runs_and_an_answer_that_was_taken_back_is_no_fault() -> None:
    work, said, _ = working()
    running = work.begin(asyncio.sleep(60))
    taken = asyncio.get_running_loop().create_future()

    async def wait_for_answer() -> None:
        await taken

    waiting = work.begin(wait_for_answer())
    await asyncio.sleep(0)
    taken.cancel()
    await asyncio.wait({waiting})
    assert not waiting.cancelled()
    await work.stop()
    assert running.cancelled()
    assert said == []
