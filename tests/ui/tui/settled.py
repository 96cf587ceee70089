"""Keys for a Textual app, and waiting until all that they ask for is done, on a machine of any pace.

Textual's own pilot takes a process for idle that uses little of the processor, as one does that is not let at it;
and it waits for what stands in each widget's queue, but not for what that puts into another one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from textual.events import Key
from textual.keys import _character_to_key, key_to_character

if TYPE_CHECKING:
    from textual.pilot import Pilot

HOPS = 4
"""How often something is handed on: a key from the app to the focused widget, and back up what came of it."""

APART = 0.012
"""Seconds between two keys; closer together they would be taken for a paste."""


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until every widget has done what it had to do, and the screen shows it."""
    app = pilot.app
    for _ in range(HOPS):
        await pilot._wait_for_screen()
        if not app.is_running:
            return
        await app._animator.wait_until_complete()
        app.screen._on_timer_update()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other; the next one when all that the one before asked for is done."""
    for key in keys:
        await asyncio.sleep(APART)
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        character = key if len(key) == 1 else key_to_character(key)
        pilot.app.post_message(Key(name, character))
        await settle(pilot)
