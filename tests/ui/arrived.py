"""A session that is open before the front end asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.ui.arrival import Arrival


def arrived(arrival: Arrival) -> Callable[[], Awaitable[Arrival]]:
    """What a front end is given to open its first session."""

    async def arriving() -> Arrival:
        return arrival

    return arriving
