"""Time limits for servers: from the entry, the environment or the defaults, extended by progress."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator, Mapping

    from mcode.mcp.entries import ServerEntry

R = TypeVar("R")

START = 10.0
"""Seconds for a server to be started or reached and to introduce itself."""

CALL = 60.0
"""Seconds for one call that says nothing meanwhile."""

MOST = 600.0
"""Seconds that progress can extend a call to."""

LIST = 60.0
"""Seconds for the whole list of tools."""

AFTER_CANCEL = 0.5
"""Seconds for the word that a request is given up to reach the server."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits of one server, in seconds."""

    start: float = START
    call: float = CALL
    most: float = MOST
    """Whatever progress is made."""


def limits_of(entry: ServerEntry, environment: Mapping[str, str]) -> Limits:
    """An entry's own limits, else MCP_TIMEOUT and MCP_TOOL_TIMEOUT (milliseconds), else the usual ones.

    A limit that somebody set is a hard one; only the usual one is extended by progress.
    """
    start = entry.startup_timeout or _milliseconds(environment.get("MCP_TIMEOUT")) or START
    call = entry.timeout or _milliseconds(environment.get("MCP_TOOL_TIMEOUT"))
    return Limits(start, call or CALL, call or MOST)


def _milliseconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value / 1000 if 0 < value < math.inf else None


@dataclass(slots=True)
class CallClock:
    """The time of one call. It stands still while the user is asked."""

    limits: Limits
    _began: float = field(default_factory=time.monotonic)
    _heard: float = field(default_factory=time.monotonic)
    _stopped: float | None = None

    def heard(self) -> None:
        """The server made progress."""
        self._heard = time.monotonic()

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """Nothing counts while the block runs."""
        outer, began = self._stopped, time.monotonic()
        self._stopped = began if outer is None else outer
        try:
            yield
        finally:
            self._stopped = outer
            if outer is None:
                waited = time.monotonic() - began
                self._began += waited
                self._heard += waited

    @property
    def stands_still(self) -> bool:
        return self._stopped is not None

    @property
    def left(self) -> float:
        """Seconds until the call is given up; 0 or less when it is."""
        now = time.monotonic() if self._stopped is None else self._stopped
        return min(self._heard + self.limits.call, self._began + self.limits.most) - now


async def within(clock: CallClock, work: Coroutine[Any, Any, R]) -> R:
    """Await `work` for as long as the clock gives it. Raises TimeoutError, and cancels the work, when it is over."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=1.0 if clock.stands_still else max(clock.left, 0.01))
            if not task.done() and not clock.stands_still and clock.left <= 0:
                raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=AFTER_CANCEL)
