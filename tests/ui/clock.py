"""Time that passes only while nothing is to be done, so that a test of moments does not depend on the machine."""

from __future__ import annotations

import asyncio
import selectors
from functools import wraps
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Clock(asyncio.SelectorEventLoop):
    """An event loop that sleeps by putting its clock on."""

    def __init__(self) -> None:
        self.now = 0.0
        """Seconds; a test may put it on, as where the loop is held up."""
        super().__init__(_Waiting(self))

    @override
    def time(self) -> float:
        return self.now


class _Waiting(selectors.DefaultSelector):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "waits for what never comes"
            self._clock.now += max(timeout, 0.0)
        return ready


def at_ones_own_pace(test: Callable[[], Coroutine[object, object, None]]) -> Callable[[], None]:
    """Run a test with such a clock."""

    @wraps(test)
    def run() -> None:
        with asyncio.Runner(loop_factory=Clock) as runner:
            runner.run(test())

    return run
