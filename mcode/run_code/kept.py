"""The values that programs `store` for one another: JSON text by key, for as long as the session is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.run_code.limits import Limits


class KeptValues:
    """The values of one session. The engine checks the limits for the program's sake, this once more for ours."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._texts: dict[str, str] = {}
        self._size = 0

    @property
    def texts(self) -> Mapping[str, str]:
        """JSON text by key."""
        return self._texts

    @property
    def size(self) -> int:
        """Characters of all values."""
        return self._size

    def put(self, key: str, text: str | None) -> bool:
        """Keep a value, or with None forget it; False where it is over a limit and nothing changed."""
        before = self._texts.get(key)
        size = self._size - len(before or "") + len(text or "")
        if text is None:
            self._texts.pop(key, None)
        elif (
            len(text) > self._limits.stored_value
            or size > self._limits.stored_together
            or (before is None and len(self._texts) >= self._limits.stored_keys)
        ):
            return False
        else:
            self._texts[key] = text
        self._size = size
        return True
