"""The list over the prompt: completions, and the history that is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.tui.wrapping import shorten_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.suggestion import Suggestion

_ROWS = 8
"""Rows that are shown at once."""


class Suggestions(Static):
    """Shows suggestions and which one is picked. The prompt keeps the focus and tells it what keys mean."""

    DEFAULT_CSS = """
    Suggestions {
        layer: popup;
        dock: bottom;
        display: none;
        height: auto;
        max-height: 10;
        width: 100%;
        padding: 0 1;
        border-top: solid $primary;
        background: $surface;
        color: $foreground;
        &.ascii { border-top: ascii $primary; }
    }
    """

    def __init__(self, cut: str) -> None:
        """`cut` stands at the end of what is too wide."""
        super().__init__(Content(""), markup=False)
        self._cut = cut
        self._items: tuple[Suggestion, ...] = ()
        self._picked: int | None = None
        self._title = ""

    @property
    def open(self) -> bool:
        """True while the list is on the screen."""
        return self.is_mounted and bool(self.display)

    @property
    def picked(self) -> Suggestion | None:
        """The one that the user went to; None before."""
        return self._items[self._picked] if self._picked is not None and self._items else None

    @property
    def best(self) -> Suggestion | None:
        """The picked one, else the first."""
        return self.picked or (self._items[0] if self._items else None)

    def show(
        self, items: Sequence[Suggestion], *, title: str = "", pick_first: bool = False, above: int
    ) -> None:
        """Show these, `above` rows from the bottom. Without any and without a title the list closes."""
        self._items = tuple(items)
        self._picked = 0 if pick_first and items else None
        self._title = title
        if not items and not title:
            self.close()
            return
        self.styles.margin = (0, 0, above, 0)
        self.display = True
        self._draw()

    def move(self, by: int) -> None:
        """Go to the next or the one before, around the ends."""
        if self._items:
            at = -1 if self._picked is None and by > 0 else (self._picked or 0)
            self._picked = (at + by) % len(self._items)
            self._draw()

    def close(self) -> None:
        """Take the list off the screen."""
        self._items, self._picked = (), None
        self.display = False

    def _draw(self) -> None:
        width = max(20, self.screen.size.width - 4)
        room = _ROWS - bool(self._title)
        first = max(0, min((self._picked or 0) - room // 2, len(self._items) - room))
        shown = self._items[first : first + room]
        names = min(40, max((cell_width(_label(item)) for item in shown), default=0))
        lines = [Content(shorten(self._title, width, self._cut))] if self._title else []
        for at, item in enumerate(shown, first):
            label = shorten_path(_label(item), width, self._cut)
            note = clean(item.note, Kind.LINE)
            gap = " " * max(2, names - cell_width(label) + 2)
            row = shorten(f"{label}{gap}{note}" if note else label, width, self._cut)
            picked = at == self._picked
            lines.append(Content(f"{'>' if picked else ' '} {row}").stylize("bold reverse" if picked else ""))
        self.update(Content("\n").join(lines))


def _label(item: Suggestion) -> str:
    return clean(item.label or item.text, Kind.LINE)
