"""
All benches in one table: every promised figure with pass or fail beside it, and one file with all of them.

    python -m tools.bench [--full] [--only WORD] [--json FILE] [--catalogue FILE]

Short by default: the sizes stand beside the figures. `--full` runs the promised sizes, and takes its time.
`--catalogue` is a file of real tools for the benches that take one; without it they use made-up tools. The
calibration is the time of a fixed piece of Python here, before and after: where the two differ much, the machine
was not steady.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from tools.measure import Figure, calibrate

Own = Callable[[bool], list[Figure]]
"""Measures in this process; True for the promised size."""

STEADY = 0.25
"""Share by which the calibration may vary before the figures of time prove little."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One bench that is a program of its own."""

    name: str
    module: str
    short: tuple[str, ...]
    full: tuple[str, ...]
    size: str
    """What the short run leaves out."""
    takes_catalogue: bool = False


BENCHES = (
    Bench("start", "tools.bench_start", ("--runs", "3"), (), "3 starts of each kind, not 9"),
    Bench("calls", "tools.bench_calls", ("--calls", "100", "--rounds", "2"), (), "100 calls, not 200"),
    Bench("programs", "tools.bench_run_code", ("--calls", "500", "--runs", "5"), (), "500 calls, not 2,000"),
    Bench("search", "tools.bench_search", ("--tools", "3000"), (), "whole", takes_catalogue=True),
    Bench("catalogue", "tools.bench_catalogue", (), (), "whole", takes_catalogue=True),
    Bench("servers", "tools.bench_servers", ("--runs", "2"), (), "2 starts, not 9"),
    Bench("guard", "tools.bench_guard", ("--rounds", "2", "--json"), ("--json",), "2 rounds"),
    Bench("screen", "tools.bench_ui", ("--runs", "2", "--only", "frame"), (), "the first frame, 2 starts"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    bench: str
    name: str
    value: float
    limit: float
    unit: str
    holds: bool
    detail: str


def run_bench(bench: Bench, *, full: bool, catalogue: Path | None, patience: float) -> list[Row]:
    """Run one program and read its last line of JSON; a bench that gives none is one row that fails."""
    files = [str(catalogue)] if catalogue and bench.takes_catalogue else []
    command = [sys.executable, "-m", bench.module, *(bench.full if full else bench.short), *files]
    ran = _run(command, patience)
    if ran is None:
        return [_failed(bench.name, f"not done within {patience:.0f} s")]
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    figures: list[dict[str, Any]] = found[-1].get("figures", []) if found else []
    if found and bench.name == "guard":
        return _guard(found[-1], ran)
    rows = [_row(bench.name, figure, "" if full else bench.size) for figure in figures]
    last = (ran.stderr.strip().splitlines() or ["it printed no figures"])[-1]
    return rows or [_failed(bench.name, last[:200])]


def _run(command: list[str], patience: float) -> subprocess.CompletedProcess[str] | None:
    """Run it in a group of its own; None where it took too long, and then all that it had started is ended."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _row(bench: str, figure: dict[str, Any], size: str) -> Row:
    detail = ", ".join(filter(None, (str(figure.get("detail", "")), size)))
    return Row(
        bench,
        str(figure["name"]),
        float(figure["value"]),
        float(figure["limit"]),
        str(figure["unit"]),
        bool(figure["holds"]),
        detail,
    )


def _guard(figures: dict[str, Any], ran: subprocess.CompletedProcess[str]) -> list[Row]:
    """The guard's figures are of many kinds: what counts is which of them it reports as missed."""
    missed = [
        line.removeprefix("missed: ") for line in ran.stderr.splitlines() if line.startswith("missed: ")
    ]
    told = ", ".join(f"{name} {value}" for name, value in figures.items() if isinstance(value, int | float))
    return [Row("guard", "figures missed", len(missed), 0, "", not missed, "; ".join(missed) or told[:160])]


def _failed(bench: str, why: str) -> Row:
    return Row(bench, "the bench itself", 1, 0, "failures", False, why)


def ledger(full: bool) -> list[Figure]:
    """Random sessions against the stand-in's counter."""
    from tools.ledger_sessions import play

    sessions = 500 if full else 25

    async def play_all() -> tuple[int, float]:
        wrong, furthest = 0, 0.0
        for seed in range(sessions):
            with tempfile.TemporaryDirectory(prefix="mcode-ledger-") as directory:
                played = await play(Path(directory), seed)
            wrong += played.wrong
            furthest = max(furthest, played.furthest)
        return wrong, furthest

    wrong, furthest = asyncio.run(play_all())
    size = f"{sessions} random sessions"
    return [
        Figure("requests whose parts do not add up to the provider's count", wrong, 0, "requests", size),
        Figure("estimate after two responses, furthest off", 100 * furthest, 5, "%", size),
    ]


def modes(full: bool) -> list[Figure]:
    """The travel audit in three modes; `--full`: every task."""
    from tools.eval_modes import run_all, task_names
    from tools.tasks.task import MODES

    runs = asyncio.run(run_all(task_names() if full else ["travel_audit"], tuple(MODES), 1, None))
    audit = {run.mode: run for run in runs if run.task == "travel_audit"}
    everything, search, programs = (audit[mode] for mode in MODES)
    return [
        Figure(
            "wrong outcomes", sum(not run.score for run in runs), 0, "runs", f"{len(runs)} runs, scripted"
        ),
        Figure(
            "opening definitions with search",
            100 * search.opening / everything.opening,
            15,
            "% of all loaded",
        ),
        Figure("input tokens by program", 100 * programs.input / everything.input, 15, "% of direct calls"),
        Figure("requests by program", programs.requests, 3, "requests"),
    ]


OWN: dict[str, Own] = {"ledger": ledger, "modes": modes}


def table(rows: list[Row], calibration: tuple[float, float], seconds: float) -> str:
    """What a person reads."""
    before, after = calibration
    heading = (
        f"mcode benches: Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"calibration {before:.3f} s before and {after:.3f} s after, {seconds:.0f} s in all"
    )
    lines = [heading]
    if abs(after / before - 1) > STEADY:
        lines.append("The machine was not steady: figures of time prove little.")
    wide = max(len(row.name) for row in rows)
    for row in rows:
        verdict = "pass" if row.holds else "FAIL"
        shown = f"{row.value:>10,.3f} {row.unit} (promised at most {row.limit:g})"
        lines.append(f"{verdict}  {row.bench:<9}  {row.name:<{wide}}  {shown}  {row.detail}".rstrip())
    lines.append(f"{sum(row.holds for row in rows)} of {len(rows)} hold")
    return "\n".join(lines)


def main() -> int:
    """Run them; 1 where a figure misses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="benches whose name holds this word")
    parser.add_argument("--json", type=Path, metavar="FILE", default=Path("bench.json"))
    parser.add_argument("--catalogue", type=Path)
    given = parser.parse_args()
    began, before = time.monotonic(), calibrate()
    rows: list[Row] = []
    for bench in BENCHES:
        if given.only in bench.name:
            print(f"... {bench.name}", file=sys.stderr, flush=True)
            patience = 3_600.0 if given.full else 90.0
            rows += run_bench(bench, full=given.full, catalogue=given.catalogue, patience=patience)
    for name, measure in OWN.items():
        if given.only in name:
            print(f"... {name}", file=sys.stderr, flush=True)
            rows += [
                _row(name, cast("dict[str, Any]", {**asdict(each), "holds": each.holds}), "")
                for each in measure(given.full)
            ]
    if not rows:
        parser.error(f"no bench is called anything with {given.only!r}")
    calibration, seconds = (before, calibrate()), time.monotonic() - began
    whole = {
        "full": given.full,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "calibration": calibration,
        "seconds": round(seconds, 1),
        "figures": [asdict(row) for row in rows],
    }
    given.json.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    print(table(rows, calibration, seconds))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a model of meanings that still computes in its thread would abort an orderly end
