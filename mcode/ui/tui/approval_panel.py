"""The panel of what waits for the user: what it is about, the numbered answers, and where the keys go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from typing_extensions import override

from mcode.ui.tui.approval_foot import Foot
from mcode.ui.tui.rows_view import RowsView
from mcode.ui.tui.stage import ROOMY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.events import Resize

    from mcode.ui.tui.look import Look
    from mcode.ui.tui.offers import Offer
    from mcode.ui.tui.rows import Row

_SHARE = 0.6
"""Of a roomy screen's height, at most; on a smaller one the transcript gives up its rows first."""

_LEAST = 2
"""Rows for body and foot, however small the screen."""


class ApprovalPanel(Vertical, can_focus=True, inherit_bindings=False):
    """Draws one request. It decides nothing: `Deciding` tells it what to show and takes its keys."""

    DEFAULT_CSS = """
    ApprovalPanel {
        height: auto;
        display: none;
        padding: 0 1;
        border: solid $warning;
        border-title-color: $foreground;
        border-subtitle-color: $foreground;
        border-title-style: bold;
        background: transparent;
        &.focused { border: heavy $warning; }
        &.ascii { border: ascii $warning; }
        &.ascii.focused { border: ascii $error; }
        RowsView { height: auto; }
        Static { height: auto; width: 100%; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", id="approval.page-up", show=False),
        Binding("pagedown", "page(1)", id="approval.page-down", show=False),
        Binding("home", "ends(False)", id="approval.home", show=False),
        Binding("end", "ends(True)", id="approval.end", show=False),
    ]

    def __init__(
        self, look: Callable[[], Look], height: Callable[[], int], others: Callable[[], int]
    ) -> None:
        """`height`: rows of the screen; `others`: those that the prompt and what stands beside it take."""
        super().__init__()
        self.body = RowsView(look, moved=self._scrolled)
        self.body.can_focus = False
        self._look = look
        self._foot = Static(Content(""), markup=False)
        self._height, self._others = height, others
        self._fitted = 0
        """Rows that there were for body and foot when they were drawn."""
        self._offers: Sequence[Offer] = ()
        self._chosen: int | None = None
        self._state = "parked"
        self._seen_all = False

    @override
    def compose(self) -> ComposeResult:
        yield self.body
        yield self._foot

    @property
    def seen_all(self) -> bool:
        """True once the last row of the body has been in view."""
        return self._seen_all

    def present(
        self, title: str, position: str, make: Callable[[int], Sequence[Row]], offers: Sequence[Offer]
    ) -> None:
        """Show a request from its beginning, parked and with nothing chosen."""
        self.border_title = Content(title)
        self.border_subtitle = Content(position)
        self._offers = offers
        self._chosen = None
        self._seen_all = False
        self.display = True
        self.body.show(make)
        self.mark("parked", None)

    def reposition(self, position: str) -> None:
        """How many wait has changed."""
        self.border_subtitle = Content(position)

    def offer(self, offers: Sequence[Offer]) -> None:
        """Other answers to the same request."""
        self._offers = offers
        self._draw()

    def mark(self, state: str, chosen: int | None) -> None:
        """`parked`, `focused`, `armed` or `answering`, and the number of the offer that is chosen, from 0."""
        self._state = state
        self._chosen = chosen
        self.set_class(state in {"focused", "armed"}, "focused")
        self._draw()

    def close(self) -> None:
        """Nothing waits any more."""
        self.display = False
        self._offers = ()

    def action_page(self, by: int) -> None:
        """Scroll the body by a screenful."""
        if by < 0:
            self.body.page_up()
        else:
            self.body.page_down()

    def action_ends(self, last: bool) -> None:
        """Scroll the body to its beginning or its end."""
        if last:
            self.body.scroll_end(animate=False)
        else:
            self.body.scroll_home(animate=False)

    def on_resize(self, event: Resize) -> None:
        """Another width wraps the answers anew."""
        del event
        self._draw()

    def _scrolled(self) -> None:
        self.call_after_refresh(self._look_at_body)

    def _look_at_body(self) -> None:
        """Note how much has been in view; the answers that need all of it open then."""
        self.body.look_back()
        self._seen_all = self._seen_all or (
            self.body.size.height > 0 and self.body.seen >= len(self.body.rows) > 0
        )
        self._draw()

    def refit(self) -> None:
        """What stands around the panel may take more or fewer rows once the screen is laid out."""
        if self.display:
            self.call_after_refresh(self._refit)

    def _refit(self) -> None:
        if self._room() != self._fitted:
            self._draw()

    def _room(self) -> int:
        """Rows for body and foot: what is around the panel comes first."""
        height = self._height()
        most = height - self._others()
        return max(_LEAST, min(most, int(height * _SHARE) if height >= ROOMY else most) - 2)

    def _draw(self) -> None:
        if not self.display:
            return
        self._fitted = room = self._room()
        height = self._height()
        foot = Foot(
            self._offers,
            self._chosen,
            self._state,
            self._seen_all,
            room,
            height >= ROOMY,
            self._look().glyphs.cut,
        )
        lines = foot.lines(max(20, self.size.width or self.screen.size.width - 4), self._counter())
        self._foot.update(Content("\n").join(lines))
        body = max(foot.least_body, room - len(lines))
        if self.body.styles.max_height is None or self.body.styles.max_height.value != body:
            self.body.styles.max_height = body

    def _counter(self) -> str:
        total = len(self.body.rows)
        if not total or self.body.size.height == 0:
            return ""
        first, last = self.body.in_view
        return f"lines {first}-{last} of {total}"
