"""Calls to servers that last: after two minutes the conversation goes on, and the result comes to it later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.call import Origin
from mcode.errors import StorageError
from mcode.events import Notice
from mcode.text import Kind, clean
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcode.events import EventBus
    from mcode.tool import ToolServices

MOVE_AFTER = 120.0
"""Seconds after which a call of the model's goes on in the background."""


@dataclass(slots=True)
class LongCalls:
    """The calls of one session that go on behind its back."""

    events: EventBus
    moves: bool
    """Whether somebody sits there: a headless run waits for its calls, as programs do."""
    wake: Callable[[str], None] = field(default=lambda text: None)
    """Gives the model a message, in a turn of its own where none runs."""
    text_for_model: Callable[[str, ToolResult], str] = field(default=lambda tool, result: result.text)
    """A tool's result as the road gives it to the model; raises StorageError."""
    _running: dict[asyncio.Task[ToolResult], str] = field(
        default_factory=dict["asyncio.Task[ToolResult]", str]
    )

    async def result_of(self, work: Coroutine[None, None, ToolResult], services: ToolServices) -> ToolResult:
        """The result of the work, or, where it lasts, that it goes on. Cancelling this ends what it waits for."""
        call = services.call
        if not self.moves or call.parent is not None or call.origin is not Origin.MODEL:
            return await work
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task}, timeout=MOVE_AFTER)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.done():
            return task.result()
        self._running[task] = call.tool
        task.add_done_callback(lambda ended: self._tell(ended, services))
        text = (
            f"{call.tool} has run for {MOVE_AFTER:.0f} seconds and goes on in the background. Its result comes to you "
            "in a message of its own as soon as it is there: do not call it again for that, go on with other work or "
            "end your turn. It ends without a result where the session ends first."
        )
        return ToolResult(text, data={"state": "running"}, summary="goes on in the background")

    async def close(self) -> None:
        """End what still runs, and say so."""
        running, self._running = self._running, {}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
            names = ", ".join(running.values())
            self.events.emit(Notice(f"Ended with the session, without a result: {names}", "warning"))

    def _tell(self, task: asyncio.Task[ToolResult], services: ToolServices) -> None:
        name = self._running.pop(task, None)
        if name is None or task.cancelled():
            return
        error = task.exception()
        failed = error is not None or task.result().failure is not None
        how = "failed" if failed else "is done"
        self.events.emit(Notice(f"{name}, in the background, {how}.", "warning" if failed else "info"))
        try:
            said = (
                clean(str(error), Kind.MODEL)
                if error is not None
                else self.text_for_model(name, task.result())
            )
        except StorageError as lost:
            said = f"It is too long for a message. {lost}"
        # What a server says is data: the model is told where it comes from.
        self.wake(
            f"{name}, which went on in the background (call {services.call.id}), {how}. Its result:\n{said}"
        )
