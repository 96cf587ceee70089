"""Calls that last: after two minutes, or at once, the conversation goes on and the result follows later."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.call import FailureKind, Origin
from mcode.errors import StorageError
from mcode.events import Notice
from mcode.text import Kind, clean
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from mcode.call import Call, Outcome
    from mcode.events import EventBus
    from mcode.tool import ToolServices

logger = logging.getLogger(__name__)

MOVE_AFTER = 120.0
"""Seconds after which a call of the model's goes on in the background."""


@dataclass(slots=True)
class LongCalls:
    """The calls of one session that go on behind its back."""

    events: EventBus
    moves: bool
    """Whether somebody sits there: a headless run waits for its calls, as programs do."""
    wake: Callable[[str], object] = field(default=lambda text: None)
    """Gives the model a message, in a turn of its own where none runs."""
    conclude: Callable[[Call, ToolResult, float], Awaitable[Outcome]] | None = None
    """The rest of the road for a result that comes later: hooks, cutting, record. Raises StorageError."""
    _running: dict[asyncio.Task[ToolResult], str] = field(
        default_factory=dict["asyncio.Task[ToolResult]", str]
    )
    """The bodies that go on, with the names of their tools."""
    _ending: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])
    """Whoever waits for one of them and tells of its end."""

    async def result_of(self, work: Coroutine[None, None, ToolResult], services: ToolServices) -> ToolResult:
        """The result of the work, or, where it lasts, that it goes on. Cancelling this ends what it waits for."""
        call = services.call
        if not self.moves or call.parent is not None or call.origin is not Origin.MODEL:
            return await work
        began = time.monotonic()
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task}, timeout=MOVE_AFTER)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.done():
            return task.result()
        what = f"{call.tool} has run for {MOVE_AFTER:.0f} seconds and goes on"
        return self._leave(task, call, began, what)

    async def begun(self, work: Coroutine[None, None, ToolResult], services: ToolServices) -> ToolResult:
        """That the work has begun, whose result comes later; its result where nobody sits there."""
        if not self.moves:
            return await work
        call = services.call
        return self._leave(asyncio.create_task(work), call, time.monotonic(), f"{call.tool} works")

    def _leave(self, task: asyncio.Task[ToolResult], call: Call, began: float, what: str) -> ToolResult:
        self._running[task] = call.tool
        follower = asyncio.create_task(self._follow(task, call, began))
        self._ending.add(follower)
        follower.add_done_callback(self._note_end)
        text = (
            f"{what} in the background. Its result comes to you in a message of its own as soon as it is there: do not "
            "call it again for that, go on with other work or end your turn. It ends without a result where the "
            "session ends first."
        )
        return ToolResult(text, data={"state": "running"}, summary="goes on in the background", goes_on=True)

    async def close(self) -> None:
        """End what still runs, and say so."""
        running, self._running = self._running, {}
        for task in (*running, *self._ending):
            task.cancel()
        if running or self._ending:
            await asyncio.wait({*running, *self._ending})
        if running:
            names = ", ".join(running.values())
            self.events.emit(Notice(f"Ended with the session, without a result: {names}", "warning"))

    async def _follow(self, task: asyncio.Task[ToolResult], call: Call, began: float) -> None:
        """Wait for the body's end, take its result down the rest of the road, and tell the user and the model."""
        await asyncio.wait({task})
        if self._running.pop(task, None) is None:
            return  # it was ended with the session
        result = _result_of(task, call)
        failed = result.failure is not None
        how = "failed" if failed else "is done"
        stop = None
        try:
            said, stop = await self._conclude(call, result, time.monotonic() - began)
        except StorageError as lost:
            said = f"It is too long for a message. {lost}"
        summary = f": {result.summary}" if result.summary else ""
        about = f"{call.tool}, in the background, {how}{summary}."
        if stop is not None:
            about += f" The model is not told, for a hook says: {stop}"
        self.events.emit(Notice(about, "warning" if failed or stop is not None else "info"))
        if stop is None:
            # What a server says is data: the model is told where it comes from.
            self.wake(
                f"{call.tool}, which went on in the background (call {call.id}), {how}. Its result:\n{said}"
            )

    async def _conclude(self, call: Call, result: ToolResult, seconds: float) -> tuple[str, str | None]:
        """The text for the model, and why a hook wants it not to go on."""
        if self.conclude is None:
            return result.text, None
        outcome = await self.conclude(call, result, seconds)
        return outcome.text, outcome.stop_turn

    def _note_end(self, follower: asyncio.Task[None]) -> None:
        self._ending.discard(follower)
        error = None if follower.cancelled() else follower.exception()
        if error is not None:
            logger.error("the end of a call in the background could not be told", exc_info=error)
            self.events.emit(
                Notice(f"A call in the background has ended, and mcode failed over it: {error}", "error")
            )


def _result_of(task: asyncio.Task[ToolResult], call: Call) -> ToolResult:
    if task.cancelled():
        text = f"{call.tool} was ended before it had a result; it may have had effects."
        return ToolResult(text, failure=FailureKind.CANCELLED, summary="ended")
    error = task.exception()
    if error is None:
        return task.result()
    logger.error("%s failed in the background, call %s", call.tool, call.id, exc_info=error)
    text = f"{call.tool} failed by an error inside mcode; it may have had effects: {clean(str(error), Kind.MODEL)}"
    return ToolResult(text, failure=FailureKind.INTERNAL, summary="internal error")
