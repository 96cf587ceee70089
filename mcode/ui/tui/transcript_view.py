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
from mcode.ui.tui.chores import Chores
from mcode.ui.tui.cursor import Cursor
from mcode.ui.tui.marking import SHIFT, MarkedText
from mcode.ui.tui.painting import Painting
from mcode.ui.tui.row_cache import RowCache
from mcode.ui.tui.viewport import Viewport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.events import Click
    from textual.reactive import Reactive
    from textual.selection import Selection

    from mcode.events import Event
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

    def __init__(self, document: Document, look: Look) -> None:
        super().__init__()
        self.document = document
        self.look = look
        self._cache = RowCache(document, look)
        self._viewport = Viewport(document, self._cache)
        self._cursor = Cursor(document, self._viewport, self._cache)
        self._painting = Painting(self._viewport, self._cache)
        self._in_frame = False
        self._flush_due = False
        self._marked = MarkedText(document, self._cache)
        self._chores = Chores(self, self._viewport)
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
        number = block if block is not None else self._cursor.card
        if number is None or not isinstance(self.document.blocks[number], _FOLDABLE):
            return
        chosen = self.document.blocks[number]
        self._cursor.put(number)
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
        self._viewport.go((self._cursor.step(by), 0))
        self.flush()

    def scroll_to_end(self) -> None:
        """Show the last rows and follow them from now on."""
        self._viewport.following = True
        self.flush()

    @property
    def has_selection(self) -> bool:
        """Whether any text is selected."""
        return any(self._marked.parts(self.text_selection))

    def selected_text(self) -> str:
        """The selected text, exactly: without margins, soft-wrapped rows joined. Empty where nothing is selected."""
        return self._copied(self.text_selection)

    async def gather_selected(self) -> str:
        """The same where it may be the whole transcript: in slices, between which the screen goes on."""
        text = await self._marked.gather(self.text_selection)
        self._chores.plan()  # texts that were read back for it
        return text

    def text_at_cursor(self) -> str:
        """All that the block under the cursor holds, clean; empty where the cursor is nowhere in view."""
        return self._cursor.text

    def last_rows(self, count: int) -> list[str]:
        """The last rows as plain text, for the normal screen after the app has ended."""
        return self._cache.last_texts(count)

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

    @override
    def render_line(self, y: int) -> Strip:
        if len(self._painting.strips) != self.size.height or self._viewport.width != self.size.width:
            self._resize()
        strips, places = self._painting.strips, self._viewport.places
        if y >= len(strips):
            return Strip.blank(self.size.width, self.rich_style)
        if self._in_frame or y >= len(places):
            return strips[y]
        block, row = places[y]
        return strips[y].apply_offsets(0, block << SHIFT | row)

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows for painting. Offsets, which cost more than all else, are for the mouse alone: it asks row by row."""
        self._in_frame = True
        try:
            return super().render_lines(crop)
        finally:
            self._in_frame = False

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return self._copied(selection), "\n"

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
        number = self._cursor.click(offset.y) if offset is not None else None
        if number is not None and isinstance(self.document.blocks[number], _FOLDABLE):
            self.toggle(number)

    def _copied(self, selection: Selection | None) -> str:
        text = self._marked.text(selection)
        self._chores.plan()
        return text

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
        self._painting.renew(self.text_selection)

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
        changed = self._painting.renew(self.text_selection)
        if everything or changed is None:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))
        self._chores.plan()

    def _restyle(self) -> None:
        if self._cache.restyle(self.look, self.rich_style) and self.size:
            self._lay_out()
            self._paint(everything=True)
