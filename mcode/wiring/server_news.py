"""Tells the user once when a server that brings tools fails, or wants a sign-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.events import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.catalog.servers import ServerState, ServerStatus
    from mcode.events import EventBus

_WORDS: dict[ServerState, str] = {
    "failed": "failed: {why}. Its tools cannot be used, and /tools shows them as MISSING. /mcp {name} tells more; "
    "/mcp reconnect {name} tries again.",
    "needs sign-in": "wants you to sign in: /mcp sign-in {name}. Until then its tools cannot be used.",
}


_WELL: frozenset[ServerState] = frozenset({"connected", "cached"})


class ServerNews:
    """Remembers what the user was told; a server that tries again and fails again is no news."""

    def __init__(self, statuses: Callable[[], Iterable[ServerStatus]], events: EventBus) -> None:
        """What is wrong from the beginning was told in an earlier session of this run."""
        self._statuses = statuses
        self._events = events
        self._told = {(each.name, each.state) for each in statuses() if each.state in _WORDS}

    def look(self) -> None:
        """Something has changed with a server."""
        for status in self._statuses():
            name, state = status.name, status.state
            if state in _WELL:
                self._told -= {(name, each) for each in _WORDS}
            if state not in _WORDS or (name, state) in self._told:
                continue
            self._told.add((name, state))
            said = _WORDS[state].format(name=name, why=status.error.rstrip(".") or "it does not say why")
            self._events.emit(Notice(f"The server {name} {said}", "warning"))
