"""
All benches in one table: every promised figure with pass or fail beside it, and one file with all of them.

    python -m tools.bench [--full] [--only WORD] [--json FILE] [--data DIRECTORY]

Short by default: what is left out stands beside each figure. `--full` runs the promised sizes, and takes its time.
`--data` is a folder of real tools and queries with known answers, as `tools.eval_search` reads them: `catalogue.jsonl`,
`queries.jsonl`, `livemcpbench_catalogue.jsonl`, `agent_queries.jsonl`. Without it recall is measured on the demo's
tools alone, the signatures' share not at all, and other benches use made-up tools.

Times are CPU seconds wherever a busy machine could blur them. What measures time runs alone, what only counts runs
side by side. The calibration is the CPU time of a fixed piece of Python, before and after: where the two differ much,
the machine was not steady.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tools.bench_list import BENCHES, Bench
from tools.bench_own import OWN
from tools.measure import Figure, NotMeasuredError, calibrate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

STEADY = 0.25
"""Share by which the calibration may vary before the figures of time prove little."""

PATIENCE, LONG_PATIENCE = 400.0, 7_200.0
"""Seconds that one bench may take, short and whole."""


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


@dataclass(frozen=True, slots=True)
class Spent:
    """What one bench took, or several that ran side by side, in seconds."""

    bench: str
    cpu: float
    """Of all its processes."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for."""

    full: bool = False
    data: Path | None = None

    @property
    def patience(self) -> float:
        return LONG_PATIENCE if self.full else PATIENCE


def run_bench(bench: Bench, wanted: Wanted) -> list[Row]:
    """Run one program and read its figures; a bench that gives none is one row that fails."""
    command = [sys.executable, "-m", bench.module, *(bench.full if wanted.full else bench.short)]
    files = [str(wanted.data / name) for name in bench.data] if wanted.data else []
    if files:
        command += [*([bench.data_option] if bench.data_option else []), *files]
    ran = _run(command, wanted.patience)
    if ran is None:
        return [_failed(bench.name, f"not done within {wanted.patience:.0f} s")]
    try:
        figures = bench.read(ran.stdout)
    except (KeyError, TypeError, ValueError) as error:
        return [_failed(bench.name, f"figures that cannot be read: {error!r}")]
    if figures:
        return rows_of(bench.name, figures, "" if wanted.full else bench.size)
    last = (ran.stderr.strip().splitlines() or ["it printed no figures"])[-1]
    return [_failed(bench.name, last[:200])]


def run_own(name: str, wanted: Wanted) -> list[Row]:
    """Measure in this process."""
    try:
        return rows_of(name, OWN[name](wanted.full, wanted.data))
    except NotMeasuredError as why:
        return [_failed(name, str(why))]


def rows_of(bench: str, figures: Sequence[Figure], size: str = "") -> list[Row]:
    """Figures as lines of the table; the size stands beside each."""
    return [
        Row(
            bench,
            figure.name,
            figure.value,
            figure.limit,
            figure.unit,
            figure.holds,
            ", ".join(filter(None, (figure.detail, size))),
        )
        for figure in figures
    ]


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


def _failed(bench: str, why: str) -> Row:
    return Row(bench, "the bench itself", 1, 0, "failures", False, why)


@dataclass(frozen=True, slots=True)
class Errand:
    """One bench that is wanted."""

    name: str
    run: Callable[[], list[Row]]
    alone: bool
    """Whether nothing may run beside it."""


def chosen(word: str, wanted: Wanted) -> list[Errand]:
    """The benches whose name holds the word."""
    programs = [
        Errand(bench.name, partial(run_bench, bench, wanted), bench.timed)
        for bench in BENCHES
        if word in bench.name
    ]
    own = [Errand(name, partial(run_own, name, wanted), alone=True) for name in OWN if word in name]
    return [*programs, *own]


def run_all(errands: Sequence[Errand]) -> tuple[list[Row], list[Spent]]:
    """All rows, in the order of the errands; those that measure no time run side by side, on all cores."""
    rows: dict[str, list[Row]] = {}
    spent: list[Spent] = []
    beside = [each for each in errands if not each.alone]
    for errand in errands:
        if errand.alone:
            with _noted(errand.name, spent):
                rows[errand.name] = errand.run()
    if beside:
        names = ", ".join(each.name for each in beside)
        with _noted(names, spent), ThreadPoolExecutor(os.cpu_count()) as pool:
            running = [(errand.name, pool.submit(errand.run)) for errand in beside]
            for name, each in running:
                rows[name] = each.result()
    return [row for errand in errands for row in rows[errand.name]], spent


@contextmanager
def _noted(name: str, spent: list[Spent]) -> Generator[None]:
    """Tell what runs, and note what it took."""
    print(f"... {name}", file=sys.stderr, flush=True)
    began, used = time.monotonic(), _cpu()
    yield
    spent.append(Spent(name, round(_cpu() - used, 2), round(time.monotonic() - began, 2)))


def _cpu() -> float:
    """CPU seconds of this process and of all its children that have ended."""
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def table(
    rows: Sequence[Row], calibration: tuple[float, float], spent: Sequence[Spent], notes: Sequence[str]
) -> str:
    """What a person reads."""
    before, after = calibration
    heading = (
        f"mcode benches: Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"calibration {before:.3f} s before and {after:.3f} s after; "
        f"{sum(each.seconds for each in spent):.0f} s in all, {sum(each.cpu for each in spent):.0f} s of CPU"
    )
    lines = [heading]
    if abs(after / before - 1) > STEADY:
        lines.append("The machine was not steady: figures of time prove little.")
    wide, benches = max(len(row.name) for row in rows), max(len(row.bench) for row in rows)
    for row in rows:
        verdict = "pass" if row.holds else "FAIL"
        shown = f"{row.value:>10,.3f} {row.unit} (at most {row.limit:g})"
        lines.append(f"{verdict}  {row.bench:<{benches}}  {row.name:<{wide}}  {shown}  {row.detail}".rstrip())
    return "\n".join([*lines, f"{sum(row.holds for row in rows)} of {len(rows)} hold", *notes])


def main() -> int:
    """Run them; 1 where a figure misses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="benches whose name holds this word")
    parser.add_argument("--json", type=Path, metavar="FILE", default=Path("bench.json"))
    parser.add_argument("--data", type=Path, metavar="DIRECTORY")
    given = parser.parse_args()
    wanted, before = Wanted(given.full, given.data), calibrate()
    rows, spent = run_all(chosen(given.only, wanted))
    if not rows:
        parser.error(f"no bench is called anything with {given.only!r}")
    notes = (
        []
        if given.data
        else ["Not measured without --data: recall on real catalogues, the signatures' share."]
    )
    calibration = (before, calibrate())
    whole = {
        "full": given.full,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "calibration": calibration,
        "figures": [asdict(row) for row in rows],
        "spent": [asdict(each) for each in spent],
        "notes": notes,
    }
    given.json.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    print(table(rows, calibration, spent, notes))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a model of meanings that still computes in its thread would abort an orderly end
