"""Waiting for what must become true, with an end that says what did not."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 30.0
"""Seconds that a busy machine may take for anything; less than what a test starts and ends early would last."""


async def until(met: Callable[[], object], what: str = "", seconds: float = PATIENCE) -> None:
    """Look again and again until something is true; AssertionError, naming it, where it does not become so."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not met():
        assert loop.time() < end, (
            f"waited {seconds:.0f} s in vain for {what or inspect.getsource(met).strip()}"
        )
        await asyncio.sleep(0.01)


def wait_for(met: Callable[[], object], what: str = "", seconds: float = 2 * PATIENCE) -> None:
    """The same for a test without a loop, which looks at processes and files from outside."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, (
            f"waited {seconds:.0f} s in vain for {what or inspect.getsource(met).strip()}"
        )
        time.sleep(0.05)


def let_pass(seconds: float) -> None:
    """Put the running loop's clock on, so that a limit which no busy machine reaches by itself is over now."""
    loop = asyncio.get_running_loop()
    behind = loop.time
    loop.time = lambda: behind() + seconds
