"""Measuring child processes: CPU, memory, calibration, and one table for all figures."""

from __future__ import annotations

import compileall
import json
import os
import platform
import resource
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mcode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TICK = os.sysconf("SC_CLK_TCK")
"""Clock ticks in a second, for /proc."""


class NotMeasuredError(Exception):
    """Something that a figure needs was not there; a figure without it would say something else."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure against what was promised."""

    name: str
    value: float
    limit: float
    unit: str = "times"
    detail: str = ""

    @property
    def holds(self) -> bool:
        return self.value <= self.limit


def calibrate() -> float:
    """Seconds that a fixed piece of pure Python takes here: what the other figures are to be seen against."""
    samples: list[float] = []
    for _ in range(5):
        began = time.process_time()
        total = 0
        for number in range(1_000_000):
            total += number * number % 7
        samples.append(time.process_time() - began)
    return statistics.median(samples)


def compile_package() -> None:
    """Write the bytecode of mcode, as installing it does: a checkout in use may lack that of what has changed."""
    compileall.compile_dir(str(Path(mcode.__file__).parent), quiet=1)


def child_cpu(
    command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> float:
    """CPU seconds of one run of a command, user and system, its own children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        list(command),
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=cwd,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def running_cpu(process: int) -> float:
    """CPU seconds that a running process has used so far (Linux: from /proc; elsewhere from ps)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    except FileNotFoundError:
        shown = subprocess.run(
            ["ps", "-o", "time=", "-p", str(process)], capture_output=True, text=True, check=True
        )
        minutes, _, seconds = shown.stdout.strip().rpartition(":")
        return float(minutes or 0) * 60 + float(seconds)


def resident_memory(process: int) -> int:
    """Bytes of memory that a running process holds."""
    shown = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True
    )
    return int(shown.stdout) * 1024


def alternate(runs: int, *measure: Callable[[], float]) -> tuple[list[float], ...]:
    """Run the measurements in turn, so that whatever else the machine does hits all of them alike."""
    samples: tuple[list[float], ...] = tuple([] for _ in measure)
    for _ in range(runs):
        for kept, take in zip(samples, measure, strict=True):
            kept.append(take())
    return samples


def ratio(ours: Sequence[float], base: Sequence[float]) -> float:
    """How many times the base, of samples that `alternate` took: each is compared with the one beside it, since a
    machine changes its pace between them; the median of the comparisons.
    """
    return statistics.median(one / other for one, other in zip(ours, base, strict=True))


def report(title: str, figures: Sequence[Figure]) -> int:
    """Print the table and one line of JSON; returns 0 when every figure holds."""
    calibration = calibrate()
    print(
        f"{title}  (Python {platform.python_version()}, {os.cpu_count()} cores, calibration {calibration:.3f} s)"
    )
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        verdict = "holds" if figure.holds else "MISSES"
        print(
            f"  {figure.name:<{width}}  {figure.value:>9.3f} {figure.unit}, "
            f"promised at most {figure.limit:g}: {verdict}  {figure.detail}"
        )
    rows = [{**asdict(figure), "holds": figure.holds} for figure in figures]
    print(json.dumps({"bench": title, "calibration": calibration, "figures": rows}))
    return 0 if all(figure.holds for figure in figures) else 1
