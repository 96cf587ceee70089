"""The small rows around the prompt: what runs, what is queued, and the figures of the last request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.live import LiveArea

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Resize
    from textual.timer import Timer

    from mcode.events import Ledger

_QUEUED = 3
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


class ActivityLine(Static):
    """One row while something runs. The only widget that a clock wakes."""

    DEFAULT_CSS = "ActivityLine { height: 1; display: none; padding: 0 1; color: $foreground; }"

    def __init__(self, facts: Facts) -> None:
        super().__init__(Content(""), markup=False)
        self._facts = facts
        self._waiting = 0
        self._reviewed = False
        self._clock: Timer | None = None

    def waiting(self, count: int) -> None:
        """So many approvals and questions wait."""
        self._waiting = count
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
            what = "1 approval" if self._waiting == 1 else f"{self._waiting} approvals"
            text = f"* {what} waiting" + ("" if self._reviewed else ": Tab to review   Esc interrupts")
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
        rows = [f" sending:  {clean(sending, Kind.LINE)}"] if sending else []
        for at, text in enumerate(waiting[:_QUEUED], 1):
            note = ""
            if at == min(len(waiting), _QUEUED):
                note = f"Up edits; sent {when}"
            rows.append(
                _spread(
                    f" queued {at}:  {clean(text, Kind.LINE)}", f"({note})" if note else "", width, self._cut
                )
            )
        if len(waiting) > _QUEUED:
            rows.append(f" +{len(waiting) - _QUEUED}")
        self.display = bool(rows)
        self.update(Content("\n").join(Content(shorten(row, width, self._cut)) for row in rows))


class StatusLine(Static):
    """The last row: model, mode, how full the window is, money, servers; or a short hint."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; color: $foreground; background: transparent; }"

    def __init__(self, facts: Facts, servers: Callable[[], str]) -> None:
        super().__init__(Content(""), markup=False)
        self._facts = facts
        self._servers = servers
        self.keyless = False
        """True while the offline guide answers because no key was found."""
        self._hint = ""

    def hint(self, text: str) -> None:
        """Say something in place of model and mode; empty text ends it."""
        if text != self._hint:
            self._hint = text
            self.refresh_facts()

    def on_resize(self, event: Resize) -> None:
        """Another width has room for other parts."""
        del event
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Draw what is true now."""
        width = max(10, self.screen.size.width - 2)
        facts = self._facts
        model = clean(facts.model, Kind.LINE)
        mode = "no key" if self.keyless else _MODES.get(facts.mode, facts.mode)
        mode += "  sandbox" if facts.confined else ""
        left = mode if width < 62 else f"{model}  {mode}"
        parts = [*meter(facts.ledger, detailed=width >= 78), self._servers()]
        right = "  ".join(part for part in parts if part)
        style = ""
        if self._hint:
            left, style = self._hint, "bold"
            right = right if cell_width(self._hint) + cell_width(right) + 2 <= width else ""
        self.update(Content(_spread(left, right, width, facts.cut)).stylize(style), layout=False)

    def on_mount(self) -> None:
        """The first frame has it."""
        self.refresh_facts()


def meter(ledger: Ledger | None, *, detailed: bool) -> list[str]:
    """How full the window was at the last request, in three parts where there is room, and the money."""
    if ledger is None:
        return []
    parts: list[str] = []
    used = ledger.input_tokens or ledger.definitions + ledger.system + ledger.messages + ledger.results
    if ledger.window > 0:
        share = f"ctx {100 * used // ledger.window}%"
        if detailed:
            said = ledger.system + ledger.messages
            share += f" [def {_k(ledger.definitions)} msg {_k(said)} res {_k(ledger.results)}]"
        parts.append(share)
    if ledger.cost is not None:
        parts.append(f"${ledger.cost:.2f}")
    return parts


def _k(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.1f}k" if count < 10_000 else f"{count // 1000}k"


def _spread(left: str, right: str, width: int, cut: str) -> str:
    """One text at each end of a row; the left one gives way."""
    if not right:
        return shorten(left, width, cut)
    room = width - cell_width(right) - 2
    if room < 8:
        return shorten(left, width, cut)
    left = shorten(left, room, cut)
    return f"{left}{' ' * (width - cell_width(left) - cell_width(right))}{right}"
