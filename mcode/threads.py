"""Slow work in a thread that nobody waits for at the end: mcode ends at once, whatever is still loading."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T]) -> T:
    """Do it in a thread of its own, while the loop goes on; raises what it raises.

    `asyncio.to_thread` is for work that has to be done before mcode ends: the loop waits for its threads when it is
    closed. Where this is cancelled the thread goes on by itself, and what it comes to is lost.
    """
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(1, "mcode loads")
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, work)
    finally:
        executor.shutdown(wait=False)
