"""When a server that failed is started or connected again automatically."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_DELAY = 1.0
"""Seconds before the first one; each further one waits twice as long."""

LASTED = 60.0
"""Seconds of a connection over a network after which its loss is a new one, and the count begins anew."""


@dataclass(slots=True)
class Restarts:
    """The restarts of one server so far. A program that dies again and again is left alone soon."""

    most: int = 3
    """Until somebody reconnects it by hand."""
    apart: float = 60.0
    """Seconds between two of them at least."""
    forgives: bool = False
    """Whether a connection that lasted makes up for the losses before it."""
    used: int = 0
    _last: float = float("-inf")

    @classmethod
    def of(cls, kind: str) -> Restarts:
        """For a kind of server: a network that fails comes back sooner than a broken program mends itself."""
        return cls() if kind == "stdio" else cls(most=5, apart=0.0, forgives=True)

    def delay(self, now: float) -> float | None:
        """Seconds from `now`, by the monotonic clock, until the next restart; None where there will be none."""
        if self.used >= self.most:
            return None
        return max(FIRST_DELAY * 2**self.used, self._last + self.apart - now)

    def count(self, now: float) -> None:
        """One begins."""
        self.used += 1
        self._last = now

    def lasted(self, seconds: float) -> None:
        """A connection has ended that was up for so long."""
        if self.forgives and seconds >= LASTED:
            self.used = 0
