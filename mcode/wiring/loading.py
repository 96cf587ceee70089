"""Loads slow modules behind the first frame, or while everything else is read, in threads that are not waited for."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING

from mcode.threads import in_own_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


async def load_modules(names: Sequence[str]) -> None:
    """Import modules one after the other in a thread, while the loop goes on handling keys.

    Nobody waits for the thread where this is cancelled: a run that a signal ends does not load the rest first.
    """

    def load() -> None:
        for name in names:
            import_module(name)

    await in_own_thread(load)


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
