"""The event loop is watched while a turn runs."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.tool import Tool, ToolResult
from tests.stage import stage, turns, use
from tools.loop_stops import LIMIT, large_session, loop_watch

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices


class Blocking(Tool):
    """Holds up the loop, as nothing may."""

    name = "Blocking"
    description = "Blocks"
    input_schema: JsonObject = {"type": "object", "properties": {}}  # noqa: RUF012 -- declared by Tool, never changed

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        time.sleep(0.5)
        await asyncio.sleep(0.2)
        return ToolResult("blocked")


async def test_l_03_a_loop_that_stood_still_is_noted_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(tmp_path, turns(use("Blocking"), "done")) as opened:
        opened.agent.catalog.add(Blocking())
        opened.answer("once")
        with caplog.at_level(logging.WARNING, "mcode.wiring.watchdog"):
            await opened.say("block")
            noted = [record.getMessage() for record in caplog.records if "stood still" in record.getMessage()]
            blocked = [text for text in noted if "ToolStarted" in text]  # a busy machine adds some of its own
            assert blocked, noted
            worked = [
                int(found[1]) for text in blocked if (found := re.search(r"of which it worked (\d+)", text))
            ]
            assert len(worked) == len(blocked)
            assert min(worked) < 400, "it slept"
            caplog.clear()
            time.sleep(0.5)  # no turn runs: nobody waits for the loop
            await asyncio.sleep(0.2)
            assert not caplog.records


async def test_l_03_megabytes_are_masked_counted_and_written_beside_the_loop(tmp_path: Path) -> None:
    """By the loop's own processor time; the limit is some times the figure, for slow machines."""
    text = "words of a long text, pasted as it is\n" * 80_000
    with loop_watch(4 * LIMIT) as watched:
        wrong = await large_session(tmp_path, text, [("Write", {"file_path": "a.txt", "content": text})])
    assert wrong == []
    assert not watched.stops, [stop.places for stop in watched.stops]
