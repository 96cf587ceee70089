"""Whether the event loop goes on while something works, by what the loop's process worked between two beats.

Not by the clock: where a busy machine lets nobody run, the loop stands still through no fault of its own.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def heart(pause: float = 0.002) -> AsyncGenerator[list[float]]:
    """Beats while the block runs; the list holds the processor's seconds between two of them."""
    held: list[float] = []

    async def beat() -> None:
        while True:
            began = time.process_time()
            await asyncio.sleep(pause)
            held.append(time.process_time() - began)

    beating = asyncio.create_task(beat())
    try:
        yield held
    finally:
        beating.cancel()
