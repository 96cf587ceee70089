"""Pauses the garbage collector while a long list is read: a full collection would hold up the event loop."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

LONG = 1_000
"""Entries from which a list is left out of later passes as well: what it holds is there to stay."""

_resting = 0


@contextmanager
def resting_collector(entries: Callable[[], int]) -> Generator[None]:
    """Keep it from running inside the block; `entries` tells at its end how many the list has."""
    global _resting  # noqa: PLW0603 -- there is one collector, and lists of several servers may be read at once
    _resting += 1
    gc.disable()
    try:
        yield
    finally:
        _resting -= 1
        if entries() >= LONG:
            gc.freeze()
        if not _resting:
            gc.enable()
