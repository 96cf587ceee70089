"""The line front end over the fake agent, to be run in a pseudo-terminal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.commands.host import Surroundings
from mcode.commands.standard import standard_registry
from mcode.config.places import find_places
from mcode.config.settings import UiSettings
from mcode.masking import Masker
from mcode.ui.line.app import LineApp
from mcode.ui.line.look import look_for
from tests.ui.line.fake_agent import FakeAgent

if TYPE_CHECKING:
    from mcode.commands.host import Conversation


def start(arguments: list[str]) -> int:
    """Run the front end; the first argument is the agent's log, the others are options."""
    log = Path(arguments[0])
    logging.basicConfig(filename=log.with_suffix(".debug"))
    return asyncio.run(_main(log, arguments[1:]))


async def _main(log: Path, options: list[str]) -> int:
    task = asyncio.ensure_future(_app(log, options).run())
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM,) if "--ignore-hangup" in options else (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        return 128 + received[0]


def _app(log: Path, options: list[str]) -> LineApp:
    agent = FakeAgent(Path.cwd(), log)

    async def open_agent(source: str, reference: str | None) -> Conversation:
        agent.log(opened=source, reference=reference)
        return FakeAgent(Path.cwd(), log)

    async def models() -> tuple[str, ...]:
        return ("fake-model", "other-model")

    around = Surroundings(
        version="0.1.0",
        places=find_places(os.environ),
        endpoint="nowhere",
        credential="none",
        memory=tuple,
        sessions=tuple,
        models=models,
        masker=Masker(),
    )
    ui = UiSettings(idle_time=0.5, arm_delay=0.3) if "--quick" in options else UiSettings()
    return LineApp(
        agent,
        around=around,
        registry=standard_registry(),
        open_agent=open_agent,
        look=look_for(ui, os.environ, decoration="--no-decoration" not in options),
        remarks=("A remark.",),
    )
