"""The rows above the prompt while something goes on: what runs, and which messages wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.tui.status import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Resize
    from textual.timer import Timer

    from mcode.ui.tui.status import Facts

_QUEUED = 3

_READABLE = 40
"""Cells of a queued message's row that no remark beside it takes."""


class ActivityLine(Static):
    """One row while something runs. The only widget that a clock wakes."""

    DEFAULT_CSS = "ActivityLine { height: 1; display: none; padding: 0 1; color: $foreground; }"

    def __init__(self, facts: Facts) -> None:
        super().__init__(Content(""), markup=False)
        self._facts = facts
        self._waiting = ""
        self._reviewed = False
        self._clock: Timer | None = None

    def waiting(self, what: str, *, reviewed: bool) -> None:
        """What waits for the user, in words, and whether they are at it."""
        self._waiting, self._reviewed = what, reviewed
        self.refresh_facts()

    def reviewing(self, *, reviewed: bool) -> None:
        """The user is at what waits, or not; there Esc goes back to the prompt."""
        if reviewed != self._reviewed:
            self._reviewed = reviewed
            self.refresh_facts()

    def refresh_facts(self) -> None:
        """Draw what is true now; the clock runs exactly while something does."""
        text = self._facts.activity
        active = self._facts.active or bool(text)
        if active and self._waiting:
            text = f"* {self._waiting} waiting"
            text += "" if self._reviewed else ": Tab to review"
            text += "" if self._reviewed or not self._facts.interruptible else "   Esc interrupts"
        if self.display != active:
            self.display = active
        if active:
            self.update(
                Content(shorten(text, max(10, self.screen.size.width - 2), self._facts.cut)), layout=False
            )
        if active and self._clock is None:
            self._clock = self.set_interval(1.0, self.refresh_facts)
        elif not active and self._clock is not None:
            self._clock.stop()
            self._clock = None


class QueueStrip(Static):
    """Messages that wait for the end of the turn."""

    DEFAULT_CSS = "QueueStrip { height: auto; display: none; padding: 0 1; color: $foreground; }"

    def __init__(self, cut: str) -> None:
        """`cut` stands at the end of what is too wide."""
        super().__init__(Content(""), markup=False)
        self._cut = cut
        self._shown: tuple[Sequence[str], str, str] = ((), "", "")

    def show(self, waiting: Sequence[str], sending: str, *, when: str) -> None:
        """`sending`: a message whose turn has not begun; `when` the others are sent."""
        if (waiting, sending, when) == self._shown:
            return
        self._shown = (tuple(waiting), sending, when)
        self._draw()

    def on_resize(self, event: Resize) -> None:
        """Another width cuts the rows anew."""
        del event
        self._draw()

    def _draw(self) -> None:
        waiting, sending, when = self._shown
        width = max(20, self.screen.size.width - 2)
        rows = queue_rows(waiting, sending, when, width, self._cut)
        self.display = bool(rows)
        self.update(Content("\n").join(map(Content, rows)))


def queue_rows(waiting: Sequence[str], sending: str, when: str, width: int, cut: str) -> list[str]:
    """A row for each message that waits, the first few; arguments as in `QueueStrip.show`."""
    rows = [f" sending:  {clean(sending, Kind.LINE)}"] if sending else []
    for at, text in enumerate(waiting[:_QUEUED], 1):
        row = f" queued {at}:  {clean(text, Kind.LINE)}"
        note = _note(row, when, width) if at == min(len(waiting), _QUEUED) else ""
        rows.append(spread(row, note, width, cut))
    if len(waiting) > _QUEUED:
        rows.append(f" +{len(waiting) - _QUEUED}")
    return [shorten(row, width, cut) for row in rows]


def _note(row: str, when: str, width: int) -> str:
    """What stands behind a queued message: as much as leaves the message whole, or enough of it to know it."""
    notes = (f"(Up edits; sent {when})", "(Up edits)")
    for least in (cell_width(row), _READABLE):
        for note in notes:
            if width - cell_width(note) - 2 >= least:
                return note
    return ""
