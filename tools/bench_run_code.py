"""What programs cost: the start of a worker, a call through the whole road, large results, an idle spare, an end.

    python -m tools.bench_run_code [--calls N] [--runs N] [--catalogue FILE]

The session is a real one in this process. `--catalogue` is a file of JSON lines with `name`, `description` and
`input_schema` of many tools, over which signatures are compared with the definitions they stand for.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode.call import Call
from mcode.catalog.signatures import signature
from mcode.model.usage import count_tokens
from mcode.run_code.engine import Engine
from mcode.run_code.limits import Limits
from mcode.run_code.tool import RunCode
from mcode.tool import Tool, ToolResult
from tests.stage import stage, turns
from tools.measure import Figure, report, resident_memory

if TYPE_CHECKING:
    from mcode.call import Outcome
    from mcode.jsontext import JsonObject
    from mcode.pipeline.run import Pipeline
    from mcode.tool import ToolServices
    from tests.stage import Stage

ROW_BYTES = 400
"""Bytes of each row of the large result."""

LARGE = 10_000_000
"""Bytes of the large result, about."""

ROUNDS = 9
"""Programs of many calls, each between two runs of as many direct calls: a machine changes its pace by a third within
seconds, so a program is compared with its neighbours, and the median of the comparisons counts.
"""

SLOW_CALL = 0.3
"""Seconds that a slow call takes."""


class Nothing(Tool):
    """Does nothing, reads nothing."""

    name = "nothing"
    description = "Does nothing."
    input_schema: JsonObject = {  # noqa: RUF012 -- declared by Tool, never changed
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": False,
    }

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        del services
        return ToolResult("done", data=arguments)


class Slow(Nothing):
    """Takes its time."""

    name = "slow"

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        await asyncio.sleep(SLOW_CALL)
        return await super().run(arguments, services)


class Large(Nothing):
    """Gives ten megabytes of rows."""

    name = "large"

    def __init__(self) -> None:
        count = LARGE // ROW_BYTES
        self._rows = [{"id": n, "name": f"person {n}", "note": "x" * (ROW_BYTES - 50)} for n in range(count)]

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        return ToolResult("rows", data=self._rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=15, help="how often each start is measured")
    parser.add_argument("--catalogue", type=Path)
    options = parser.parse_args()
    figures = asyncio.run(_measure(options.calls, options.runs))
    if options.catalogue is not None:
        figures.append(_signatures(options.catalogue))
    return report("programs", figures)


async def _measure(calls: int, runs: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        settings = {"mcode": {"runCode": {"calls": max(calls, 500)}}}
        async with stage(Path(scratch), turns("unused"), settings=settings) as here:
            programs = _Programs(here, calls)
            return [
                *await programs.starts(runs),
                await programs.calls(),
                await programs.side_by_side(),
                await programs.large_result(),
                await programs.spare(),
                await programs.end(runs),
            ]


class _Programs:
    """A session's run_code, called as the turn loop calls it."""

    def __init__(self, here: Stage, calls: int) -> None:
        self._pipeline: Pipeline = here.agent._parts.pipeline  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- the road itself is measured
        self._calls = calls
        self._number = 0
        catalog = here.agent.catalog
        for tool in (Nothing(), Slow(), Large()):
            catalog.add(tool)
        tool = catalog.find("run_code")
        if not isinstance(tool, RunCode):
            raise TypeError("there is no run_code in this session")
        self._tool = tool

    async def run(self, code: str) -> Outcome:
        self._number += 1
        outcome = await self._pipeline.run(Call(f"p{self._number}", "run_code", {"code": code}, turn=1))
        if outcome.is_error:
            raise RuntimeError(outcome.text)
        return outcome

    async def starts(self, runs: int) -> list[Figure]:
        """A program on a warm worker, and one on a worker that has to be started, against bare Python."""
        warm: list[float] = []
        cold: list[float] = []
        bare: list[float] = []
        for _ in range(runs):
            self._tool.warm()
            await asyncio.sleep(0.3)
            warm.append(await _seconds(self.run("return 1")))
            engine = Engine(Limits())
            began = time.perf_counter()
            worker = await engine.take()
            cold.append(time.perf_counter() - began)
            engine.release(worker)
            await engine.close()
            began = time.perf_counter()
            await asyncio.to_thread(subprocess.run, [sys.executable, "-I", "-c", "pass"], check=True)
            bare.append(time.perf_counter() - began)
        ratio = statistics.median(cold) / statistics.median(bare)
        detail = f"{statistics.median(cold) * 1000:.1f} ms against {statistics.median(bare) * 1000:.1f} ms"
        return [
            Figure("warm start to result, median", statistics.median(warm) * 1000, 10.0, "ms"),
            Figure("cold start against `python -I -c pass`", ratio, 3.0, "times", detail),
        ]

    async def calls(self) -> Figure:
        """Many calls one after the other, from a program and directly, in turn, by the clock: what the agent writes
        down while the program works on keeps nobody waiting. Promised: 1.5 times, and 0.3 ms a call.
        """
        a_call = 1000 / self._calls
        nested: list[float] = []
        worked: list[float] = []
        loop = f"for (let n = 0; n < {self._calls}; n++) await tools.nothing({{n}})"
        direct = [await _seconds(self._direct()) * a_call]
        for _ in range(ROUNDS):
            began, at = time.process_time(), time.perf_counter()
            outcome = await self.run(loop)
            nested.append((time.perf_counter() - at) * a_call)
            worked.append((time.process_time() - began + outcome.data["cpu_ms"] / 1000) * a_call)
            direct.append(await _seconds(self._direct()) * a_call)
        beside = [statistics.mean(pair) for pair in itertools.pairwise(direct)]
        shares = [taken / (1.5 * one + 0.3) for taken, one in zip(nested, beside, strict=True)]
        one, other, cpu = map(statistics.median, (direct, nested, worked))
        detail = (
            f"a call: {other:.2f} ms, direct {one:.2f} ms, {other / one:.2f} times; "
            f"CPU of both processes {cpu:.2f} ms"
        )
        name = f"{self._calls} calls from a program, of 1.5 times direct ones and 0.3 ms each"
        return Figure(name, statistics.median(shares), 1.0, "", detail)

    async def _direct(self) -> None:
        self._number += 1
        for n in range(self._calls):
            await self._pipeline.run(Call(f"d{self._number}_{n}", "nothing", {"n": n}, turn=1))

    async def side_by_side(self) -> Figure:
        seconds = await _seconds(
            self.run("await Promise.all(Array.from({length: 100}, (_, n) => tools.slow({n}))); return 1")
        )
        ideal = math.ceil(100 / Limits().at_once) * SLOW_CALL
        return Figure("100 calls of 300 ms, 8 at once, against the ideal", seconds / ideal, 1.15)

    async def large_result(self) -> Figure:
        """The longest time that the loop stood still while ten megabytes went through: in CPU time of all threads
        between two beats, so that what else the machine does is not counted; by the clock beside it.
        """
        longest = by_clock = 0.0

        async def beat() -> None:
            nonlocal longest, by_clock
            while True:
                began, at = time.process_time(), time.perf_counter()
                await asyncio.sleep(0.001)
                longest = max(longest, time.process_time() - began)
                by_clock = max(by_clock, time.perf_counter() - at)

        heart = asyncio.create_task(beat())
        outcome = await self.run(
            "const {value} = await tools.large({}); return value.filter(r => r.id % 1000 === 0).map(r => r.id)"
        )
        heart.cancel()
        return Figure(
            "longest stop of the loop, 10 MB in",
            longest * 1000,
            50.0,
            "ms",
            f"{by_clock * 1000:.1f} ms by the clock; {len(outcome.text)} characters out",
        )

    async def spare(self) -> Figure:
        engine = Engine(Limits())
        worker = await engine.take()
        held = resident_memory(worker.pid) / 1024**2
        engine.release(worker)
        await engine.close()
        return Figure("memory of an idle spare", held, 20.0, "MB")

    async def end(self, runs: int) -> Figure:
        """From the decision to end a program until its process is gone."""
        taken: list[float] = []
        for _ in range(runs):
            engine = Engine(Limits())
            worker = await engine.take()
            began = time.perf_counter()
            await engine.release(worker)
            taken.append(time.perf_counter() - began)
            await engine.close()
        return Figure("end of a worker, median", statistics.median(taken) * 1000, 50.0, "ms")


async def _seconds(work: Any) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _signatures(catalogue: Path) -> Figure:
    """Tokens of one line a tool against tokens of the definitions."""
    tools: list[JsonObject] = [json.loads(line) for line in catalogue.read_text("utf-8").splitlines()]
    lines = [signature(tool["name"], tool.get("description") or "", tool["input_schema"]) for tool in tools]
    definitions = [
        json.dumps({key: tool.get(key) for key in ("name", "description", "input_schema")}) for tool in tools
    ]
    share = sum(map(count_tokens, lines)) / sum(map(count_tokens, definitions))
    return Figure(
        f"signatures of {len(tools)} tools, share of their definitions", share, 0.30, "of the tokens"
    )


if __name__ == "__main__":
    sys.exit(main())
