"""`mcode doctor`: what is wrong with this folder's settings, key, rules, hooks, servers and trust. No model is asked.

Servers that may run are connected, to see whether they work. Nothing that is not trusted is started. Ends with 0 where
all is well, with 1 where something does not work or can never have its effect.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.servers import ServerControl
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.wiring.looking import looking

if TYPE_CHECKING:
    import argparse

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import CommandResult

PATIENCE = 30.0
"""Seconds that all servers together have to connect."""

IDLE = frozenset({"disabled", "needs approval", "needs sign-in", "off"})


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code. Raises UsageError."""
    given = _parser().parse_args(arguments)
    result = asyncio.run(_examined(given))
    text = jsontext.dump(result.data) if given.json else result.text
    write(sys.stdout, f"{clean(text, Kind.BLOCK) if sys.stdout.isatty() else text}\n")
    return 1 if result.failed else 0


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode doctor", undone="looked at", description=__doc__)
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    parser.add_argument("--offline", action="store_true", help="start and contact no server")
    parser.add_argument("--settings", metavar="FILE", help="a settings file, or JSON text, for this run")
    return parser


async def _examined(given: argparse.Namespace) -> CommandResult:
    async with looking(given.settings, endpoint=True) as context:
        if not given.offline:
            await _connect(context)
        return await context.registry.run("/doctor", context)


async def _connect(context: CommandContext) -> None:
    """Connect every server that may run; one that takes too long is left as it is."""
    servers = context.agent.builder.shelf.servers
    if not isinstance(servers, ServerControl):
        return
    names = [status.name for status in servers.statuses() if status.state not in IDLE]
    tasks = [asyncio.ensure_future(servers.reconnect(name)) for name in names]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=PATIENCE)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
