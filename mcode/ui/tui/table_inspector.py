"""An inspector of rows: sorted, filtered, with a box that runs a command, and keys that run one on the picked row."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input
from typing_extensions import override

from mcode.commands.lazy_rows import LazyRows
from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.tui.inspector import InspectorScreen, TextInspector, line
from mcode.ui.tui.rows import counted
from mcode.ui.tui.table_spec import facts, rows_of
from mcode.ui.tui.table_view import TableView, plain_rows
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.events import Key
    from textual.widget import Widget
    from textual.widgets import Static

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.table_spec import RowKey, TableSpec

_NOTE_ROWS = 12
"""Lines of an answer that are shown above the rows."""

_HIT_ROWS = 6
"""The same for an answer to the box, so that the rows stay in sight."""


_LOW = 18
"""Rows of a screen below which the foot under the table has one row."""

_ABOUT_ROWS = 4
"""Rows at most that tell all of the row under the cursor."""

_BOX_EDGES = 8
"""Cells of a box's border beside its title."""

_NOTHING = "No row matches. An empty search and f (filter: all) show all of them again."

_SLOW = 0.3
"""Seconds after which a command that still works is said to do so."""

_HELD = 0.3
"""Seconds in which an Enter still belongs to the key that asked."""


class TableInspector(InspectorScreen):
    """Shows the rows of a command's data. It asks the same command again for nothing; what it shows is its answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", id="inspector.sort", show=False),
        Binding("f", "filter", id="inspector.filter", show=False),
        Binding("c", "copy", id="inspector.copy", show=False),
        Binding("ctrl+o", "whole", id="inspector.whole", show=False),
    ]

    def __init__(self, front: McodeApp, spec: TableSpec, rows: Sequence[JsonObject], foot: str = "") -> None:
        super().__init__(front, spec.title, spec.subtitle)
        self._spec = spec
        self._all = rows
        self._foot = line(clean(foot, Kind.BLOCK), "foot") if foot else None
        self._shown: Sequence[JsonObject] = ()
        self._words = ""
        self._state = ""
        self._sort = -1
        self._note_lines: Sequence[str] = ()
        self._hits: Sequence[JsonObject] = ()
        self._answer: tuple[str, str] | None = None
        """The command that was asked last by the box, and its answer."""
        self._asked_at = 0.0
        self._box = Input(placeholder="" if spec.box else "show rows with")
        self._box.cursor_blink = False  # at rest nothing moves
        self._note: Static | None = None
        self._table = TableView(spec.columns, lambda: front.look)
        self._about = line("", "about") if spec.about else None
        self._asked: str = ""
        """The key whose meaning waits to be confirmed."""

    @property
    @override
    def keys(self) -> str:
        own = [f"{_name(key)} {each.label}" for key, each in self._spec.keys.items()]
        filters = [f"f filter: {self._state or 'all'}"] if self._spec.state else []
        return "   ".join([*own, "/ search", "s sort", *filters, "c copy"])

    @override
    def body(self) -> Iterable[Widget]:
        yield self._box
        yield self._table
        if self._about is not None:
            yield self._about
        if self._foot is not None:
            yield self._foot

    @override
    def opened(self) -> None:
        self._box.display = bool(self._spec.box)
        self._fill()
        self.focus_body()

    @override
    def focus_body(self) -> None:
        self.set_focus(self._table)

    @override
    def action_search(self) -> None:
        self._box.display = True
        self.set_focus(self._box)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Without a command of its own the box keeps the rows that hold its words."""
        if not self._spec.box_command:
            self._words = event.value.lower()
            self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run the box's command and show its answer above the rows."""
        if self._spec.box_command and event.value.strip():
            self.front.work.begin(self._ask(f"{self._spec.box_command} {event.value.strip()}", boxed=True))
        else:
            self._unsay()
            self.focus_body()

    def on_table_view_picked(self) -> None:
        """Enter or a click on a row."""
        if self._asked:
            self._confirm()
        else:
            self._do("enter")

    def on_table_view_moved(self) -> None:
        """Another row: what was to be confirmed was meant for the one before."""
        self._forget()
        self._draw_about()

    def on_key(self, event: Key) -> None:
        """The keys of this inspector's rows."""
        if event.key != "enter":
            self._forget()
        if event.key in self._spec.keys and event.key != "enter" and self.focused is self._table:
            event.stop()
            self._do(event.key)

    async def action_sort(self) -> None:
        """By the next column."""
        await self._make_all()
        self._sort = (self._sort + 2) % (len(self._spec.columns) + 1) - 1
        self._fill()

    async def action_filter(self) -> None:
        """The next state, then all again."""
        if not self._spec.state:
            return
        await self._make_all()
        states = ["", *dict.fromkeys(str(row.get(self._spec.state, "")) for row in self._all)]
        self._state = states[(states.index(self._state) + 1) % len(states)]
        self._fill()

    async def _make_all(self) -> None:
        """Rows that are made when they are read are made here, all of them, without holding up the loop."""
        if isinstance(self._all, LazyRows):
            self._all = await asyncio.to_thread(list, self._all)

    def action_copy(self) -> None:
        """The picked row as JSON."""
        from mcode import jsontext
        from mcode.ui.tui.clipboard import sent

        row = self.picked
        if row is not None:
            self.front.copy(jsontext.dump(row))
            self._say(f"This row as JSON: {sent()}")

    @property
    def rows(self) -> Sequence[JsonObject]:
        """All rows, shown or not."""
        return self._all

    @property
    def picked(self) -> JsonObject | None:
        """The row under the cursor."""
        at = self._table.cursor_row
        return self._shown[at] if 0 <= at < len(self._shown) else None

    def _do(self, key: str) -> None:
        row, does = self.picked, self._spec.keys.get(key)
        if row is None or does is None:
            return
        if does.sure is not None:
            self._asked, self._asked_at = key, time.monotonic()
            self._say(f"{does.sure(row)} Enter confirms; any other key leaves all as it is.")
            return
        self._carry_out(row, does)

    def _confirm(self) -> None:
        """Enter again, and not by a key that was held down."""
        if time.monotonic() - self._asked_at < _HELD:
            return
        row, does = self.picked, self._spec.keys[self._asked]
        self._forget()
        if row is not None:
            self._carry_out(row, does)

    def _forget(self) -> None:
        if self._asked:
            self._asked = ""
            self._unsay()

    def _carry_out(self, row: JsonObject, does: RowKey) -> None:
        command = does.command(row)
        if not command:
            self.front.push_screen(TextInspector(self.front, self._spec.title, facts(row)))
        elif does.leaves:
            self.dismiss()
            self.front.sending.run(command)
        else:
            self.front.work.begin(self._ask(command, again=does.changes))

    def action_whole(self) -> None:
        """All of what the box was answered."""
        if self._answer is not None:
            self.front.push_screen(TextInspector(self.front, *self._answer))

    async def _ask(self, command: str, *, again: bool = False, boxed: bool = False) -> None:
        context = self.front.context()
        slow = asyncio.get_running_loop().call_later(_SLOW, self._tell_of_wait, command)
        try:
            result = await context.registry.run(command, context)
        finally:
            slow.cancel()
        if self not in self.front.screen_stack:
            self.front.say(result.text, "warning" if result.failed else "command")
            return
        if again:
            answer = await context.registry.run(self._spec.title, context)
            if not answer.failed:
                self._all = rows_of(answer.facts, self._spec.member)
            self._fill()
        lines = clean(result.text, Kind.BLOCK).split("\n")
        if boxed:
            self._answer = (command, result.text)
            hits = rows_of(result.facts, "hits") if self._spec.hits else ()
            if hits:
                self._say(lines[0], hits=hits)
                return
            if len(lines) > _HIT_ROWS:
                left = counted(len(lines) - _HIT_ROWS, "more line")
                lines[_HIT_ROWS:] = [f"  ({left}: Ctrl+O shows all)"]
        elif sum(len(wrap_words(each, self.width)) for each in lines) > self._note_room:
            self.front.push_screen(TextInspector(self.front, command, result.text))
            return
        self._say(*lines)

    @property
    def _note_room(self) -> int:
        """Rows above the table that an answer may take: the table keeps half of the screen."""
        return min(_NOTE_ROWS, self.front.size.height // 2)

    def _tell_of_wait(self, command: str) -> None:
        if self in self.front.screen_stack:
            self._say(
                f"{command}: under way; what comes of it is said here, or in the conversation after Esc"
            )

    def _say(self, *lines: str, hits: Sequence[JsonObject] = ()) -> None:
        """Show lines above the rows, and what the box has found."""
        self._note_lines, self._hits = lines, hits
        if self._note is None:
            self._note = line("", "note")
            self.mount(self._note, before=self._table)
        self._note.display = True
        self._draw_note()

    def _unsay(self) -> None:
        if self._note is not None:
            self._note.display = False

    @override
    def draw_frame(self) -> None:
        super().draw_frame()
        whole = self._spec.box
        fits = cell_width(whole) + _BOX_EDGES <= self.front.size.width
        self._box.border_title = Content(whole if fits else whole.partition("  ")[0])
        if self._foot is not None:  # on a low screen the rows of the table come first
            self._foot.styles.max_height = 1 if self.front.size.height < _LOW else None
        self._draw_note()
        self._draw_about()

    def _draw_about(self) -> None:
        """The picked row whole, on as many rows as the longest of all needs: nothing moves with the cursor."""
        spoken, row = self._spec.about, self.picked
        if self._about is None or spoken is None:
            return
        rows = wrap_words(spoken(row), self.width) if row is not None else []
        longest = max((len(wrap_words(spoken(each), self.width)) for each in self._all), default=0)
        rows += [""] * (min(longest, _ABOUT_ROWS) - len(rows))
        self._about.update(Content("\n".join(clean(each, Kind.LINE) for each in rows[:_ABOUT_ROWS])))

    def _draw_note(self) -> None:
        if self._note is None:
            return
        width, cut = self.width, self.front.look.glyphs.cut
        rows = [row for line in self._note_lines for row in wrap_words(line, width)]
        if self._hits:
            first = self._hits[: _HIT_ROWS - 2]
            rows += [f"  {row}" for row in plain_rows(self._spec.hits, first, width - 2, cut)]
            left = len(self._hits) - len(first)
            if left:
                rows.append(f"  ({counted(left, 'more line')}: Ctrl+O shows all)")
        self._note.update(Content("\n").join(Content(shorten(row, width, cut)) for row in rows))

    def _fill(self) -> None:
        spec = self._spec
        rows = self._all
        if self._state:
            rows = [row for row in rows if str(row.get(spec.state)) == self._state]
        for word in self._words.split():
            rows = [row for row in rows if word in facts(row).lower()]
        if self._sort >= 0:
            member = spec.columns[self._sort].member
            rows = sorted(rows, key=lambda row: _order(row.get(member)))
        self._shown = rows
        self._table.show(rows, _NOTHING if self._all else "")
        self.draw_frame()


def _order(value: object) -> tuple[int, float, str]:
    if isinstance(value, (int, float)):
        return 0, -float(value), ""
    return 1, 0.0, str(value).lower()


def _name(key: str) -> str:
    return key.capitalize() if len(key) > 1 else key
