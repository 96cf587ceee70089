"""The order of calls: reads side by side, everything else one by one, also where they are decided on together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.call import FailureKind, Status
from mcode.run_code.lanes import Lanes
from mcode.run_code.limits import Limits, limits_from
from mcode.run_code.names import identifier
from tests.run_code.workplace import Failed
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.run_code.workplace import Workplace


async def test_a_call_that_leaves_early_does_not_let_a_later_one_overtake() -> None:
    lanes = Lanes(8, together=True)
    first, second, third = (lanes.join(read_only=False) for _ in range(3))
    lanes.leave(second)
    assert first.turn is not None
    assert third.turn is not None
    assert first.turn.is_set
    assert not third.turn.is_set
    lanes.leave(first)
    assert third.turn.is_set
    await asyncio.wait_for(lanes.body(third), 30)


async def test_calls_that_are_decided_on_together_still_run_one_by_one_in_order(place: Workplace) -> None:
    """The road asks about all five at once; they are answered in the wrong order, and the second is denied."""
    place.together = True
    asked: list[int] = []
    ran_in: list[int] = []
    running = 0
    answers = {n: asyncio.Event() for n in range(5)}

    async def write(arguments: JsonObject) -> object:
        nonlocal running
        n, call = arguments["n"], next(call for call in place.calls if call.arguments == arguments)
        asked.append(n)
        await answers[n].wait()
        if n == 1:
            return Failed(FailureKind.DENIED, "no", Status.DENIED)
        bridge = place.run_code.bridge_of(call)
        assert bridge is not None
        await bridge.before_body(call.id)
        running += 1
        assert running == 1
        ran_in.append(n)
        await asyncio.sleep(0.01)
        running -= 1
        return f"written {n}"

    place.tool("Write", write, reads=False)
    task = place.start(
        "const all = await Promise.all([0, 1, 2, 3, 4].map(n => tools.Write({n})));\nreturn all.map(r => r.ok)"
    )
    await until(lambda: len(asked) == 5)
    site = place.run_code.site_of(place.calls[2])
    assert site is not None
    assert (site.program, site.number, site.line, site.waiting) == ("p1", 3, 1, 4)
    assert site.source == "const all = await Promise.all([0, 1, 2, 3, 4].map(n => tools.Write({n})));"
    for n in (4, 2, 0, 3, 1):
        answers[n].set()
        await asyncio.sleep(0.005)
    ran = await task
    assert ran.value == "[true,false,true,true,true]"
    assert ran_in == [0, 2, 3, 4]
    assert place.run_code.site_of(place.calls[2]) is None


def test_names_become_identifiers() -> None:
    names = {
        "Read": "Read",
        "mcp__my-server__get.item": "mcp__my_server__get_item",
        "4chan": "_4chan",
        "größe": "gr__e",
        "$ok_1": "$ok_1",
        "": "",
    }
    assert {name: identifier(name) for name in names} == names


def test_settings_change_limits_and_what_cannot_be_used_is_said() -> None:
    limits, problems = limits_from({"cpuSeconds": 2.5, "memoryMb": 64, "calls": 10, "deniedInARow": 0})
    assert (limits.cpu, limits.memory, limits.calls, limits.denials) == (2.5, 64 * 1024 * 1024, 10, 0)
    assert problems == ()
    limits, problems = limits_from({"cpuSeconds": "fast", "memoryMb": True, "calls": 0, "speed": 1})
    assert limits == Limits()
    assert [problem.split(" ")[0] for problem in problems] == [
        "mcode.runCode.cpuSeconds",
        "mcode.runCode.memoryMb",
        "mcode.runCode.calls",
        "mcode.runCode.speed",
    ]
