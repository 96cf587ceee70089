"""What `mcode --demo` brings along: the office server, known from the start, and rules for what only reads there."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import mcode
from mcode.events import Notice, TurnFinished, TurnStarted

if TYPE_CHECKING:
    from mcode.agent.agent import Agent
    from mcode.events import Event
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

SERVER = "office"
READING = ("list", "get", "search", "count")

TOUR = ("play the demo", "/context session")
"""What `--tour` says for the user."""


LEDGER = "The ledger of this session (the guide counts in the place of a provider; nothing was sent):"

AFTERWARDS = (
    "To look closer: /programs, then Enter, shows the program with every call that it made; /context session every "
    "request; /context view the last one word for word. Say `a real model` to hear how to set one; /quit ends."
)


def with_demo(options: Options) -> Options:
    """The options with the demo's server and rules, where the demo is wanted."""
    if not options.demo:
        return options
    entry = {
        "command": sys.executable,
        "args": ["-m", "mcode.demo", *_switches(options)],
        "env": {"PYTHONPATH": str(Path(mcode.__file__).parent.parent)},
    }
    return replace(
        options,
        mcp_configs=(*options.mcp_configs, json.dumps({"mcpServers": {SERVER: entry}})),
        allowed=(*options.allowed, *(f"mcp__{SERVER}__{verb}_*" for verb in READING)),
        prompt=options.prompt or (TOUR[0] if options.tour else None),
    )


def _switches(options: Options) -> list[str]:
    """What the demo's server is told: how slow to be, and how often to fail."""
    given = {"--latency": options.demo_latency, "--fail-every": options.demo_fail_every}
    return [word for name, value in given.items() if value > 0 for word in (name, str(value))]


def show_ledger(agent: Agent) -> None:
    """Let the session's own account stand at the end, when the demo has been played."""
    played: set[int] = set()
    loop = asyncio.get_running_loop()

    def receive(event: Event) -> None:
        if isinstance(event, TurnStarted) and event.text.strip().lower() == TOUR[0]:
            played.add(event.turn)
        elif isinstance(event, TurnFinished) and event.turn in played and event.reason == "end":
            loop.call_soon(_tell_ledger, agent)

    agent.events.subscribe(receive)


def _tell_ledger(agent: Agent) -> None:
    from mcode.commands.ledger_reading import ledger_of
    from mcode.commands.ledger_tables import savings_text, totals_text

    ledger = ledger_of(agent)
    parts = (f"{LEDGER} {totals_text(ledger)}", savings_text(ledger), AFTERWARDS)
    agent.events.emit(Notice("\n\n".join(parts)))


def make_known(bench: Workbench) -> None:
    """Let the demo's tools be there before its server has run, as those of any server are from its second start on."""
    server = bench.pool.get(SERVER) if bench.options.demo else None
    if server is None or "mcode.demo" not in server.entry.args:
        return
    from mcode.demo.__main__ import INSTRUCTIONS
    from mcode.demo.tables import TOOLS
    from mcode.mcp.definitions import Catalogue, read_definitions

    definitions, problems = read_definitions(SERVER, TOOLS)
    found = Catalogue(
        definitions,
        problems,
        title=SERVER,
        instructions=INSTRUCTIONS,
        lookup={each.name: each for each in definitions},
    )
    server.cache.save(server.entry.hash, found)
    server.load()
