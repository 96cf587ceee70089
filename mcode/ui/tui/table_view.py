"""Rows in columns that fit the screen: a heading, a cursor, and cells that are made only when they come into view."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from mcode.commands.lazy_rows import LazyRows
from mcode.text import Kind, cell_width, clean
from mcode.ui.tui.wrapping import end_of, shorten_with
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Click, Resize

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.look import Look

_GAP = 2
"""Blanks between two columns."""

_MARK = 2
"""Cells in front of the first column: the sign of the row under the cursor, and a blank."""

_EMPTY_FROM = 2
"""Row of the sentence that stands in place of rows."""

_MEASURED = 50
"""Rows whose cells say how wide a column wants to be, beside the longest plain values of all others."""

_FIRST, _LAST = 20, 5
"""Rows at the beginning and at the end that say it where rows are made only when they are read."""

_KEPT = 500
"""Rows whose texts are kept; then it begins anew."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: which member of a row, its heading, and how a value is written."""

    member: str
    title: str
    write: Callable[[Any], str] = str
    of_row: Callable[[JsonObject], str] | None = None
    """Writes the cell where more than one member tells what stands there."""
    style: Callable[[JsonObject], str] | None = None
    """Names of styles for a cell that is not to be overlooked; its words say the same."""
    right: bool = False
    end: bool = False
    """True where the end of a value tells more than its beginning, and stays where it is cut."""
    width: int = 40
    """Cells at most."""
    least: int = 0
    """Cells that the column may be cut down to; 0: it is shown in full or not at all."""
    worth: int = 9
    """On a narrow screen the columns that are worth least go first."""

    def text(self, row: JsonObject) -> str:
        """The clean text of a row's cell."""
        value = row.get(self.member)
        written = self.of_row(row) if self.of_row else "" if value is None else self.write(value)
        return clean(written, Kind.LINE)


def fit(columns: Sequence[Column], natural: Sequence[int], room: int) -> list[tuple[Column, int]]:
    """The columns that fit into `room` cells and their widths, given how wide each would like to be.

    Columns with a `least` give way first, the widest of them foremost; then those that are worth least are left out.
    """
    shown = list(zip(columns, natural, strict=True))
    while True:
        widths = [width for _, width in shown]
        over = sum(widths) + _GAP * (len(shown) - 1) - room
        slack = [max(0, width - column.least) if column.least else 0 for column, width in shown]
        if over <= 0 or len(shown) == 1:
            break
        if over <= sum(slack):
            _narrow(widths, slack, over)
            break
        shown.remove(min(reversed(shown), key=_worth))
    return [(column, width) for (column, _), width in zip(shown, widths, strict=True)]


def _worth(shown: tuple[Column, int]) -> int:
    return shown[0].worth


def _narrow(widths: list[int], slack: list[int], over: int) -> None:
    for _ in range(over):
        widest = max((at for at, each in enumerate(slack) if each), key=lambda at: widths[at])
        widths[widest] -= 1
        slack[widest] -= 1


