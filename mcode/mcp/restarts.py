"""When a server that failed is started again by itself."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 3
"""Restarts of one server until somebody reconnects it by hand."""

FIRST_DELAY = 1.0
"""Seconds before the first restart."""

APART = 60.0
"""Seconds between two restarts at least."""


@dataclass(slots=True)
class Restarts:
    """The restarts of one server so far."""

    used: int = 0
    _last: float = float("-inf")

    def delay(self, now: float) -> float | None:
        """Seconds from `now`, by the monotonic clock, until the next restart; None where there will be none."""
        if self.used >= MOST:
            return None
        return max(FIRST_DELAY * 2**self.used, self._last + APART - now)

    def count(self, now: float) -> None:
        """One begins."""
        self.used += 1
        self._last = now
