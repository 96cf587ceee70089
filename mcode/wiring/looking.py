"""A session for inspection only: the real wiring, but no model, no hooks, no servers started, and nothing kept."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.session.store import SessionStore
from mcode.wiring.endpoint import choose_endpoint
from mcode.wiring.options import Options
from mcode.wiring.workbench import prepare

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcode.commands.host import Surroundings
    from mcode.wiring.workbench import Workbench


@asynccontextmanager
async def looking(settings: str | None = None, *, endpoint: bool = False) -> AsyncGenerator[CommandContext]:
    """What commands need to inspect this folder's tools; `settings` as `--settings`. Raises UsageError.

    `endpoint`: say where requests of a session would go, and with whose key; a helper of the user's may run for it.
    """
    bench = await prepare(Options(demo=True, settings=settings), interactive=False)
    bench.settings = replace(bench.settings, disable_all_hooks=True)
    with tempfile.TemporaryDirectory(prefix="mcode-look-") as directory:
        bench.store = SessionStore(Path(directory), bench.masker, durable=False)
        bench.verdict_log = Path(directory, "verdicts.jsonl")
        agent = await bench.open_agent("startup")
        try:
            around = bench.surroundings()
            if endpoint:
                around = await _with_endpoint(bench, around)
            yield CommandContext(agent, around, standard_registry())
        finally:
            await agent.close("other")
            await bench.close()


async def _with_endpoint(bench: Workbench, around: Surroundings) -> Surroundings:
    """The endpoint of a session in the place of the guide that stands for it here; nothing is sent."""
    found = await choose_endpoint(
        replace(bench.options, demo=False), bench.settings, bench.places, bench.environment, interactive=True
    )
    await found.client.close()
    return replace(around, endpoint=found.client.name, credential=found.credential, looked_at=found.looked_at)
