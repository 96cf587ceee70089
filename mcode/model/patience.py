"""The idle timeout: how long the next piece of an answer may take to come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.model import failures

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.client import Failure
    from mcode.model.profiles import Profile


class Patience:
    """The limits of one stream. Every byte is a sign of life; only content ends the first wait."""

    def __init__(self, profile: Profile, endpoint: failures.Endpoint) -> None:
        self._profile = profile
        self._endpoint = endpoint
        self._loop = asyncio.get_running_loop()
        total = profile.total_limit
        self._deadline = None if total is None else self._loop.time() + total
        self._started = False
        self._content = False
        self.finished = False
        """True once `message_stop` came."""

    def saw(self, event: JsonObject) -> None:
        """An event came."""
        kind = event["type"]
        self._started = True
        self._content = self._content or kind.startswith("content_block")
        self.finished = self.finished or kind == "message_stop"

    def left(self) -> float:
        """Seconds until the limit is met."""
        if self._deadline is None:
            return self._quiet_limit()
        return max(min(self._quiet_limit(), self._deadline - self._loop.time()), 0)

    def failure(self) -> Failure:
        """The failure that the limit just met stands for."""
        total = self._profile.total_limit
        if total is not None and self._deadline is not None and self._loop.time() >= self._deadline:
            return failures.explain_silence(self._endpoint, total, started=self._started, total=True)
        return failures.explain_silence(self._endpoint, self._quiet_limit(), started=self._started)

    def _quiet_limit(self) -> float:
        return self._profile.idle_limit if self._content else self._profile.first_event_limit
