"""What runs beside the prompt: turns, commands, shell lines. The boundary where a fault becomes a sentence."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import deque
from typing import TYPE_CHECKING

from mcode.errors import McodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_log = logging.getLogger("mcode.ui")

_FAULTS, _FAULTS_WITHIN = 10, 5.0
"""So many faults within so many seconds mean that the screen fails for good."""


class Work:
    """Background tasks of the front end. None of them can end it, and none outlives it."""

    def __init__(self, complain: Callable[[str], None], give_up: Callable[[str], None]) -> None:
        """`complain` shows a sentence; `give_up` ends the front end with one, where the screen fails for good."""
        self._complain = complain
        self._give_up = give_up
        self._faults: deque[float] = deque(maxlen=_FAULTS)
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
        what = f"A fault in mcode itself ({type(error).__name__}), number {number} in the log."
        self._faults.append(time.monotonic())
        if len(self._faults) == _FAULTS and self._faults[-1] - self._faults[0] < _FAULTS_WITHIN:
            self._give_up(f"{what} It happens again and again, so the screen was left. The session is kept.")
            return
        try:
            self._complain(
                f"{what} The session goes on; if something is missing on the screen, /export has it."
            )
        except Exception as second:  # noqa: BLE001 -- the screen's boundary: what shows faults is at fault itself
            _log.error("fault %s could not be shown", number, exc_info=second)

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
