"""Which benches there are: how each is called, short and whole, and how its output becomes figures."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.measure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Bench:
    """One bench that is a program of its own."""

    name: str
    module: str
    short: tuple[str, ...]
    full: tuple[str, ...]
    size: str
    """What the short run is, beside the whole one; empty where both are the same."""
    read: Callable[[str], list[Figure]]
    """Makes figures of its output; none where it printed none."""
    data: tuple[str, ...] = ()
    """Files of real tools that it takes, by their names in the folder of `--data`."""
    data_option: str = ""
    """The option that they stand behind; empty where they come last."""
    timed: bool = True
    """Whether it measures time, by the clock or of the CPU: then nothing may run beside it."""


def of_json(output: str) -> list[Figure]:
    """The figures of a program that ends with a line of `tools.measure.report`."""
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    figures: list[dict[str, Any]] = found[-1].get("figures", []) if found else []
    return [Figure(**{key: value for key, value in each.items() if key != "holds"}) for each in figures]


def of_guard(output: str) -> list[Figure]:
    """The figures of `bench_guard --json`."""
    found = next((json.loads(line) for line in output.splitlines() if line.startswith("{")), None)
    if found is None:
        return []
    asked, hostile = 100 * (1 - found["everyday_unasked"]), found["hostile_unasked"]
    return [
        Figure(
            "hostile lines that run without a question", len(hostile), 0, "lines", ", ".join(hostile)[:80]
        ),
        Figure("everyday lines that are asked about", asked, 5, "%"),
        Figure("a verdict, median", found["median"], 2, "ms"),
        Figure("a verdict, the worst line", found["worst"], 20, "ms"),
    ]


def told(*figures: tuple[str, str, float, str]) -> Callable[[str], list[Figure]]:
    """Reads figures out of the sentence in which a program says what it found: name, pattern, limit, unit.

    Without one of them there are none at all: a sentence that has changed is a bench that fails.
    """

    def read(output: str) -> list[Figure]:
        found = [re.findall(pattern, output) for _, pattern, _, _ in figures]
        if not all(found):
            return []
        return [
            Figure(name, float(values[-1]), limit, unit)
            for (name, _, limit, unit), values in zip(figures, found, strict=True)
        ]

    return read


REAL = ("catalogue.jsonl", "livemcpbench_catalogue.jsonl")

BENCHES: Sequence[Bench] = (
    Bench("start", "tools.bench_start", ("--runs", "2"), (), "2 starts, not 9", of_json),
    Bench(
        "calls", "tools.bench_calls", ("--calls", "100", "--rounds", "1"), (), "100 calls, not 200", of_json
    ),
    Bench(
        "programs",
        "tools.bench_run_code",
        ("--calls", "500", "--runs", "5"),
        (),
        "500 calls, not 2,000",
        of_json,
        data=REAL[:1],
        data_option="--catalogue",
    ),
    Bench("search", "tools.bench_search", (), (), "", of_json, data=REAL),
    Bench(
        "catalogue",
        "tools.bench_catalogue",
        ("--rounds", "2"),
        (),
        "10,000 tools arrive twice, not 5 times",
        of_json,
        data=REAL,
    ),
    Bench("servers", "tools.bench_servers", ("--runs", "1"), (), "1 start, not 9", of_json),
    Bench(
        "guard", "tools.bench_guard", ("--rounds", "2", "--json"), ("--json",), "2 rounds, not 20", of_guard
    ),
    Bench(
        "shell lines",
        "tools.fuzz_shell",
        ("--lines", "10000"),
        (),
        "10,000 lines, not 200,000",
        told(("lines that bash reads otherwise", r"(\d+) differences", 0, "lines")),
        timed=False,
    ),
    Bench(
        "streams",
        "tools.fuzz_streams",
        ("--count", "1000"),
        (),
        "1,000 streams, not 50,000",
        told(("crashes, or calls of incomplete messages", r"(\d+) crashes", 0, "streams")),
        timed=False,
    ),
    Bench(
        "kills",
        "tools.kill_sessions",
        ("--kills", "10"),
        (),
        "10 kills, not 1,000",
        told(("acknowledged things lost, files half written", r"(\d+) problems", 0, "of them")),
        timed=False,
    ),
    Bench(
        "soak",
        "tools.soak",
        ("--calls", "500"),
        (),
        "500 calls, not 5,000",
        told(
            ("memory after the first tenth of the calls", r"([+-][\d.]+) MB after", 30, "MB"),
            ("children left", r"(\d+) children", 0, "processes"),
        ),
        timed=False,
    ),
    Bench(
        "long session",
        "tools.long_session",
        ("--calls", "300", "--kills", "5"),
        (),
        "300 calls and 5 kills, not 3,000 and 200",
        told(
            ("memory after the first tenth of the calls", r"([+-][\d.]+) MB after", 12, "MB"),
            ("wrong requests and lost facts", r"MB after the first tenth, (\d+) problems", 0, "of them"),
            ("the same where it is killed", r"killed: .*?(\d+) problems", 0, "of them"),
        ),
        timed=False,
    ),
    Bench(
        "floods",
        "tools.floods",
        ("--size", "20"),
        (),
        "20 MB, not 100",
        told(
            ("memory on top, at most", r"at most ([+-][\d.]+) MB", 50, "MB"),
            ("a key waits, at most", r"(\d+) ms stall", 100, "ms"),
        ),
    ),
    Bench(
        "folders",
        "tools.hostile_folders",
        ("--rounds", "1", "--only", "everything"),
        (),
        "2 openings, not 32",
        told(("processes, connections and traces of a hostile folder", r"(\d+) processes", 0, "of them")),
        timed=False,
    ),
    Bench(
        "secrets",
        "tools.planted_secrets",
        ("--rounds", "1"),
        (),
        "1 session, not 5",
        told(("planted secrets found in what was written", r"(\d+) found", 0, "secrets")),
        timed=False,
    ),
    Bench(
        "ledger",
        "tools.ledger_sessions",
        ("--sessions", "25"),
        (),
        "25 random sessions, not 500",
        told(
            ("requests whose parts miss the provider's count", r"(\d+) whose parts", 0, "requests"),
            ("estimate after two responses, furthest off", r"at most ([\d.]+)% off", 5, "%"),
        ),
        timed=False,
    ),
    Bench("screen", "tools.bench_ui", ("--runs", "2"), (), "2 starts, not 9", of_json),
)
