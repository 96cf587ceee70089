"""A session that is only looked at: the real wiring with no model, no hook, no server started, and nothing kept."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.session.store import SessionStore
from mcode.wiring.options import Options
from mcode.wiring.workbench import prepare

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def looking(settings: str | None = None) -> AsyncGenerator[CommandContext]:
    """What commands need to inspect this folder's tools; `settings` as `--settings`. Raises UsageError."""
    bench = await prepare(Options(demo=True, settings=settings), interactive=False)
    bench.settings = replace(bench.settings, disable_all_hooks=True)
    with tempfile.TemporaryDirectory(prefix="mcode-look-") as directory:
        bench.store = SessionStore(Path(directory), bench.masker, durable=False)
        agent = await bench.open_agent("startup")
        try:
            yield CommandContext(agent, bench.surroundings(), standard_registry())
        finally:
            await agent.close("other")
            await bench.close()
