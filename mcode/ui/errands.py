"""What two keys do in both front ends: paste an image, and move what runs to the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.ui.clipboard_image import clipboard_image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcode.commands.host import Conversation


class Errands:
    """Works on the session that is open."""

    def __init__(
        self,
        agent: Callable[[], Conversation],
        environment: Mapping[str, str],
        *,
        insert: Callable[[str], None],
        hint: Callable[[str], None],
    ) -> None:
        """`insert` types a text into the draft, `hint` says something until the next key."""
        self._agent = agent
        self._environment = environment
        self._insert = insert
        self._hint = hint
        self._pasting = False

    async def paste_image(self) -> None:
        """Put the clipboard's image into the draft, as a label."""
        if self._pasting:
            return
        self._pasting = True
        try:
            pasted = self._agent().pasted
            data = await clipboard_image(self._environment)
            label, facts = await asyncio.to_thread(pasted.keep, data)
            self._insert(f"{label} ")
            self._hint(f"{label}: {facts}")
        except McodeError as error:
            self._hint(str(error))
        finally:
            self._pasting = False

    def to_background(self) -> None:
        """Move the commands that run and are waited for to the background."""
        try:
            jobs = self._agent().jobs
        except McodeError as error:
            self._hint(str(error))
            return
        if not jobs.movable:
            self._hint("No command runs that could go to the background.")
            return
        moved = jobs.move()
        names = ", ".join(job.id for job in moved)
        self._hint(
            f"Moved to the background: {names}. /tasks shows it, and its end is announced."
            if moved
            else "Too many jobs run in the background already; /tasks shows them."
        )
