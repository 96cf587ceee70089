"""`mcode acp`: serves editors over the Agent Client Protocol on standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.errors import UsageError
from mcode.jsontext import dump
from mcode.logs import open_log
from mcode.subcommands.parser import SubcommandParser
from mcode.ui.acp.server import serve
from mcode.wiring.options import Options
from mcode.wiring.workbench import existing, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.session.store import SessionInfo
    from mcode.wiring.workbench import Workbench


def main(arguments: list[str]) -> int:
    """Serve until the editor closes standard input; returns the exit code. Raises UsageError."""
    given = _parser().parse_args(arguments)
    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output")):
        if not _can_be_watched(stream.fileno()):
            raise UsageError(
                f"Standard {name} is a file or a device, and an editor speaks through pipes or sockets: `mcode acp` is "
                "for an editor to start. Nothing was started."
            )
    options = Options(
        model=given.model,
        base_url=given.base_url,
        settings=given.settings,
        mode=given.permission_mode,
        demo=given.demo,
        trust=given.trust,
        debug=given.debug,
    )
    return asyncio.run(_serve(options))


def _can_be_watched(descriptor: int) -> bool:
    """Whether what comes through it can be waited for, as it cannot with a file or the null device."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode acp", undone="started", description=__doc__)
    add = parser.add_argument
    add("--model", metavar="NAME", help="the model to ask")
    add("--base-url", metavar="URL", help="any endpoint of the Messages protocol")
    add("--settings", metavar="FILE", help="a settings file, or JSON text, for this run")
    add("--permission-mode", metavar="MODE", help="default, acceptEdits, plan or dontAsk")
    add("--trust", action="store_true", help="servers and settings of the folder count, for this run only")
    add("--demo", action="store_true", help="the offline guide: a script, no model, nothing is sent")
    add("--debug", action="store_true", help="write a detailed log to the state directory")
    return parser


async def _serve(options: Options) -> int:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(serve(_Folders(options)))
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, end, number)
    try:
        await task
    except asyncio.CancelledError:
        return 128 + (received[0] if received else signal.SIGTERM)
    return 0


class _Folders:
    """Opens sessions; what they share is prepared once a folder. Fulfils `ui.acp.server.Opener`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._benches: dict[tuple[Path, str], Workbench] = {}
        """By folder, and the servers that the editor gives its sessions there."""
        self._log = ExitStack()

    async def open(
        self, folder: Path, source: str, reference: str | None, servers: JsonObject
    ) -> CommandContext:
        """An agent that has not started yet, and what its commands need. Raises McodeError.

        `servers`: entries by name as in `.mcp.json`, of the editor and so of the user's own.
        """
        bench = await self._bench(folder, servers)
        agent = await bench.open_agent(source, reference)
        return CommandContext(agent, bench.surroundings(), standard_registry())

    async def sessions(self, folder: Path) -> Sequence[SessionInfo]:
        """Earlier sessions of a folder, newest first. Raises McodeError."""
        bench = await self._bench(folder)
        return await asyncio.to_thread(bench.store.list)

    async def close(self) -> None:
        """End what outlives sessions."""
        benches, self._benches = list(self._benches.values()), {}
        for bench in benches:
            await bench.close()
        self._log.close()

    async def _bench(self, folder: Path, servers: JsonObject | None = None) -> Workbench:
        config = dump({"mcpServers": servers}) if servers else ""
        place = (existing(folder), config)
        if place not in self._benches:
            options = replace(self._options, mcp_configs=(config,)) if config else self._options
            bench = await prepare(options, interactive=True, folder_of_work=place[0])
            if not self._benches:
                log = open_log(bench.places.logs, bench.masker, detailed=self._options.debug)
                self._log.enter_context(log)
            self._benches[place] = bench
        return self._benches[place]
