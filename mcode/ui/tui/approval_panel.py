"""The panel of what waits for the user: what it is about, the numbered answers, and where the keys go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from typing_extensions import override

from mcode.text import cell_width, shorten
from mcode.ui.tui.rows_view import RowsView
from mcode.ui.tui.wrapping import wrap_parts
from mcode.ui.wrap import wrap_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.events import Resize

    from mcode.ui.tui.look import Look
    from mcode.ui.tui.offers import Offer
    from mcode.ui.tui.rows import Row

_SHARE = 0.6
"""Of the screen's height, at most."""

_PARKED = "Tab to review. Keys you type go to your draft; nothing is decided until you choose and confirm."
_FOCUSED = "in a moment; keys still go to your draft"
_ARMED = (
    "1-{count} choose   Enter confirm   PgUp/PgDn scroll   Ctrl+O full screen   Esc back to prompt (waits)"
)
_ARMED_SHORT = "1-{count} choose  Enter confirm  Ctrl+O whole  Esc back"
_PARKED_SHORT = "Tab reviews it; keys go to your draft"
_FIRST = "(scroll to the end first)"

_ROOMY = 28
"""Rows of a screen that has room for every rule whole; on a smaller one that of an unchosen answer has one row."""

_LEAST_BODY = 2
_KEPT_BODY = 5
"""Rows of what is decided on that rules in rows of their own leave."""
_LEAST_RULE = 16
"""Cells that are worth showing of a rule."""
_OTHERS = 6
"""Rows that prompt, status and activity take at least."""


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

    def __init__(self, look: Callable[[], Look], height: Callable[[], int]) -> None:
        """`height`: rows of the screen."""
        super().__init__()
        self.body = RowsView(look, moved=self._scrolled)
        self.body.can_focus = False
        self._look = look
        self._foot = Static(Content(""), markup=False)
        self._height = height
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
        """`parked`, `focused` or `armed`, and the number of the offer that is chosen, from 0."""
        self._state = state
        self._chosen = chosen
        self.set_class(state != "parked", "focused")
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

    def _draw(self) -> None:
        if not self.display:
            return
        width = max(20, self.size.width or self.app_width - 4)
        lines = self._foot_lines(width)
        self._foot.update(Content("\n").join(lines))
        height = self._height()
        most = height - _OTHERS if height < _ROOMY else int(height * _SHARE)
        room = max(_LEAST_BODY, min(int(height * _SHARE), most) - len(lines) - 2)
        if self.body.styles.max_height is None or self.body.styles.max_height.value != room:
            self.body.styles.max_height = room

    @property
    def app_width(self) -> int:
        """Columns of the screen."""
        return self.screen.size.width

    def _foot_lines(self, width: int) -> list[Content]:
        total = len(self.body.rows)
        first, last = self.body.in_view
        lines = [Content("")]
        if total and self.body.size.height > 0:
            lines = [Content(f"lines {first}-{last} of {total}").stylize("dim")]
        if self._state == "parked":
            lines += self._short_offers(width)
        else:
            short = [len(wrap_all(self._head(at, offer), width, 5)) for at, offer in enumerate(self._offers)]
            spare = self._height() - _OTHERS - _KEPT_BODY - len(lines) - sum(short) - 3  # frame and hint
            for at, offer in enumerate(self._offers):
                made = self._offer_lines(at, offer, width, spare=spare)
                spare -= len(made) - short[at]
                lines += made
        long, short = {
            "parked": (_PARKED, _PARKED_SHORT),
            "focused": (_FOCUSED, _FOCUSED),
        }.get(self._state, (_ARMED, _ARMED_SHORT))
        count = len(self._offers)
        hint = long.format(count=count)
        hint = hint if cell_width(hint) <= width else short.format(count=count)
        return [*lines, *(Content(row).stylize("bold") for row in wrap_all(hint, width))]

    def _short_offers(self, width: int) -> list[Content]:
        words = [f"{at} {offer.label}" for at, offer in enumerate(self._offers, 1)]
        if any(cell_width(each) > width for each in words):  # the rest of one must not run into the next
            return [Content(row) for each in words for row in wrap_all(each, width, 2)]
        return [Content(row) for row in wrap_parts(words, width)]

    def _head(self, at: int, offer: Offer) -> str:
        closed = offer.to_the_end and not self._seen_all
        return (
            f"{'>' if at == self._chosen else ' '} {at + 1}  {offer.label}{f'   {_FIRST}' if closed else ''}"
        )

    def _offer_lines(self, at: int, offer: Offer, width: int, *, spare: int) -> list[Content]:
        """An answer with its rule; `spare`: rows that there are for rules of answers that are not chosen."""
        chosen = at == self._chosen
        closed = offer.to_the_end and not self._seen_all
        head = self._head(at, offer)
        style = "bold reverse" if chosen else "dim" if closed else ""
        lines = [Content(row).stylize(style) for row in wrap_all(head, width, 5)]
        if not offer.rule or (not offer.to_the_end and offer.named_rule in offer.label):
            return lines  # it is said already
        if cell_width(f"{head}   {offer.rule}") <= width:
            return [Content(f"{head}   {offer.rule}").stylize(style)]
        if self._height() >= _ROOMY or chosen:
            return [*lines, *(Content(f"     {row}") for row in wrap_all(offer.rule, width - 5))]
        cut, room = self._look().glyphs.cut, width - cell_width(head) - 3
        if spare > 0:
            return [*lines, Content(f"     {without_middle(offer.rule, width - 5, cut)}").stylize(style)]
        if room >= _LEAST_RULE:
            return [Content(f"{head}   {without_middle(offer.rule, room, cut)}").stylize(style)]
        return lines


def without_middle(text: str, width: int, cut: str) -> str:
    """A text in at most `width` cells: its beginning and its end."""
    if cell_width(text) <= width:
        return text
    head = shorten(text, (width + 1) // 2, cut)
    tail = text[-width:]
    while cell_width(tail) > width - cell_width(head):
        tail = tail[1:]
    return head + tail
