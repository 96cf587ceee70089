"""The guard's figures: time of a verdict, everyday lines without a question, hostile lines without one.

`python -m tools.bench_guard` prints them and ends with 1 where one is missed; `--json` for machines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.modes import Mode
from mcode.permissions.shell.reading import LENGTH_LIMIT
from mcode.permissions.verdict import Behavior
from tools.guard_cases import Scratch, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.permissions.decide import Policy

ROUNDS = 20
MEDIAN_LIMIT = 2.0
"""Milliseconds."""
WORST_LIMIT = 20.0
"""Milliseconds of the slowest listed line, by its fastest round.

All times are the processor's: a busy machine is not the guard's fault.
"""
SLOW_LIMIT = 50.0
"""Milliseconds of the slowest line that is made to be slow, likewise: the event loop waits for a verdict."""
EVERYDAY_LIMIT = 0.95
RULES = ("Bash(ls *)", "Bash(cat *)", "Bash(echo *)", "Bash(cd *)", "Bash(grep *)")
EDITS = frozenset(("SH001", "SH002", "SH004", "SH029", "SH043", "SH109", "SH111", "SH112"))
"""What these do is `touch` on a path of the workspace, which mode acceptEdits runs."""

HOSTILE_TO_THE_CLOCK = (
    '"' * (LENGTH_LIMIT - 1),
    "$(" * (LENGTH_LIMIT // 2),
    "a=(" * (LENGTH_LIMIT // 3),
    "${" * (LENGTH_LIMIT // 2),
    "<<a " * (LENGTH_LIMIT // 4),
    "ls " + "a " * (LENGTH_LIMIT // 2 - 4),
    "; ".join(["cat a.txt"] * 50),
    "x" * (LENGTH_LIMIT * 2),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured; times in milliseconds."""

    median: float
    worst: float
    """Of the listed lines."""
    made_to_be_slow: float
    """Of lines that are made to take long."""
    everyday_unasked: float
    """Share of the everyday lines, from 0 to 1."""
    everyday_asked: tuple[str, ...]
    hostile_unasked: tuple[str, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """The figures that are not reached."""
        checks = {
            f"the median is over {MEDIAN_LIMIT} ms": self.median > MEDIAN_LIMIT,
            f"the worst is over {WORST_LIMIT} ms": self.worst > WORST_LIMIT,
            f"a line made to be slow is over {SLOW_LIMIT:.0f} ms": self.made_to_be_slow > SLOW_LIMIT,
            f"fewer than {EVERYDAY_LIMIT:.0%} of the everyday lines run": self.everyday_unasked
            < EVERYDAY_LIMIT,
            "hostile lines run": bool(self.hostile_unasked),
        }
        return tuple(name for name, failed in checks.items() if failed)


def measure(root: Path, rounds: int, *, hostile: bool = True) -> Figures:
    """All figures; `root` is an empty directory. `hostile`: judge the hostile lines too, which takes a while."""
    scratch = Scratch(root)
    policy = scratch.policy(RULES)
    scratch.judge("ls", policy)
    times = {line: min(_timed(scratch, line, policy, rounds)) for line in _lines()}
    every = [each for line in _lines() for each in _timed(scratch, line, policy, 3)]
    heavy = [min(_timed(scratch, line, policy, 3)) for line in HOSTILE_TO_THE_CLOCK]
    asked = [
        case.id
        for case in cases("everyday")
        if scratch.judge(case.line, scratch.policy(case.rules)).behavior is not Behavior.ALLOW
    ]
    unasked = sorted(_unasked(scratch)) if hostile else ()
    everyday = len(cases("everyday"))
    return Figures(
        median=round(statistics.median(every), 3),
        worst=round(max(times.values()), 3),
        made_to_be_slow=round(max(heavy), 1),
        everyday_unasked=round((everyday - len(asked)) / everyday, 3),
        everyday_asked=tuple(asked),
        hostile_unasked=tuple(unasked),
    )


def _lines() -> tuple[str, ...]:
    return tuple(case.line for name in ("everyday", "hostile") for case in cases(name))


def _timed(scratch: Scratch, line: str, policy: Policy, rounds: int) -> Iterator[float]:
    """Milliseconds of the processor for each round, every time with words that were not seen before."""
    for number in range(rounds):
        fresh = f"{line} # {time.monotonic_ns()}{number}" if len(line) < LENGTH_LIMIT // 2 else line[number:]
        began = time.thread_time()
        scratch.judge(fresh, policy)
        yield (time.thread_time() - began) * 1000


def _unasked(scratch: Scratch) -> Iterator[str]:
    """Hostile lines that run without a question in a mode in which they must not."""
    for case in cases("hostile"):
        with scratch.after(case.setup):
            for mode in (Mode.DEFAULT, Mode.PLAN, Mode.ACCEPT_EDITS):
                for rules in ((), RULES):
                    allowed = scratch.judge(case.line, scratch.policy(rules, mode)).behavior is Behavior.ALLOW
                    if allowed and not (mode is Mode.ACCEPT_EDITS and case.id in EDITS):
                        yield f"{case.id} in {mode} with {len(rules)} rules"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        figures = measure(Path(directory), given.rounds)
    if given.json:
        print(json.dumps(asdict(figures)))
    else:
        for name, value in asdict(figures).items():
            print(f"{name:18} {value}")
    for name in figures.missed:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main())
