"""The line front end over the fake agent, as a program for a pseudo-terminal: python -m tests.ui.line.driver LOG."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcode.commands.host import Conversation, Surroundings
from mcode.commands.standard import standard_registry
from mcode.config.places import find_places
from mcode.config.settings import UiSettings
from mcode.masking import Masker
from mcode.ui.line.app import LineApp
from mcode.ui.line.look import look_for
from tests.ui.line.fake_agent import FakeAgent


async def main(log: Path) -> int:
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
    look = look_for(UiSettings(), os.environ, decoration="--no-decoration" not in sys.argv)
    app = LineApp(
        agent,
        around=around,
        registry=standard_registry(),
        open_agent=open_agent,
        look=look,
        remarks=("A remark.",),
    )
    task = asyncio.ensure_future(app.run())
    asyncio.get_running_loop().add_signal_handler(15, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        agent.log(cancelled=True)
        return 143


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