class TableView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows rows under a heading that stays. One row has the cursor."""

    DEFAULT_CSS = """
    TableView {
        height: 1fr;
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        overflow-y: auto;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", id="table.up", show=False),
        Binding("down", "move(1)", id="table.down", show=False),
        Binding("pageup", "page(-1)", id="table.page-up", show=False),
        Binding("pagedown", "page(1)", id="table.page-down", show=False),
        Binding("home", "end(False)", id="table.first", show=False),
        Binding("end", "end(True)", id="table.last", show=False),
        Binding("enter", "pick", id="table.pick", show=False),
    ]

    class Picked(Message):
        """Enter, or a click on the row that has the cursor."""

    class Moved(Message):
        """Another row has the cursor."""

    def __init__(self, columns: Sequence[Column], look: Callable[[], Look]) -> None:
        super().__init__()
        self._columns = columns
        self._look = look
        self._table_rows: Sequence[JsonObject] = ()
        self._empty = ""
        self._natural: Sequence[int] = ()
        self._texts: dict[int, tuple[str, ...]] = {}
        """The clean cells of rows that were looked at, all columns of them."""
        self._fitted: list[tuple[int, int]] = []
        """Number and width of each column that fits."""
        self._fitted_for = -1
        """The room that the columns were fitted into."""
        self.cursor_row = 0

    def show(self, rows: Sequence[JsonObject], empty: str = "") -> None:
        """Show other rows, or a sentence where there are none; the cursor stays where it is as far as it can."""
        self._table_rows = rows
        self._empty = "" if rows else empty
        self.cursor_row = max(0, min(self.cursor_row, len(rows) - 1))
        self._texts.clear()
        self._natural = [self._wanted(number) for number in range(len(self._columns))]
        self._fitted_for = -1
        self.virtual_size = Size(1, len(rows) + 1)
        self._keep_in_view()
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self, event: Resize) -> None:
        """In another height the cursor stays in view."""
        del event
        self._keep_in_view()

    def _fit(self, width: int) -> None:
        """Fit the columns, when a line is drawn: the first frame is drawn before a resize is told of."""
        room = max(1, width - _MARK)
        if room != self._fitted_for and self._natural:
            numbers = {id(column): number for number, column in enumerate(self._columns)}
            fitted = fit(self._columns, self._natural, room)
            self._fitted = [(numbers[id(column)], width) for column, width in fitted]
            self._fitted_for = room

    def _wanted(self, number: int) -> int:
        """Cells that a column would like to have; of rows that are not made yet only as many as a screen has."""
        rows, column = self._table_rows, self._columns[number]
        cells = [cell_width(column.title)]
        measured = range(min(len(rows), _MEASURED))
        if isinstance(rows, LazyRows):
            cells.append(rows.longest.get(column.member, 0))
            ends = (*range(_FIRST), *range(max(_FIRST, len(rows) - _LAST), len(rows)))
            measured = [at for at in ends if at < len(rows)]
        elif column.of_row is None and column.write is str:
            cells += [len(value) for value in {str(row.get(column.member)) for row in rows[_MEASURED:]}]
        cells += [cell_width(self._cells(at)[number]) for at in measured]
        return max(cell_width(column.title), min(column.width, max(cells)))

    def _cells(self, at: int) -> tuple[str, ...]:
        """The texts of a row."""
        cells = self._texts.get(at)
        if cells is None:
            if len(self._texts) >= _KEPT:
                self._texts.clear()
            row = self._table_rows[at]
            cells = self._texts[at] = tuple(column.text(row) for column in self._columns)
        return cells

    def action_move(self, by: int) -> None:
        """The cursor up or down."""
        self._go(self.cursor_row + by)

    def action_page(self, by: int) -> None:
        """The cursor by a screenful."""
        self._go(self.cursor_row + by * max(1, self.size.height - 2))

    def action_end(self, last: bool) -> None:
        """The cursor to the first or the last row."""
        self._go(len(self._table_rows) if last else 0)

    def action_pick(self) -> None:
        """Do what Enter does with the row."""
        if self._table_rows:
            self.post_message(self.Picked())

    def on_click(self, event: Click) -> None:
        """To the row under the mouse; on the row that has the cursor already, what Enter does."""
        at = event.y - 1 + self.scroll_offset.y
        if event.y >= 1 and 0 <= at < len(self._table_rows):
            if at == self.cursor_row:
                self.action_pick()
            else:
                self._go(at)

    def _go(self, to: int) -> None:
        to = max(0, min(to, len(self._table_rows) - 1))
        if to != self.cursor_row:
            self.cursor_row = to
            self._keep_in_view()
            self.refresh()
            self.post_message(self.Moved())

    def _keep_in_view(self) -> None:
        first, shown = self.scroll_offset.y, max(1, self.size.height - 1)
        if not first <= self.cursor_row < first + shown:
            to = self.cursor_row if self.cursor_row < first else self.cursor_row - shown + 1
            self.scroll_to(y=to, animate=False)

    @override
    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_size.width, self.rich_style
        self._fit(width)
        at = y - 1 + self.scroll_offset.y
        if y == 0:
            heads = [column.title for column in self._columns]
            bold = base + Style(bold=True, underline=True)
            strip = self._strip(heads, " ", [bold] * len(heads), base)
        elif at < len(self._table_rows):
            row = self._table_rows[at]
            under = at == self.cursor_row
            style = base + Style(bold=True, reverse=self.has_focus) if under else base
            look = self._look()
            names = [column.style(row) if column.style else "" for column in self._columns]
            styles = [style + look.style(each) if each else style for each in names]
            strip = self._strip(self._cells(at), ">" if under else " ", styles, style)
        else:
            said = wrap_words(self._empty, max(10, width - _MARK)) if self._empty else []
            if y - _EMPTY_FROM not in range(len(said)):
                return Strip.blank(width, base)
            strip = Strip([Segment(f"{' ' * _MARK}{said[y - _EMPTY_FROM]}", base)])
        return strip.adjust_cell_length(width, base)

    def _strip(self, cells: Sequence[str], mark: str, styles: Sequence[Style], gap: Style) -> Strip:
        """One row; neighbours of one style are one segment."""
        parts: list[tuple[str, Style]] = [(mark.ljust(_MARK), gap)]
        cut = self._look().glyphs.cut
        for place, (number, width) in enumerate(self._fitted):
            text, column = cells[number], self._columns[number]
            short = end_of(text, width, cut) if column.end else shorten_with(text, width, cut)
            blank = (" " * (width - cell_width(short)), gap)
            if place:
                parts.append((" " * _GAP, gap))
            shown = (short, styles[number])
            parts += [blank, shown] if column.right else [shown, blank]
        joined = groupby(parts, itemgetter(1))
        return Strip([Segment("".join(text for text, _ in run), style) for style, run in joined])


def plain_rows(columns: Sequence[Column], rows: Sequence[JsonObject], room: int, cut: str) -> list[str]:
    """A heading and rows as plain text, in the columns that have room; a cell is cut only with a sign."""
    texts = [tuple(column.text(row) for column in columns) for row in rows]
    natural = [
        max(cell_width(column.title), *(cell_width(cells[number]) for cells in texts), 0)
        for number, column in enumerate(columns)
    ]
    numbers = {id(column): number for number, column in enumerate(columns)}
    shown = [(numbers[id(column)], width) for column, width in fit(columns, natural, room)]
    made: list[str] = []
    for cells in (tuple(column.title for column in columns), *texts):
        parts: list[str] = []
        for number, width in shown:
            short = shorten_with(cells[number], width, cut)
            blank = " " * (width - cell_width(short))
            parts.append(blank + short if columns[number].right else short + blank)
        made.append((" " * _GAP).join(parts).rstrip())
    return made
