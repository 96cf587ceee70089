"""The last row: model, mode, and the figures of the last request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.live import LiveArea

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Resize

_MODES = {
    "default": "ask",
    "acceptEdits": "accept edits",
    "plan": "plan (read-only)",
    "dontAsk": "don't ask",
    "bypassPermissions": "bypass",
}


class Facts(LiveArea):
    """What the event stream says is going on; the rows below read it."""

    @property
    def activity(self) -> str:
        """What runs now, in one row; empty while nothing does."""
        return self._activity()

    @property
    def interruptible(self) -> bool:
        """True while Esc would end something: a sub-agent in the background and a question of mcode's own it does
        not."""
        return self.turn_since is not None or bool(self._running.keys() - self._behind) or bool(self._hooks)


class StatusLine(Static):
    """The last row: model, mode, how full the window is, money, servers; or a short hint."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; color: $foreground; background: transparent; }"

    def __init__(self, facts: Facts, servers: Callable[[], str], columns: Callable[[], int]) -> None:
        """`columns`: the width of the terminal, which is known before the first layout."""
        super().__init__(Content(""), markup=False)
        self._columns = columns
        self._facts = facts
        self._servers = servers
        self.keyless = False
        """True while the offline guide answers because no key was found."""
        self.chosen = True
        """False while nothing is sent because the user has chosen neither a key nor the guide."""
        self._hint = ""
        self._drawn = ("", "")
        """Text and style as they are shown."""

    def hint(self, text: str) -> None:
        """Say something in place of model and mode; empty text ends it."""
        if text != self._hint:
            self._hint = text
            self.refresh_facts()

    def end_hint(self, text: str) -> None:
        """That is over; another hint stays."""
        if text == self._hint:
            self.hint("")

    def on_resize(self, event: Resize) -> None:
        """Another width has room for other parts."""
        del event
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Draw what is true now."""
        width = max(10, self._columns() - 2)
        facts = self._facts
        model = clean(facts.model, Kind.LINE)
        mode = "no key" if self.keyless else _MODES.get(facts.mode, facts.mode)
        mode = "  ".join((mode, *facts.marks))
        left = mode if width < 62 or not self.chosen or not model else f"{model}  {mode}"
        told = facts.figures(detailed=width >= 78)
        parts = [*told, self._servers()]
        right = "  ".join(part for part in parts if part)
        style = ""
        if self._hint:
            left, style = self._hint, "bold"
            right = right if cell_width(self._hint) + cell_width(right) + 2 <= width else ""
        drawn = spread(left, right, width, facts.cut), style
        if drawn != self._drawn:
            self._drawn = drawn
            self.update(Content(drawn[0]).stylize(style), layout=False)

    def on_mount(self) -> None:
        """The first frame has it."""
        self.refresh_facts()


def spread(left: str, right: str, width: int, cut: str) -> str:
    """One text at each end of a row; the left one gives way."""
    if not right:
        return shorten(left, width, cut)
    room = width - cell_width(right) - 2
    if room < 8:
        return shorten(left, width, cut)
    left = shorten(left, room, cut)
    return f"{left}{' ' * (width - cell_width(left) - cell_width(right))}{right}"
