"""The draft, set aside while the prompt serves another question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.ui.tui.chips import Chips


@dataclass(slots=True)
class Stashed:
    """All that comes back with it."""

    text: str
    selection: tuple[tuple[int, int], tuple[int, int]]
    chips: Chips
    title: str
    done: Callable[[str | None], None]
