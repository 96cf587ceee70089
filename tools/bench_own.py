"""Benches that are measured in this process: the first request, the three modes, recall of the search."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from mcode.model.usage import count_request
from tools.local_session import local_workbench
from tools.measure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

WRITTEN = ("catalogue.jsonl", "queries.jsonl", 0.88, 0.94)
AGENTS = ("livemcpbench_catalogue.jsonl", "agent_queries.jsonl", 0.92, 0.96)
"""Files of `--data`, and the recall among the first five that is promised by words, and with meaning."""

SHIPPED = (0.88, 0.88)
"""The same for the queries that are shipped."""


def first_request(full: bool, data: Path | None) -> list[Figure]:
    """Tokens of the whole first request, without instruction files."""
    del full, data
    beside, first = _first({}), _first({"programs": "first"})
    return [
        Figure("first request: core tools, search, programs, system prompt", beside, 2_500, "tokens"),
        Figure("the same with programs first", first, beside, "tokens"),
    ]


def _first(own: dict[str, Any]) -> int:
    async def say() -> int:
        client = ScriptedClient(parse_script({"turns": [{"reply": "Hello."}]}, "bench"))
        with tempfile.TemporaryDirectory() as directory:
            bench = local_workbench(Path(directory), client, settings={"mcode": own})
            agent = await bench.open_agent("startup")
            await agent.submit("hello")
            await agent.close("other")
            await bench.close()
        return count_request(client.requests[0]).total

    return asyncio.run(say())


def modes(full: bool, data: Path | None) -> list[Figure]:
    """The scripted travel audit in three modes; `full`: every task."""
    from tools.eval_modes import run_all, task_names
    from tools.tasks.task import MODES

    del data
    runs = asyncio.run(run_all(task_names() if full else ["travel_audit"], tuple(MODES), 1, None))
    everything, search, programs = (
        next(run for run in runs if run.task == "travel_audit" and run.mode == mode) for mode in MODES
    )
    size = f"{len(runs)} scripted runs" + ("" if full else ": the audit alone, not every task")
    opening = 100 * search.opening / everything.opening
    sent = 100 * programs.input / everything.input
    return [
        Figure("wrong outcomes", sum(not run.score for run in runs), 0, "runs", size),
        Figure("opening definitions with search", opening, 15, "% of all loaded", "the travel audit"),
        Figure("input tokens by a program", sent, 15, "% of direct calls", "the travel audit"),
        Figure("requests by a program", programs.requests, 3, "requests", "the travel audit"),
    ]


def recall(full: bool, data: Path | None) -> list[Figure]:
    """Needs that are not met among the first five results, on the demo's tools and on those of `--data`."""
    from tools.eval_search import office_task, our_search, outcomes, read_task, with_meaning
    from tools.eval_search import recall as share_found

    tasks = [("shipped", office_task(), SHIPPED)]
    if data is not None:
        for words, (catalogue, queries, lexical, semantic) in (("written", WRITTEN), ("agents'", AGENTS)):
            tasks.append((words, read_task(data / catalogue, [data / queries]), (lexical, semantic)))
    searches = [("by words", our_search()), *([("with meaning", with_meaning())] if full else [])]
    figures: list[Figure] = []
    for words, task, promised in tasks:
        for (how, search), least in zip(searches, promised, strict=False):
            missed = 100 * (1 - share_found(outcomes([task], search), 5))
            name = f"{words} queries, needs missed in 5 results, {how}"
            figures.append(
                Figure(name, missed, round(100 * (1 - least), 1), "%", f"{len(task.asked)} queries")
            )
    return figures


OWN: dict[str, Callable[[bool, Path | None], list[Figure]]] = {
    "first request": first_request,
    "modes": modes,
    "recall": recall,
}
"""By name; each takes whether the whole size is wanted, and the folder of real tools if there is one."""
