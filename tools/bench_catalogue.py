"""What tools of servers cost before they are used: the first request, its CPU, and the index, at 0 to 3,000 tools;
and how long the event loop is held up where a server of 10,000 arrives in a session.

    python -m tools.bench_catalogue [CATALOGUE.jsonl ...] [--loading call|reference|append]

Each size is a child process with the real wiring and a scripted model; the tools are those of `bench_search`, all of
one server whose definitions are over the limit. Those that arrive are listed by a real process on its pipes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode.catalog.servers import ServerStatus
from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from mcode.model.usage import count_definition, count_request
from mcode.tool import Effect, Tool, ToolResult
from tests.mcp.live import HOSTILE
from tools.bench_search import entries
from tools.local_session import local_workbench
from tools.measure import Figure, report

if TYPE_CHECKING:
    from mcode.catalog.entry import Entry
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices

SIZES = (0, 60, 500, 3_000)
ARRIVING = 10_000
ROUNDS = 5
LINE = "Everything that the whole company works with, in one server"


class StandIn(Tool):
    """A server's tool with nothing behind it."""

    effects = frozenset({Effect.NETWORK})

    def __init__(self, entry: Entry) -> None:
        self.name = f"mcp__all__{entry.bare_name}"[:120]
        self.description = entry.description
        self.input_schema = entry.input_schema or {"type": "object"}
        self.source = "all"
        definition = {"name": self.name, "description": self.description, "input_schema": self.input_schema}
        self.tokens = count_definition(definition)
        """Measured when the list came, and kept with it, as for the tools of real servers."""

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        del arguments, services
        return ToolResult("done")


class Servers:
    """One server, connected."""

    def __init__(self, tools: int) -> None:
        self._tools = tools

    def statuses(self) -> tuple[ServerStatus, ...]:
        return (ServerStatus("all", "connected", self._tools, LINE),) if self._tools else ()

    async def settle(self, seconds: float) -> None:
        del seconds


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("catalogues", nargs="*", type=Path)
    parser.add_argument("--loading", default="call", choices=("call", "reference", "append"))
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="how often the 10,000 tools arrive; the best counts"
    )
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--arriving", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arriving:
        print(json.dumps(asyncio.run(longest_step())))
        return 0
    if options.inside is not None:
        print(
            json.dumps(asyncio.run(measure(stand_ins(options.catalogues, options.inside), options.loading)))
        )
        return 0
    found = {size: _child(options, size) for size in SIZES}
    none = found[0]
    figures = [
        Figure(
            "first request without servers, eight core tools and the doors", none["tokens"], 4_000, "tokens"
        )
    ]
    for size in SIZES[1:]:
        more = found[size]["tokens"] - none["tokens"]
        detail = f"all definitions {found[size]['definitions']:,.0f} tokens"
        figures.append(Figure(f"first request with {size:,} tools, above that", more, 120, "tokens", detail))
    more = (found[SIZES[-1]]["cpu"] - none["cpu"]) * 1000
    detail = f"without servers {none['cpu'] * 1000:.0f} ms, imports aside"
    figures.append(Figure("CPU that 3,000 tools add before the first answer", more, 80, "ms", detail))
    figures.append(Figure("CPU of the index of 3,000 tools", found[SIZES[-1]]["index"], 1.5, "s"))
    steps = [_run_inside("--arriving") for _ in range(options.rounds)]
    least = min(steps, key=lambda each: max(each.values()))
    detail = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in least.items())
    longest = max(least.values()) * 1000
    figures.append(
        Figure(f"longest step of the loop where {ARRIVING:,} tools arrive, CPU", longest, 50, "ms", detail)
    )
    return report("catalogue", figures)


def _child(options: argparse.Namespace, size: int) -> dict[str, float]:
    return _run_inside("--inside", str(size), "--loading", options.loading, *map(str, options.catalogues))


def _run_inside(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tools.bench_catalogue", *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def stand_ins(catalogues: list[Path], count: int) -> list[StandIn]:
    """So many tools of one server, each name once."""
    tools = {tool.name: tool for tool in map(StandIn, entries(catalogues, count * 2))}
    return list(tools.values())[:count]


async def measure(tools: list[StandIn], loading: str) -> dict[str, float]:
    """Tokens of the first request, seconds of CPU until it is there (the least of some rounds), and of the index."""
    settings = {"mcode": {"toolSearch": {"loading": loading}}}
    times: list[float] = []
    result: dict[str, float] = {}
    for number in range(ROUNDS):
        with tempfile.TemporaryDirectory() as directory:
            script: dict[str, Any] = {"turns": [{"reply": "Hello."}]}
            client = ScriptedClient(parse_script(script, "bench"))
            bench = local_workbench(Path(directory), client, settings=settings)
            began = time.process_time()
            agent = await bench.open_agent("startup")
            shelf = agent.builder.shelf
            shelf.servers = Servers(len(tools))
            agent.catalog.replace_server("all", tools)
            await agent.submit("hello")
            times.append(time.process_time() - began)
            began = time.process_time()
            if number == ROUNDS - 1:  # what goes on in the background afterwards must not be counted
                await shelf.finder.warm()
            result = {
                "tokens": count_request(client.requests[0]).total,
                "definitions": sum(shelf.definitions.tokens(tool) for tool in tools),
                "cpu": min(times),
                "index": time.process_time() - began,
            }
            await agent.close("other")
            await bench.close()
    return result


async def longest_step() -> dict[str, float]:
    """Seconds of CPU of the longest step of the loop: while a list of ARRIVING tools comes, and in the turn after."""
    longest: dict[str, float] = {}
    steps: list[float] = []
    run = asyncio.Handle._run  # noqa: SLF001 -- what runs a step has no public name

    def watched(self: asyncio.Handle) -> None:
        began = time.thread_time()  # another process may have the processor meanwhile
        run(self)
        steps.append(time.thread_time() - began)

    with tempfile.TemporaryDirectory() as directory:
        client = ScriptedClient(parse_script({"turns": [{"repeat": True, "reply": "Hello."}]}, "bench"))
        state = Path(directory) / "home" / ".mcode"
        state.mkdir(parents=True)
        entry = {"command": sys.executable, "args": ["-S", str(HOSTILE), "many", str(ARRIVING)]}
        (state / "mcp.json").write_text(json.dumps({"mcpServers": {"all": entry}}))
        bench = local_workbench(Path(directory), client)
        agent = await bench.open_agent("startup")
        asyncio.Handle._run = watched  # noqa: SLF001 -- as above
        await bench.pool.settle(60)
        longest["arriving"] = max(steps)
        steps.clear()
        await agent.submit("hello")
        longest["the first turn"] = max(steps)
        steps.clear()
        await agent.builder.shelf.find("tool 77")
        await agent.submit("hello again")
        longest["a search and the next turn"] = max(steps)
        asyncio.Handle._run = run  # noqa: SLF001 -- as above
        if len(agent.catalog) < ARRIVING:
            raise SystemExit(f"only {len(agent.catalog)} tools arrived")
        await agent.close("other")
        await bench.pool.close()
        await bench.close()
    return longest


if __name__ == "__main__":
    sys.exit(main())
