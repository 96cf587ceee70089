"""
Recall of the tool search on catalogues and queries with known answers, beside two baselines.

    python -m tools.eval_search [--set CATALOGUE.jsonl QUERIES.jsonl [QUERIES.jsonl ...]] [--set ...]
        [--semantic] [--tune] [--json]

Without a set: the tools of the demo's office, and 48 queries on them that were written before they were tried.

A line of queries: {"query", "kind", "lang", "set", "need": [[id, ...], ...]}; a need is met by any of its tools, and
no need at all means that nothing fits. `--tune` chooses the numbers of the ranking on the queries of one half of the
servers and reports the other half, both ways round: what a gain is worth shows there, not on what it was chosen on.
`--semantic` also counts meaning, where the extra of that name is installed; all vectors are worked out first.

Beside this program lie `fresh_queries_dev.jsonl` and `fresh_queries_held.jsonl`: 442 queries on the recorded tools of
33 public servers, for `--set`. A language model wrote them from the tools' names and descriptions, before it read the
tables or the ranking of the search and before any of them was tried: 202 (fresh-) for what people and models ask in
passing, and 240 (random-) for tools that were drawn at random, a third of them as a user puts it who knows of no tool.
A need lists every tool that the descriptions say would do. Each was split at random or every other one. Misses of the
first file may be studied; of the second only its totals were ever looked at, and one query that made a search fail.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import math
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcode.catalog.entry import Weights
from mcode.catalog.meaning import Meaning
from mcode.catalog.search import ToolIndex
from mcode.catalog.search_cli import SETTLE, entry_of
from mcode.demo.tables import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcode.catalog.entry import Entry
    from mcode.jsontext import JsonObject

OFFICE_QUERIES = Path(__file__).with_name("office_queries.jsonl")

DEPTH = 10
"""Results that are looked at."""

LOST = 10**6
"""Rank of a tool that was not found."""

GRID: dict[str, tuple[float, ...]] = {
    "name": (3.0, 4.0, 5.0),
    "server": (1.0, 2.0, 3.0),
    "first_sentence": (1.0, 2.0, 3.0),
    "rest": (0.25, 0.5, 0.8),
    "parameter": (0.25, 0.5, 0.8, 1.2),
    "parameter_text": (0.1, 0.2, 0.4),
    "saturation": (0.8, 1.2, 1.8),
    "length": (0.0, 0.25, 0.5),
    "equal": (0.65, 0.75, 0.85),
    "related": (0.35, 0.45, 0.55),
    "weak": (0.15, 0.3, 0.5),
    "name_coverage": (0.4, 0.8, 1.2),
    "query_coverage": (0.25, 0.5, 0.8),
    "deed": (0.0, 0.1, 0.2, 0.3),
    "clause": (0.0, 0.4, 0.7, 1.0),
}
"""Values that `--tune` tries, one number after the other."""


class Searcher(Protocol):
    """Anything that ranks tools."""

    def __call__(self, query: str) -> tuple[list[str], bool]:
        """The names of the tools found, the best first, and whether it says that nothing fits."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One query with what it needs."""

    query: str
    kind: str
    lang: str
    set: str
    need: tuple[frozenset[str], ...]
    half: int
    """0 or 1, by the server of the first tool needed."""


