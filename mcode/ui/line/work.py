"""What runs beside the prompt: turns, commands, shell lines. The boundary where a fault becomes a sentence."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING

from mcode.errors import McodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_log = logging.getLogger("mcode.ui")


class Work:
    """Background tasks of the front end. None of them can end it, and none outlives it."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[object, object, object]) -> asyncio.Task[None]:
        """Run something; what goes wrong in it is said on the screen and written to the log."""
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def fault(self, error: BaseException) -> None:
        """Write a fault of mcode's own to the log and tell the user its number."""
        number = uuid.uuid4().hex[:8]
        _log.error("fault %s", number, exc_info=error)
        self._complain(
            f"A fault in mcode itself ({type(error).__name__}), number {number} in the log. The session goes on; "
            "if something is missing on the screen, /export has it."
        )

    async def _guarded(self, work: Coroutine[object, object, object]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            # What was awaited may have been cancelled (a message taken back from the queue); the task itself
            # ends by cancellation only when it was asked to.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
        except McodeError as error:
            self._complain(str(error))
        except Exception as error:  # noqa: BLE001 -- the screen's boundary: a fault must not end the session
            self.fault(error)
