"""The tool search at 3,000 tools: CPU of building the index, time of a query, memory.

    python -m tools.bench_search [CATALOGUE.jsonl ...] [--tools N]

Without a catalogue the tools are made up: names, descriptions and schemas of the size that real ones have. A
catalogue with fewer tools than asked for is repeated under other servers' names, with some words changed. Everything
is measured in a child process of its own, the vocabulary's loading included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from mcode.catalog.entry import Entry
from mcode.catalog.search import ToolIndex
from mcode.catalog.search_cli import entry_of
from tools.measure import Figure, report, resident_memory

VERBS = "create get list update delete search send move copy export import run stop describe validate"
THINGS = (
    "issue pull_request branch file folder page message channel event meeting task invoice payment order customer "
    "table record index query dashboard alert pod deployment cluster image video playlist route place note"
)
FILLERS = (
    "the a of with for and optional required returns object identifier when given default maximum results filter "
    "supports paging includes only matching current workspace user project fields status time range value"
)
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo qu"
QUERIES = (
    "create an issue in the tracker",
    "which pods are failing and why, with the last lines of their logs",
    "search messages of a channel, then send a summary by email",
    "删除云盘里的文件夹",
    "Rechnung an den Kunden senden",
    "find invoices that are not paid and remind the customer",
    "k8s deployment rollout restart",
    "get the current exchange rate",
    "レストランを検索して予約する",
    "put the meeting of tomorrow an hour later and tell everybody who was invited about it",
)
ROUNDS = 12


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("catalogues", nargs="*", type=Path)
    parser.add_argument("--tools", type=int, default=3_000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(entries(options.catalogues, options.tools))))
        return 0
    command = [sys.executable, "-m", "tools.bench_search", "--inside", "--tools", str(options.tools)]
    ran = subprocess.run(
        [*command, *map(str, options.catalogues)], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, float] = json.loads(ran.stdout)
    return report(
        f"tool search, {options.tools} tools",
        [
            Figure("CPU of building the index", found["build"], 1.5, "s"),
            Figure("first query after it", found["first"], 0.5, "s"),
            Figure("query, 95th percentile", found["p95"], 15.0, "ms", f"median {found['median']:.1f} ms"),
            Figure("memory of index and tables", found["memory"], 60.0, "MB"),
            Figure("replacing a server of 100 tools, and a query", found["replace"], 0.5, "s"),
        ],
    )


def measure(tools: list[Entry]) -> dict[str, float]:
    """The figures of one process: seconds of CPU, milliseconds, megabytes."""
    before = resident_memory(os.getpid())
    began = time.process_time()
    index = ToolIndex.build(tools)
    build = time.process_time() - began
    began = time.process_time()
    index.search(QUERIES[0])
    first = time.process_time() - began
    times: list[float] = []
    for _ in range(ROUNDS):
        for query in QUERIES:
            began = time.process_time()
            index.search(query, 15)
            times.append((time.process_time() - began) * 1000)
    memory = (resident_memory(os.getpid()) - before) / 1e6
    began = time.process_time()
    index.replace_server("added", [replace(tool, server="added") for tool in tools[:100]])
    index.search(QUERIES[0])
    replaced = time.process_time() - began
    return {
        "build": build,
        "first": first,
        "median": statistics.median(times),
        "p95": sorted(times)[int(len(times) * 0.95)],
        "memory": memory,
        "replace": replaced,
    }


def entries(catalogues: list[Path], count: int) -> list[Entry]:
    """As many tools as asked for, from catalogues or made up; the same ones each time."""
    found = [
        entry_of(json.loads(line))
        for path in catalogues
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]
    chance = random.Random(7)
    if not found:
        return [made_up(number, chance) for number in range(count)]
    while len(found) < count:
        number = len(found)
        source = found[number % max(1, len(found))]
        found.append(
            replace(
                source,
                name=f"{source.name}_{number}",
                server=f"{source.server}{number // 50}",
                description=f"{source.description} {source.name}{number}",
            )
        )
    return found[:count]


def made_up(number: int, chance: random.Random) -> Entry:
    """A tool as servers have them: about 40 words of description, five parameters with a sentence each."""
    verb, thing = chance.choice(VERBS.split()), chance.choice(THINGS.split())
    return Entry(
        name=f"mcp__server{number // 40}__{verb}_{thing}_{_word(chance)}",
        server=f"server{number // 40}",
        description=f"{verb.title()} a {thing.replace('_', ' ')}. {_sentence(40, chance)}",
        input_schema={
            "type": "object",
            "properties": {
                f"{chance.choice(THINGS.split())}_{_word(chance)}": {
                    "type": "string",
                    "description": _sentence(8, chance),
                }
                for _ in range(5)
            },
        },
    )


def _sentence(size: int, chance: random.Random) -> str:
    """Half of it words that every description has, the rest of the subject or rare."""
    return " ".join(
        chance.choice(FILLERS.split()) if chance.random() < 0.5 else _word(chance) for _ in range(size)
    )


def _word(chance: random.Random) -> str:
    """One of some thousand words, few of them frequent and most of them rare, as in a language."""
    number = int(4_000 * chance.random() ** 3)
    if number < 400 and number % 16 == 0:
        things = THINGS.split()
        return things[number // 16 % len(things)].replace("_", " ")
    syllables = SYLLABLES.split()
    return syllables[number % 20] + syllables[number // 20 % 20] + syllables[number // 400]


if __name__ == "__main__":
    sys.exit(main())