@dataclass(frozen=True, slots=True)
class Task:
    """A catalogue and the queries on it."""

    entries: tuple[Entry, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of one query."""

    asked: Asked
    ranks: tuple[int, ...]
    """By need: at which rank it was met, from 1."""
    none: bool


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="+", action="append", type=Path, dest="sets")
    parser.add_argument(
        "--tune", action="store_true", help="choose the numbers on one half, report the other"
    )
    parser.add_argument("--semantic", action="store_true", help="also count meaning")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args()
    sets: list[list[Path]] = options.sets or []
    tasks = [read_task(catalogue, queries) for catalogue, *queries in sets] or [office_task()]
    report = {
        "ours": figures(outcomes(tasks, with_meaning() if options.semantic else our_search())),
        "bm25": figures(outcomes(tasks, PlainBM25)),
        "names": figures(outcomes(tasks, NamesOnly)),
    }
    held_out = tune_halves(tasks) if options.tune else []
    if options.json:
        print(json.dumps({"figures": report, "held_out": held_out}))
        return 0
    print_table(report)
    for row in held_out:
        print(
            f"chosen on half {row['chosen_on']}: recall@5 there {row['there']:.3f}, on the other half "
            f"{row['held_out']:.3f} (with the defaults {row['held_out_defaults']:.3f}); changed: {row['changed']}"
        )
    return 0


def office_task() -> Task:
    """The demo's tools and the queries that are shipped beside this program."""
    rows = [
        {**each, "id": f"office/{each['name']}", "server": "office", "input_schema": each["inputSchema"]}
        for each in TOOLS
    ]
    return task_of(rows, [OFFICE_QUERIES])


def read_task(catalogue: Path, queries: Sequence[Path]) -> Task:
    """A catalogue file and the files of queries on it; queries that need tools it has not are left out."""
    return task_of(read_lines(catalogue), queries)


def task_of(rows: Sequence[JsonObject], queries: Sequence[Path]) -> Task:
    """The rows of a catalogue and the files of queries on it."""
    names = {row["id"]: entry_of(row).name for row in rows}
    asked: list[Asked] = []
    for path in queries:
        for row in read_lines(path):
            need = tuple(frozenset(names[each] for each in ids if each in names) for ids in row["need"])
            if all(need):
                asked.append(Asked(row["query"], row["kind"], row["lang"], row["set"], need, half_of(row)))
    return Task(tuple(entry_of(row) for row in rows), tuple(asked))


def read_lines(path: Path) -> list[JsonObject]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def half_of(row: JsonObject) -> int:
    """Which half a query belongs to: that of the server which it is about."""
    subject = row["need"][0][0].split("/")[0] if row["need"] else row["id"]
    return hashlib.sha256(subject.encode()).digest()[0] % 2


def with_meaning() -> Callable[[Sequence[Entry]], Searcher]:
    """The search of mcode with the extra `semantic`; raises SystemExit where that is not installed."""
    return our_search(semantic=True)


def our_search(
    weights: Weights | None = None, *, semantic: bool = False
) -> Callable[[Sequence[Entry]], Searcher]:
    """The search of mcode, as something that is made for a catalogue."""

    def make(entries: Sequence[Entry]) -> Searcher:
        meaning = Meaning() if semantic else None
        index = ToolIndex.build(entries, weights, meaning=meaning)
        if meaning is not None and (not meaning.settle(SETTLE) or meaning.problem):
            raise SystemExit(f"no meaning: {meaning.problem or 'the vectors took too long'}")

        def search(query: str) -> tuple[list[str], bool]:
            result = index.search(query, DEPTH)
            return [hit.name for hit in result.hits], result.no_match

        return search

    return make


class PlainBM25:
    """BM25 over the words of name and description, as most agents have it."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._names = [entry.name for entry in entries]
        self._texts = [
            collections.Counter(plain_words(f"{entry.bare_name} {entry.description}")) for entry in entries
        ]
        self._held = collections.Counter(word for text in self._texts for word in text)
        self._usual = sum(text.total() for text in self._texts) / max(1, len(self._texts))

    def __call__(self, query: str) -> tuple[list[str], bool]:
        scores = [self._score(text, plain_words(query)) for text in self._texts]
        return best_of(scores, self._names)

    def _score(self, text: Mapping[str, int], query: Iterable[str]) -> float:
        length = sum(text.values()) / self._usual
        total = 0.0
        for word in query:
            count = text.get(word, 0)
            if count:
                rare = math.log(1 + (len(self._texts) - self._held[word] + 0.5) / (self._held[word] + 0.5))
                total += rare * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
        return total


class NamesOnly:
    """Counts the words of a query in the names of tools."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._names = [entry.name for entry in entries]
        self._words = [set(plain_words(f"{entry.server} {entry.bare_name}")) for entry in entries]

    def __call__(self, query: str) -> tuple[list[str], bool]:
        wanted = set(plain_words(query))
        return best_of([len(wanted & held) / (1 + len(held)) for held in self._words], self._names)


def best_of(scores: Sequence[float], names: Sequence[str]) -> tuple[list[str], bool]:
    """The names with the highest scores above nothing."""
    ranked = sorted((-score, name) for score, name in zip(scores, names, strict=True) if score)
    return [name for _, name in ranked[:DEPTH]], not ranked


def plain_words(text: str) -> list[str]:
    """Lower-case words, cut at everything but letters and digits."""
    return re.findall(r"[^\W_]+", text.lower())


def outcomes(tasks: Sequence[Task], make: Callable[[Sequence[Entry]], Searcher]) -> list[Found]:
    """Every query of the tasks answered by a search made for its catalogue."""
    found: list[Found] = []
    for task in tasks:
        search = make(task.entries)
        for asked in task.asked:
            names, none = search(asked.query)
            ranks = tuple(
                next((rank for rank, name in enumerate(names, 1) if name in need), LOST)
                for need in asked.need
            )
            found.append(Found(asked, ranks, none))
    return found


def figures(found: Sequence[Found]) -> dict[str, dict[str, float]]:
    """The figures of all queries and of each set, kind, language and half, by their labels."""
    groups: dict[str, list[Found]] = collections.defaultdict(list)
    for each in found:
        asked = each.asked
        for label in (
            f"set {asked.set}",
            f"{asked.set}, kind {asked.kind}",
            f"{asked.set}, language {asked.lang}",
            f"{asked.set}, half {asked.half}",
        ):
            groups[label].append(each)
    return {label: figures_of(groups[label]) for label in sorted(groups)}


def figures_of(found: Sequence[Found]) -> dict[str, float]:
    """Recall at 1, 5 and 10, and how often nothing was said to fit, rightly and wrongly."""
    fitting = [each for each in found if each.ranks]
    others = [each for each in found if not each.ranks]
    return {
        "queries": len(found),
        **{f"recall@{depth}": recall(fitting, depth) for depth in (1, 5, 10)},
        "none_detected": share([each.none for each in others]),
        "false_no_match": share([each.none for each in fitting]),
    }


def recall(found: Sequence[Found], depth: int) -> float:
    """The share of needs met within so many results, averaged over queries."""
    met = [sum(rank <= depth for rank in each.ranks) / len(each.ranks) for each in found if each.ranks]
    return sum(met) / len(met) if met else 0.0


def share(values: Sequence[bool]) -> float:
    """How many of the values are true, from 0 to 1."""
    return sum(values) / len(values) if values else 0.0


def goal(found: Sequence[Found]) -> float:
    """What tuning makes larger: recall at 5, and a little for each rank nearer the top."""
    fitting = [each for each in found if each.ranks]
    near = sum(sum(1 / rank for rank in each.ranks) / len(each.ranks) for each in fitting)
    return recall(fitting, 5) + 0.2 * near / max(1, len(fitting))


def tune_halves(tasks: Sequence[Task]) -> list[dict[str, object]]:
    """Both ways round: numbers chosen on one half of the servers, and what they are worth on the other."""
    rows: list[dict[str, object]] = []
    for chosen_on in (0, 1):
        here, there = (half_tasks(tasks, half) for half in (chosen_on, 1 - chosen_on))
        weights = tune(here)
        changed = {
            name: getattr(weights, name)
            for name in GRID
            if getattr(weights, name) != getattr(Weights(), name)
        }
        rows.append(
            {
                "chosen_on": chosen_on,
                "there": recall(outcomes(here, our_search(weights)), 5),
                "held_out": recall(outcomes(there, our_search(weights)), 5),
                "held_out_defaults": recall(outcomes(there, our_search()), 5),
                "changed": changed,
            }
        )
    return rows


def half_tasks(tasks: Sequence[Task], half: int) -> list[Task]:
    """The same catalogues with the queries of one half."""
    return [Task(task.entries, tuple(each for each in task.asked if each.half == half)) for task in tasks]


def tune(tasks: Sequence[Task]) -> Weights:
    """The numbers that are best for these queries, found one after the other from the defaults."""
    best = Weights()
    reached = goal(outcomes(tasks, our_search(best)))
    for name, values in GRID.items():
        for value in values:
            tried = replace(best, **{name: value})
            score = goal(outcomes(tasks, our_search(tried)))
            if score > reached:
                best, reached = tried, score
    return best


def print_table(report: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    print(
        f"{'':38}{'queries':>8}{'R@1':>8}{'R@5':>8}{'R@10':>8}{'BM25':>8}{'names':>8}{'none':>8}{'false':>8}"
    )
    for label, row in report["ours"].items():
        print(
            f"{label[:37]:38}{row['queries']:8.0f}{row['recall@1']:8.3f}{row['recall@5']:8.3f}"
            f"{row['recall@10']:8.3f}{report['bm25'][label]['recall@5']:8.3f}"
            f"{report['names'][label]['recall@5']:8.3f}{row['none_detected']:8.3f}{row['false_no_match']:8.3f}"
        )
    print(
        "R@k: needs met within k results; BM25, names: their R@5; none: queries that nothing fits, detected;"
    )
    print("false: queries of which it was said although something fits.")


if __name__ == "__main__":
    sys.exit(main())
