"""Rows that scroll: the body of an approval, and the text that an inspector shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Resize

    from mcode.ui.tui.look import Look
    from mcode.ui.tui.rows import Row


class RowsView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows rows that a function makes for the present width. Only the visible ones become strips."""

    DEFAULT_CSS = """
    RowsView {
        height: auto;
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        overflow-y: auto;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown,space", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]

    def __init__(self, look: Callable[[], Look], *, moved: Callable[[], None] = lambda: None) -> None:
        """`moved` is told when other rows have come into view."""
        super().__init__()
        self._look = look
        self._moved = moved
        self._make: Callable[[int], Sequence[Row]] = lambda width: ()
        self._rows: Sequence[Row] = ()
        self._made_for = 0
        self.seen = 0
        """The highest number of rows, from the top on, that have been in view."""

    def show(self, make: Callable[[int], Sequence[Row]]) -> None:
        """Show other rows from their beginning."""
        self._make = make
        self.seen = 0
        self._made_for = 0
        self.scroll_to(y=0, animate=False)
        self._rebuild()

    def again(self) -> None:
        """Make the rows anew where what they tell has changed; the place stays."""
        self._made_for = 0
        self._rebuild()

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return self._rows

    @property
    def in_view(self) -> tuple[int, int]:
        """First and last row in view, from 1."""
        first = self.scroll_offset.y
        return first + 1, min(len(self._rows), first + self.size.height)

    def look_back(self) -> None:
        """Note what is in view now."""
        _, last = self.in_view
        self.seen = max(self.seen, last)

    def page_up(self) -> None:
        """One screenful up."""
        self.scroll_to(y=self.scroll_offset.y - max(1, self.size.height - 1), animate=False)

    def page_down(self) -> None:
        """One screenful down."""
        self.scroll_to(y=self.scroll_offset.y + max(1, self.size.height - 1), animate=False)

    @override
    def action_page_up(self) -> None:
        self.page_up()

    @override
    def action_page_down(self) -> None:
        self.page_down()

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._moved()

    def on_resize(self, event: Resize) -> None:
        """Another width makes other rows."""
        del event
        self._rebuild()

    @override
    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        width = self.scrollable_size.width
        if not 0 <= at < len(self._rows):
            return Strip.blank(width, self.rich_style)
        look = self._look()
        base = self.rich_style
        segments = [Segment(span.text, base + look.style(span.style)) for span in self._rows[at].spans]
        return Strip(segments).adjust_cell_length(width, base)

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        width = max(1, width - self.scrollbar_size_vertical)
        if width != self._made_for:
            self._rows = tuple(self._make(width))
            self._made_for = width
        return len(self._rows)

    def _rebuild(self) -> None:
        width = self.scrollable_size.width
        if width > 0 and width != self._made_for:
            self._rows = tuple(self._make(width))
            self._made_for = width
        self.virtual_size = Size(max(1, width), len(self._rows))
        self.refresh(layout=True)
        self._moved()
