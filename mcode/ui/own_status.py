"""What the user's own status line says, for both front ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.events import Event


class OwnStatus:
    """The lines that its command printed last; none where there is no command."""

    def __init__(self) -> None:
        self.lines: tuple[str, ...] = ()

    def receive(self, event: Event) -> bool:
        """Follow the events; True where the lines have changed."""
        from mcode.events import SessionStarted, StatusText

        before = self.lines
        if isinstance(event, StatusText):
            self.lines = tuple(event.text.splitlines())
        elif isinstance(event, SessionStarted):
            self.lines = ()
        return self.lines != before
