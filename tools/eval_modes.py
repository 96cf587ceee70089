"""
The same tasks in three modes: all tools loaded, tool search, tool search and programs.

    python -m tools.eval_modes [--task NAME ...] [--mode MODE ...] [--repeats N] [--json FILE] [--markdown]
        [--model NAME --base-url URL]
    python -m tools.eval_modes --compare BEFORE.json AFTER.json

Each task has a checker that looks at files and calls, not at prose. Without `--model` a scripted policy of the task
answers, with tokens counted by our estimate; the table's title says so. With a model the key comes from
ANTHROPIC_API_KEY and its cost from `mcode.prices` of your settings; commands other than `python3 *` are denied, and
each task has a folder of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.call import Status
from mcode.commands.ledger_reading import ledger_of
from mcode.config.load import load_settings
from mcode.config.places import find_places
from mcode.events import ToolFinished
from mcode.model.anthropic import AnthropicClient
from mcode.model.profiles import ANTHROPIC, choose_profile
from mcode.model.scripted import ScriptedClient
from tools.local_session import local_workbench
from tools.measure import NotMeasuredError
from tools.tasks.task import MODES, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.events import Event
    from mcode.model.client import ModelClient
    from tools.tasks.task import Task

ROOT = Path(__file__).resolve().parent.parent

PATIENCE = 600.0
"""Seconds that one run may take."""

SERVERS = 120.0
"""Seconds that a task's servers may take to be there."""

WINDOW = 1_000_000
"""Tokens, where the policy is scripted: the direct way of some tasks fills a usual window."""


@dataclass(frozen=True, slots=True)
class Run:
    """One task in one mode, once."""

    task: str
    mode: str
    score: int
    """1 where the outcome is right."""
    wrong: str
    requests: int
    opening: int
    """Tokens of definitions in the first request."""
    input: int
    output: int
    cache_read: int
    cost: float | None
    seconds: float


def task_names() -> list[str]:
    """All tasks that there are."""
    return sorted(path.parent.name for path in (ROOT / "tools" / "tasks").glob("*/__init__.py"))


def load(name: str) -> Task:
    """A task by its name."""
    return import_module(f"tools.tasks.{name}").TASK


async def run_once(name: str, mode: str, model: tuple[str, str] | None = None) -> Run:
    """Play a task; `model`: a name and a base URL."""
    task = load(name)
    with tempfile.TemporaryDirectory(prefix="mcode-eval-") as directory:
        return await _run_in(Path(directory), name, task, mode, model)


async def _run_in(directory: Path, name: str, task: Task, mode: str, model: tuple[str, str] | None) -> Run:
    project, state = directory / "project", directory / "home" / ".mcode"
    project.mkdir()
    state.mkdir(parents=True)
    task.prepare(project)
    (state / "mcp.json").write_text(
        json.dumps({"mcpServers": {each: _entry(name, each) for each in task.servers}})
    )
    client: ModelClient = ScriptedClient(task.script(mode)) if model is None else _real(model[1])
    own = {**MODES[mode], **(prices_of(model[0]) if model else {"window": WINDOW})}
    allow = [*(f"mcp__{each}" for each in task.servers), "Bash(python3 *)"]
    settings = {"permissions": {"allow": allow, "defaultMode": "acceptEdits"}, "mcode": own}
    bench = local_workbench(directory, client, settings=settings, environment={"PATH": os.environ["PATH"]})
    if model is not None:
        bench.endpoint = replace(bench.endpoint, model=model[0])
    agent = await bench.open_agent("startup")
    calls: list[tuple[str, dict[str, Any], bool]] = []

    def receive(event: Event) -> None:
        if isinstance(event, ToolFinished):
            call = event.outcome.call
            calls.append((call.tool, call.arguments, event.outcome.status is Status.OK))

    agent.events.subscribe(receive)
    try:
        await agent.start("startup")
        await bench.pool.settle(SERVERS)
        away = [f"{each.name} ({each.state})" for each in bench.pool.statuses() if each.state != "connected"]
        if away:
            raise NotMeasuredError(f"{name} was not measured: servers are not there: {', '.join(away)}")
        began = time.monotonic()
        try:
            finished = await asyncio.wait_for(agent.submit(task.question), PATIENCE)
            wrong = task.check(Outcome(project, tuple(calls), finished.text))
        except TimeoutError:
            wrong = f"not done within {PATIENCE:g} s"
        return _row(name, mode, wrong, ledger_of(agent), time.monotonic() - began)
    finally:
        await agent.close("other")
        await bench.pool.close()
        await client.close()


def _row(name: str, mode: str, wrong: str, ledger: dict[str, Any], seconds: float) -> Run:
    totals, requests = ledger["totals"], ledger["requests"]
    return Run(
        task=name,
        mode=mode,
        score=0 if wrong else 1,
        wrong=wrong,
        requests=totals["round_trips"],
        opening=requests[0]["definitions"] if requests else 0,
        input=totals["input"],
        output=totals["output_tokens"],
        cache_read=totals["cache_read"],
        cost=totals["cost"],
        seconds=round(seconds, 2),
    )


def prices_of(model: str) -> dict[str, Any]:
    """What the settings of whoever measures say that a model costs, as a settings file has it."""
    price = load_settings(find_places(os.environ), Path.cwd()).own.prices.get(model)
    if price is None:
        return {}
    listed = {"cacheRead": price.cache_read, "cacheWrite": price.cache_write}
    return {"prices": {model: {"input": price.input, "output": price.output, **listed}}}


