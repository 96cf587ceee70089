"""Loading what is slow behind the first frame, or while everything else is read, in threads nobody waits for."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


async def load_modules(names: Sequence[str]) -> None:
    """Import modules one after the other in a thread, while the loop goes on handling keys.

    Nobody waits for the thread where this is cancelled: a run that a signal ends does not load the rest first.
    """
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def load() -> None:
        try:
            for name in names:
                import_module(name)
        finally:
            with suppress(RuntimeError):  # the loop is closed: mcode has ended
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=load, daemon=True).start()
    await done.wait()
    for name in names:
        import_module(name)  # at once, unless it failed in the thread: then the error is raised here


def load_behind(*loaders: Callable[[], None]) -> None:
    """Load slow libraries in a thread. Nobody waits for it: a run that a signal ends does not load the rest first."""

    def load() -> None:
        for loader in loaders:
            loader()

    threading.Thread(target=load, daemon=True).start()


def load_sdk() -> None:
    """Load the library that talks to the endpoint."""
    from mcode.model.anthropic import preload

    preload()
