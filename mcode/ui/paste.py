"""Telling a paste from typing where the terminal does not mark pastes."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

_LEAST_KEYS = 4
_GAP = 0.01
"""Seconds; nobody types several keys in a row closer together than this."""


class TypingPace:
    """Remembers when the last printable keys came."""

    def __init__(self) -> None:
        self._moments: deque[float] = deque(maxlen=_LEAST_KEYS)
        self._pasting = False

    def typed(self, moment: float) -> None:
        """Something printable was read from the terminal at `moment`, by the monotonic clock."""
        if self._moments and moment - self._moments[-1] >= _GAP:
            self._pasting = False
        self._moments.append(moment)

    def enter_is_pasted(self, moment: float, *, more_follows: bool) -> bool:
        """True where an Enter that was read at `moment` belongs to pasted text.

        It follows keys that came faster than anybody types, and more came right behind it or behind an Enter
        before it. A single line that comes at once and ends with Enter is what a program types: it is sent.
        """
        moments = [*self._moments, moment]
        fast = len(moments) > _LEAST_KEYS and all(
            later - earlier < _GAP for earlier, later in pairwise(moments)
        )
        self._pasting = fast and (more_follows or self._pasting)
        return self._pasting

    def forget(self) -> None:
        """What came so far says nothing about the next Enter."""
        self._moments.clear()
        self._pasting = False