def _entry(task: str, server: str) -> dict[str, Any]:
    arguments = ["-m", "tools.tasks.serve", task, server]
    return {"command": sys.executable, "args": arguments, "env": {"PYTHONPATH": str(ROOT)}}


def _real(base_url: str) -> ModelClient:
    profile = choose_profile(base_url or ANTHROPIC)
    key = os.environ.get("ANTHROPIC_API_KEY")
    return AnthropicClient(profile, key, source="ANTHROPIC_API_KEY" if key else "", environment=os.environ)


COLUMNS = ("task", "mode", "score", "requests", "opening", "input", "output", "cache read", "cost", "seconds")


def table(runs: Sequence[Run], title: str) -> str:
    """One row for each task and mode, with means over the repeats, and a row of sums for each mode."""
    rows: list[tuple[str, ...]] = [COLUMNS]
    keys = dict.fromkeys((run.task, run.mode) for run in runs)
    rows += [_cells(task, mode, [r for r in runs if (r.task, r.mode) == (task, mode)]) for task, mode in keys]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    lines = [title]
    for row in rows:
        cells = [
            cell.ljust(w) if at < 2 else cell.rjust(w)
            for at, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines += [f"wrong: {run.task}, {run.mode}: {run.wrong}" for run in runs if run.wrong]
    return "\n".join(lines)


WAYS = {
    "everything": "all tools loaded, direct calls",
    "search": "tool search, direct calls",
    "programs": "tool search and programs",
}
"""What the modes are called where a reader does not know them."""


def markdown(runs: Sequence[Run], title: str) -> str:
    """The README's table: the travel audit, and all tasks together, in each mode."""
    lines = [
        f"{title}.",
        "",
        "| | right | requests | opening definitions | input tokens |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    every = len({run.task for run in runs})
    for name, of in (("travel audit", "travel_audit"), (f"all {every} tasks", "")):
        for mode in dict.fromkeys(run.mode for run in runs):
            found = [run for run in runs if run.mode == mode and run.task.startswith(of)]
            if found:
                figures = (
                    sum(getattr(run, part) for run in found) for part in ("requests", "opening", "input")
                )
                right = f"{sum(run.score for run in found)} of {len(found)}"
                cells = " | ".join((right, *(f"{count:,}" for count in figures)))
                lines.append(f"| {name}: {WAYS[mode]} | {cells} |")
    return "\n".join(lines)


def _cells(task: str, mode: str, runs: Sequence[Run]) -> tuple[str, ...]:
    costs = [run.cost for run in runs if run.cost is not None]
    return (
        task,
        mode,
        f"{sum(run.score for run in runs)}/{len(runs)}",
        f"{statistics.mean(run.requests for run in runs):.1f}".removesuffix(".0"),
        *(f"{_mean(runs, name):,.0f}" for name in ("opening", "input", "output", "cache_read")),
        f"${statistics.mean(costs):.3f}" if costs else "-",
        f"{statistics.mean(run.seconds for run in runs):.1f}",
    )


def compare(before: Sequence[Run], after: Sequence[Run]) -> str:
    """What has changed between two files of runs, a line for each task and mode that is in both."""
    lines = ["task, mode: score, requests, input tokens (before > after)"]
    for key in dict.fromkeys((run.task, run.mode) for run in before):
        old = [run for run in before if (run.task, run.mode) == key]
        new = [run for run in after if (run.task, run.mode) == key]
        if not new:
            continue
        figures = [
            f"{name} {_mean(old, name):,.2f} > {_mean(new, name):,.2f}"
            for name in ("score", "requests", "input")
        ]
        change = _mean(new, "input") / max(1.0, _mean(old, "input")) - 1
        lines.append(f"{key[0]}, {key[1]}: {'; '.join(figures)} ({change:+.1%})")
    return "\n".join(lines)


def _mean(runs: Sequence[Run], name: str) -> float:
    return statistics.mean(getattr(run, name) for run in runs)


def read_runs(path: Path) -> list[Run]:
    """The runs of a file that `--json` has written."""
    return [Run(**row) for row in json.loads(path.read_text("utf-8"))["runs"]]


async def run_all(
    tasks: Sequence[str], modes: Sequence[str], repeats: int, model: tuple[str, str] | None
) -> list[Run]:
    """All of them, one after the other."""
    return [await run_once(task, mode, model) for task in tasks for mode in modes for _ in range(repeats)]


def title_of(model: tuple[str, str] | None) -> str:
    """What the table is of."""
    if model is None:
        return "Scripted policies, no model: what each way costs where it is gone without a detour (tokens estimated)"
    return f"{model[0]} at {model[1] or ANTHROPIC}"


def main() -> int:
    """Run what the command line asks for; 1 where an outcome is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", action="append", choices=task_names())
    parser.add_argument("--mode", action="append", choices=tuple(MODES))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--model")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", action="store_true", help="the README's table instead of the whole one")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    given = parser.parse_args()
    if given.compare:
        print(compare(*map(read_runs, given.compare)))
        return 0
    model = (given.model, given.base_url) if given.model else None
    runs = asyncio.run(run_all(given.task or task_names(), given.mode or tuple(MODES), given.repeats, model))
    if given.json:
        given.json.write_text(
            json.dumps({"title": title_of(model), "runs": [asdict(run) for run in runs]}, indent=1)
        )
    print((markdown if given.markdown else table)(runs, title_of(model)))
    return 0 if all(run.score for run in runs) else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a model of meanings that still computes in its thread would abort an orderly end
