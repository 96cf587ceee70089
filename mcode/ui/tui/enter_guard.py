"""Telling an Enter that sends from one that belongs to a paste which the terminal did not mark as such."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.ui.paste import TypingPace

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSE = 0.01
"""Seconds between a key and an Enter that nobody's hands reach; such an Enter waits to see what follows."""

_PATIENCE = 0.03
"""Seconds that it waits."""

_LATE, _TIMES = 0.01, 5
"""Seconds by which that moment may be missed; a loop that was held up longer may have more to read, and waits again,
so often at most."""


class EnterGuard:
    """Sees when each key was read, and holds an Enter that came as fast as only a paste does."""

    def __init__(self, *, send: Callable[[], None], keep: Callable[[], None]) -> None:
        """`send`: the Enter was meant; `keep`: it is a line end of pasted text."""
        self._send = send
        self._keep = keep
        self._pace = TypingPace()
        self._now = 0.0
        self._last_letter = 0.0
        self._held: asyncio.TimerHandle | None = None
        self._held_at = 0.0

    @property
    def waits(self) -> bool:
        """True while an Enter is held back."""
        return self._held is not None

    def key(self, moment: float, *, printable: bool) -> None:
        """A key that was read at `moment`, before it does anything. What is held back is decided first."""
        if self._held is not None:
            self._held.cancel()
            self._decide(more_follows=moment - self._held_at < _CLOSE)
        self._now = moment
        if printable:
            self._last_letter = moment
            self._pace.typed(moment)

    def enter(self) -> None:
        """The key is an Enter."""
        self._held_at = self._now
        if self._now - self._last_letter < _CLOSE:
            self._wait(_TIMES)
        else:
            self._pace.forget()
            self._send()

    def _wait(self, times: int) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + _PATIENCE
        self._held = loop.call_at(due, self._waited, due, times - 1)

    def _waited(self, due: float, times: int) -> None:
        if times and asyncio.get_running_loop().time() - due > _LATE:
            self._wait(times)
        else:
            self._decide()

    def _decide(self, *, more_follows: bool = False) -> None:
        self._held = None
        if self._pace.enter_is_pasted(self._held_at, more_follows=more_follows):
            self._last_letter = self._held_at
            self._keep()
        else:
            self._send()
