"""The one base of all inspectors: a screen that the user opens, with a title, a body, and one row of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static
from typing_extensions import override

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.asking import waiting_words
from mcode.ui.tui.rows import Row, Span, row
from mcode.ui.tui.rows_view import RowsView
from mcode.ui.tui.status import StatusLine
from mcode.ui.tui.wrapping import wrap_parts
from mcode.ui.wrap import wrap_all, wrap_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import RenderableType
    from textual.app import ComposeResult
    from textual.events import Resize, ScreenResume
    from textual.geometry import Region
    from textual.widget import Widget

    from mcode.ui.asking import Request
    from mcode.ui.tui.app import McodeApp

SEARCH = "inspector.search"
"""Id of the binding of its key."""


class InspectorScreen(Screen[None], inherit_bindings=False):
    """Title row, banner while something waits, body, keys, status. Nothing of the agent is changed by looking."""

    DEFAULT_CSS = """
    InspectorScreen {
        background: transparent;
        .title { height: 1; padding: 0 1; text-style: bold; width: 100%; }
        .banner { height: 1; padding: 0 1; text-style: bold reverse; width: 100%; }
        .keys { height: auto; max-height: 3; padding: 0 1; width: 100%; }
        .foot { height: auto; max-height: 30%; padding: 0 1; width: 100%; }
        .about { height: auto; padding: 0 1; width: 100%; }
        .note { height: auto; padding: 0 1; width: 100%; }
        .body { height: 1fr; }
        RowsView { height: 1fr; padding: 0 1; }
        Input { border: solid $primary; background: transparent; &:focus { border: solid $accent; } }
        &.ascii Input { border: ascii $primary; &:focus { border: ascii $accent; } }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", id="inspector.close", show=False),
        Binding("ctrl+c", "close", id="inspector.leave", show=False),
        Binding("slash", "search", id=SEARCH, show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    AUTO_FOCUS = ""  # `opened` says where keys go, and the first frame has it

    searches = True
    """Whether a slash leads to a box of words to look for."""

    def __init__(self, front: McodeApp, title: str, subtitle: str = "") -> None:
        super().__init__()
        self.front = front
        self._title = clean(title, Kind.LINE)
        self._subtitle = clean(subtitle, Kind.LINE)
        self._head = line("", "title")
        self._keys = line("", "keys")
        self._banner: Static | None = None
        self._drawn = ("", "")
        """Title and keys as they are shown."""
        self._resumed = self._laid_out = False
        self._hint = ""
        """What is to be known of what stands in the search box."""
        self._status = StatusLine(front.facts, front.sessions.servers, lambda: front.size.width)

    def body(self) -> Iterable[Widget]:
        """The widgets between title and keys."""
        return ()

    @property
    def keys(self) -> str:
        """The row of keys."""
        return "Esc close   / search"

    @override
    def compose(self) -> ComposeResult:
        yield self._head
        yield from self.body()
        yield self._keys
        yield self._status

    def refresh_facts(self) -> None:
        """The figures of the last request are other ones, or something began to wait."""
        self._status.refresh_facts()
        self.draw_frame()

    def on_mount(self) -> None:
        """Draw everything before the first layout, so that the first frame shows it."""
        self.set_class(not self.front.unicode, "ascii")
        self._status.keyless, self._status.chosen = self.front.status.keyless, self.front.status.chosen
        self.draw_frame()
        self.opened()

    def opened(self) -> None:
        """The body is there, though not yet laid out."""

    def on_screen_resume(self, event: ScreenResume) -> None:
        """The first time, all widgets have got their styles just now; later the theme may be another one."""
        event.refresh_styles, self._resumed = self._resumed, True

    @override
    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """The first layout draws everything: what would be drawn beside it is drawn with it."""
        if layout or recompose or self._laid_out:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    @override
    def render(self) -> RenderableType:
        """Nothing of the screen below shows through, so nothing of it need be drawn."""
        return ""

    def on_resize(self, event: Resize) -> None:
        """Another width has room for other words."""
        del event
        self._laid_out = True
        self.draw_frame()

    @property
    def width(self) -> int:
        """Cells between the margins, known before the first layout."""
        return max(20, self.front.size.width - 2)

    def draw_frame(self) -> None:
        """The title, the banner and the keys, for the present width."""
        width = self.width
        right = "Esc close"
        middle, cut = self._subtitle, self.front.look.glyphs.cut
        room = width - cell_width(self._title) - cell_width(right) - 4
        text = f"{self._title}   {shorten(middle, room, cut) if room > 10 else ''}".rstrip()
        text = shorten(text, width - len(right) - 1, cut)
        head = f"{text}{' ' * max(1, width - cell_width(text) - len(right))}{right}"
        keys = "\n".join(wrap_parts((self._hint or self.keys).split("   "), width))
        if self._drawn != (head, keys):
            self._drawn = head, keys
            self._head.update(Content(head))
            self._keys.update(Content(keys))
        self.draw_banner(self.front.deciding.waiting)

    def draw_banner(self, waiting: Sequence[Request]) -> None:
        """Say on one row what waits for the user on the main screen."""
        if self._banner is None and waiting:
            self._banner = line("", "banner")
            self.mount(self._banner, after=self._head)
        if self._banner is not None:
            verb = "waits" if len(waiting) == 1 else "wait"
            self._banner.display = bool(waiting)
            text = f"{waiting_words(waiting)} {verb} on the main screen: Esc goes back to it"
            if cell_width(text) > self.width:
                text = f"{waiting_words(waiting)} {verb}: Esc goes back"
            self._banner.update(Content(text))

    def action_close(self) -> None:
        """Back to where the user came from."""
        if isinstance(self.focused, Input) and self.focused.value:
            self.focused.value = ""
            self.set_focus(None)
            self.focus_body()
            return
        self.dismiss()

    @on(Input.Changed)
    def tell_of_command(self, event: Input.Changed) -> None:
        """The name of a command in the box was perhaps meant for the prompt, as it was typed behind a slash."""
        name = event.value.strip().removeprefix("/")
        meant = bool(name) and self.searches and self.front.registry.find(name) is not None
        hint = (
            f"/{name} is a command, too: Esc Esc, then type it at the prompt   Enter searches"
            if meant
            else ""
        )
        if hint != self._hint:
            self._hint = hint
            self.draw_frame()

    def focus_body(self) -> None:
        """Keys go to the body."""

    def begins_search(self, key: str) -> bool:
        """Go to the search box where the key means that; the key behind it is then typed into the box already."""
        if isinstance(self.focused, Input):
            return False
        found = self.active_bindings.get(key)
        if found is None or found.binding.id != SEARCH:
            return False
        self.action_search()
        return True

    def action_search(self) -> None:
        """To the search box."""
        for box in self.query(Input):
            self.set_focus(box)
            return


class TextInspector(InspectorScreen):
    """Shows any command's answer, cleaned, with a box that keeps the lines which hold a word."""

    def __init__(
        self,
        front: McodeApp,
        title: str,
        text: str = "",
        *,
        make: Callable[[int], Sequence[Row]] | None = None,
        style: Callable[[str], str] = lambda line: "",
        subtitle: str = "",
    ) -> None:
        """`make` makes the rows in place of `text`; `style` names the styles of a line of it."""
        super().__init__(front, title, subtitle)
        self._lines = clean(text, Kind.BLOCK).expandtabs(4).split("\n")
        self._make = make
        self._style = style
        self._wanted = ""
        self._box = Input(placeholder="show lines with", compact=True)
        self._box.cursor_blink = False  # at rest nothing moves
        self._view = RowsView(lambda: front.look)

    @override
    def body(self) -> Iterable[Widget]:
        if self._make is None:
            yield self._box
        yield self._view

    @override
    def opened(self) -> None:
        self._box.display = False
        self._view.show(self._make or self._rows)
        self.focus_body()

    @override
    def focus_body(self) -> None:
        self.set_focus(self._view)

    @override
    def action_search(self) -> None:
        if self._make is None:
            self._box.display = True
            self.set_focus(self._box)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the lines that hold what is typed."""
        self._wanted = event.value.lower()
        self._view.show(self._rows)

    def on_input_submitted(self) -> None:
        """To the lines that were found."""
        self.focus_body()

    def _rows(self, width: int) -> list[Row]:
        return [
            row(Span(piece, self._style(line)))
            for line in self._lines
            if self._wanted in line.lower()
            for whole in wrap_columns(line, width)
            for piece in wrap_all(whole, width, 4)
        ]


def line(text: str, place: str) -> Static:
    """A widget of plain text, by what it is called in the style sheet."""
    return Static(Content(text), markup=False, classes=place)
