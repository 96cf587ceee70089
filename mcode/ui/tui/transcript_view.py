"""The whole transcript as one line-API widget: rows are made for what is visible, and painted if changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from mcode.ui.tui.blocks import CallBlock, Fold, ThinkingBlock, UserBlock
from mcode.ui.tui.marking import SHIFT, mark_span, marked_text
from mcode.ui.tui.row_cache import RowCache
from mcode.ui.tui.rows import Row, Span
from mcode.ui.tui.viewport import Viewport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.events import Click
    from textual.reactive import Reactive
    from textual.selection import Selection
    from textual.timer import Timer

    from mcode.events import Event
    from mcode.ui.tui.blocks import Block
    from mcode.ui.tui.document import Document
    from mcode.ui.tui.look import Look

_FOLDABLE = (CallBlock, ThinkingBlock, UserBlock)


class TranscriptView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a document. The app hands events to `receive` in batches; one flush paints what a batch changed.

    Scrolling follows the end until the reader scrolls up, and again once the end is in view. The position is a
    block and a row of it, so nothing that happens elsewhere moves what is being read.
    """

    DEFAULT_CSS = """
    TranscriptView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size: 0 0;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]

    def __init__(self, document: Document, look: Look, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self.document = document
        self.look = look
        self._cache = RowCache(document, look)
        self._viewport = Viewport(document, self._cache)
        self._cursor: int | None = None
        """The block that `toggle` means."""
        self._painted: list[Strip] = []
        """What each row of the screen shows, before offsets for the mouse are put in."""
        self._painting = False
        self._flush_due = False
        self._ticker: Timer | None = None
        self.opened: Callable[[CallBlock], None] = lambda block: None
        """Told of each card that the user unfolds."""

    @property
    def following(self) -> bool:
        """Whether the last rows are in view and stay so."""
        return self._viewport.following

    def receive(self, event: Event) -> None:
        """Take one event in; what a batch of them changes is painted together, once the caller is done."""
        self.document.apply(event)
        self._flush_soon()

    def replay(self, events: Iterable[Event]) -> None:
        """Take in the events of a session that is resumed, and settle what they leave open."""
        self.document.replay(events)
        self._flush_soon()

    def go_back(self, turn: int, remark: str) -> None:
        """The conversation is again what it was before that turn: what followed is dim, and a remark stands below."""
        self.document.go_back(turn, remark)
        self._flush_soon()

    def show(self, text: str, kind: str = "command") -> None:
        """Add lines of mcode's own, such as a command's answer. `kind`: `command`, `info`, `warning` or `error`."""
        self.document.say(text, kind)
        self._flush_soon()

    def toggle(self, block: int | None = None) -> None:
        """Fold or unfold a block; None: the one under the cursor, or the last card."""
        number = block if block is not None else self._meant()
        if number is None or not isinstance(self.document.blocks[number], _FOLDABLE):
            return
        chosen = self.document.blocks[number]
        self._cursor = number
        self.document.fold(chosen, Fold.FOLDED if chosen.fold is Fold.OPEN else Fold.OPEN)
        if self.following and not self._viewport.fits(number):
            self._viewport.go((number, 0))  # what was unfolded is read from its beginning
        self.flush()
        if isinstance(chosen, CallBlock) and chosen.fold is Fold.OPEN:
            self.opened(chosen)

    def show_output(self, block: CallBlock, text: str) -> None:
        """Put what a command has printed by now on its card."""
        if text != block.node.text:
            block.node.text = text
            self.document.touch(block)
            self._flush_soon()

    def step(self, by: int) -> None:
        """Put the next (1) or previous (-1) block at the top and the cursor on it."""
        if not self.document.blocks:
            return
        self.flush()
        top, row = self._viewport.top
        start = top + (1 if by < 0 and row else 0)
        number = min(max(0, start + by), len(self.document.blocks) - 1)
        while 0 < number < len(self.document.blocks) - 1 and not self._cache.rows(number):
            number += by
        self._cursor = number
        self._viewport.go((number, 0))
        self.flush()

    def scroll_to_end(self) -> None:
        """Show the last rows and follow them from now on."""
        self._viewport.following = True
        self.flush()

    def selected_text(self) -> str:
        """The selected text, exactly: without margins, soft-wrapped rows joined. Empty where nothing is selected."""
        found = self.get_selection(selection) if (selection := self.text_selection) is not None else None
        return found[0] if found is not None else ""

    def text_at_cursor(self) -> str:
        """All that the block under the cursor holds, clean; empty where the cursor is nowhere in view."""
        visible = [number for number, _ in self._viewport.places]
        if self._cursor is None or self._cursor not in visible:
            return ""
        return self.document.blocks[self._cursor].whole_text()

    def last_rows(self, count: int) -> list[str]:
        """The last rows as plain text, for the normal screen after the app has ended."""
        rows: list[str] = []
        for block in reversed(self.document.blocks):
            rows = [each.text for each in self._cache.rows(block.number)] + rows
            if len(rows) >= count:
                break
        return rows[-count:] if count else []

    def change_look(self, look: Look) -> None:
        """Show everything in another theme or with other glyphs."""
        self.look = look
        self._restyle()

    def flush(self) -> None:
        """Bring the screen up to date now: what changed is laid out, and rows that differ are painted."""
        self._flush_due = False
        if not self.is_mounted or not self.size:
            return
        self._viewport.take_changes()
        self._lay_out()
        self._paint()
        self._tick_later()

    @override
    def render_line(self, y: int) -> Strip:
        if len(self._painted) != self.size.height or self._viewport.width != self.size.width:
            self._resize()
        if y >= len(self._viewport.places):
            return (
                self._painted[y] if y < len(self._painted) else Strip.blank(self.size.width, self.rich_style)
            )
        if self._painting:
            return self._painted[y]
        block, row = self._viewport.places[y]
        return self._painted[y].apply_offsets(0, block << SHIFT | row)

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows for painting. Offsets, which cost more than all else, are for the mouse alone: it asks row by row."""
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return marked_text(self.document.blocks, self._cache.rows, selection), "\n"

    @override
    def selection_updated(self, selection: Selection | None) -> None:
        self._paint()

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The keys and the wheel scroll by setting `scroll_y`: it is turned into a block and a row."""
        by = round(new_value) - round(old_value)
        if by < 0 and self.following and new_value >= self.max_scroll_y:
            return  # nobody scrolled: more rows fit now, and Textual has moved what would stand below the end
        if by and self._viewport.places:
            self._scroll(by, round(new_value))

    @override
    def on_mount(self) -> None:
        self._restyle()
        self.flush()

    @override
    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._restyle()

    @override
    def action_scroll_up(self) -> None:
        self._scroll(-1, self._viewport.row - 1)

    @override
    def action_scroll_down(self) -> None:
        self._scroll(1, self._viewport.row + 1)

    @override
    def action_page_up(self) -> None:
        self._scroll(1 - self.size.height, self._viewport.row)

    @override
    def action_page_down(self) -> None:
        self._scroll(self.size.height - 1, self._viewport.row)

    @override
    def action_scroll_home(self) -> None:
        self._viewport.go((0, 0))
        self.flush()

    @override
    def action_scroll_end(self) -> None:
        self.scroll_to_end()

    def on_click(self, event: Click) -> None:
        """A click on the first row of a card folds or unfolds it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._viewport.places):
            return
        number, row = self._viewport.places[offset.y]
        rows = self._cache.rows(number)
        self._cursor = number
        if row == (0 if rows and rows[0].spans else 1) and isinstance(
            self.document.blocks[number], _FOLDABLE
        ):
            self.toggle(number)

    def _flush_soon(self) -> None:
        if not self._flush_due and self.is_mounted:
            self._flush_due = True
            self.call_next(self._flush_if_due)

    def _flush_if_due(self) -> None:
        if self._flush_due:
            self.flush()

    def _scroll(self, by: int, target: int) -> None:
        self._viewport.take_changes()
        self._viewport.scroll(by, target)
        self._note_position()
        self._paint()

    def _resize(self) -> None:
        self._viewport.take_changes()
        self._viewport.resize(self.size.width, self.size.height)
        self._lay_out()
        self._painted = self._strips()

    def _lay_out(self) -> None:
        if self._viewport.width != self.size.width or self._viewport.height != self.size.height:
            self._viewport.resize(self.size.width, self.size.height)
        self._viewport.lay_out()
        self._note_position()

    def _note_position(self) -> None:
        """Tell Textual where the view stands, without the layout of all widgets that its own way would bring."""
        viewport = self._viewport
        virtual = Size(viewport.width, max(viewport.heights.total, viewport.height))
        self.set_reactive(cast("Reactive[Size]", Widget.virtual_size), virtual)
        for reactive in (Widget.scroll_y, Widget.scroll_target_y):
            self.set_reactive(cast("Reactive[float]", reactive), float(viewport.row))

    def _paint(self, *, everything: bool = False) -> None:
        """Refresh the rows whose content differs from what they show."""
        strips = self._strips()
        before = self._painted
        self._painted = strips
        if everything or len(before) != len(strips):
            self.refresh()
            return
        changed = [
            Region(0, y, self.size.width, 1)
            for y, (old, new) in enumerate(zip(before, strips, strict=True))
            if old is not new and old != new
        ]
        if changed:
            self.refresh(*changed)

    def _strips(self) -> list[Strip]:
        selection = self.text_selection
        strips: list[Strip] = []
        for number, row in self._viewport.places:
            marked = mark_span(selection, number, row) if selection is not None else None
            strips.append(self._cache.strip(number, row, marked))
        empty = self._cache.line(Row())
        strips += [empty] * (self.size.height - len(strips))
        behind = behind_text(self._viewport.behind)
        if behind and strips:
            text = f" {behind} "
            pad = Span(" " * max(0, self.size.width - len(text)))
            strips[-1] = self._cache.line(Row((pad, Span(text, "selected"))))
        return strips

    def _meant(self) -> int | None:
        """The block under the cursor where it is in view, else the last card in view, else the last card."""
        visible = [number for number, _ in self._viewport.places]
        if self._cursor is not None and self._cursor in visible:
            return self._cursor
        cards = (
            number for number in reversed(visible) if isinstance(self.document.blocks[number], CallBlock)
        )
        found = next(cards, None)
        if found is not None:
            return found
        return next(
            (each.number for each in reversed(self.document.blocks) if isinstance(each, CallBlock)), None
        )

    def _restyle(self) -> None:
        if self._cache.restyle(self.look, self.rich_style) and self.size:
            self._lay_out()
            self._paint(everything=True)

    def _tick_later(self) -> None:
        """While a visible call runs, its time is shown anew each second; else nothing wakes up."""
        if self._ticker is None and self._visible_running():
            self._ticker = self.set_timer(1.0, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        for block in self._visible_running():
            self.document.touch(block)
        self.flush()

    def _visible_running(self) -> list[Block]:
        if not self._viewport.places:
            return []
        first, last = self._viewport.places[0][0], self._viewport.places[-1][0]
        return [block for block in self.document.running if first <= block.number <= last]


def behind_text(rows: int) -> str:
    """`50+ new rows, End` for 50 to 99: in steps, so that the row is seldom painted; empty for none."""
    if rows <= 0:
        return ""
    power = 10 ** (len(str(rows)) - 1)
    step = next(power * each for each in (5, 2, 1) if power * each <= rows)
    return f"{step}{'+' if step > 2 else ''} new row{'' if rows == 1 else 's'}, End"
