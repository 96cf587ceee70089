"""What `mcode --demo` brings along: the office server, known from the start, and rules for what only reads there."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import mcode

if TYPE_CHECKING:
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

SERVER = "office"
READING = ("list", "get", "search", "count")

TOUR = ("play the demo", "/context session")
"""What `--tour` says for the user."""


def with_demo(options: Options) -> Options:
    """The options with the demo's server and rules, where the demo is wanted."""
    if not options.demo:
        return options
    entry = {
        "command": sys.executable,
        "args": ["-m", "mcode.demo"],
        "env": {"PYTHONPATH": str(Path(mcode.__file__).parent.parent)},
    }
    return replace(
        options,
        mcp_configs=(*options.mcp_configs, json.dumps({"mcpServers": {SERVER: entry}})),
        allowed=(*options.allowed, *(f"mcp__{SERVER}__{verb}_*" for verb in READING)),
        prompt=options.prompt or (TOUR[0] if options.tour else None),
    )


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
