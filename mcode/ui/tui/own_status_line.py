"""The rows of the user's own status line, above mcode's; absent where no command is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import shorten
from mcode.ui.own_status import OwnStatus

if TYPE_CHECKING:
    from textual.events import Resize

    from mcode.events import Event


class OwnStatusLine(Static):
    """One row for each line that the command printed."""

    DEFAULT_CSS = "OwnStatusLine { height: auto; display: none; padding: 0 1; color: $foreground; }"

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
        self._status = OwnStatus()

    def receive(self, event: Event) -> None:
        """Follow the events."""
        if self._status.receive(event):
            self._draw()

    def on_resize(self, event: Resize) -> None:
        """Another width cuts the rows anew."""
        del event
        self._draw()

    def _draw(self) -> None:
        width = max(10, self.screen.size.width - 2)
        self.display = bool(self._status.lines)
        self.update(Content("\n").join(Content(shorten(line, width)) for line in self._status.lines))
