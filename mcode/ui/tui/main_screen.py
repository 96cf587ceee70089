"""The main screen: one column, the transcript above, the prompt below, and what runs and waits between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widgets import Static
from typing_extensions import override

from mcode.ui.asking import waiting_words
from mcode.ui.tui.paste_guard import guard_pastes
from mcode.ui.tui.stage import ROOMY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key, Resize
    from textual.widget import Widget

    from mcode.ui.asking import Request
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.hands import Hands

_LEAST_COLUMNS, _LEAST_ROWS = 40, 10
_CROWDED = 14
"""Rows below which the transcript makes room for what waits."""
_LEAST_BESIDE_PANEL = 6
"""Rows."""
_TOO_SMALL = "too small for the transcript"

MAIN_KEYS: list[BindingType] = [
    Binding("escape", "escape", id="main.escape", show=False),
    Binding("ctrl+c", "control_c", id="main.copy-or-interrupt", show=False),
    Binding("ctrl+d", "control_d", id="main.quit", show=False),
    Binding("ctrl+z", "suspend", id="main.suspend", show=False),
    Binding("tab", "tab", id="main.next-place", show=False),
    Binding("shift+tab", "next_mode", id="main.next-mode", show=False),
    Binding("ctrl+g", "edit", id="main.editor", show=False),
    Binding("ctrl+o", "open", id="main.fold", show=False),
    Binding("ctrl+v", "paste_image", id="main.paste-image", show=False),
    Binding("ctrl+x", "to_background", id="main.background", show=False),
    Binding("pageup", "page(-1)", id="main.page-up", show=False),
    Binding("pagedown", "page(1)", id="main.page-down", show=False),
    Binding("ctrl+home", "beginning", id="main.beginning", show=False),
    Binding("ctrl+end,end", "follow", id="main.end", show=False),
    Binding("alt+up", "step(-1)", id="main.previous-block", show=False),
    Binding("alt+down", "step(1)", id="main.next-block", show=False),
    Binding("ctrl+l", "repaint", id="main.repaint", show=False),
    Binding("f1", "keys_help", id="main.keys", show=False),
]


class MainScreen(Screen[None], inherit_bindings=False):
    """Arranges the widgets and says what the keys do that no widget takes for itself."""

    DEFAULT_CSS = """
    MainScreen {
        layers: base popup;
        background: transparent;
        overflow: hidden;
        TranscriptView { height: 1fr; min-height: 0; }
        #first-lines { height: 1fr; padding: 0 2; }
        &.tiny TranscriptView, &.crowded TranscriptView { display: none; }
        &.tiny QueueStrip, &.tiny ActivityLine, &.crowded QueueStrip { height: 0; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = MAIN_KEYS
    AUTO_FOCUS = "PromptArea"

    def __init__(self, front: McodeApp) -> None:
        super().__init__()
        guard_pastes()
        self._front = front
        self._first_lines = Static(Content("\n".join(front.first_lines)), markup=False, id="first-lines")
        self.complete = False
        """False until the first frame is out: it shows the prompt, the last row, and where mcode was started."""

    @property
    def _hands(self) -> Hands:
        return self._front.hands

    @override
    def compose(self) -> ComposeResult:
        yield self._first_lines
        yield self._front.prompt
        yield self._front.status

    def on_mount(self) -> None:
        """The first frame is about to be drawn."""
        if self._front.unicode:
            ScrollBar.renderer = ScrollBarRender
        else:
            from mcode.ui.tui.look import PlainBar

            ScrollBar.renderer = PlainBar
        self._front.begin()

    async def make_complete(self) -> None:
        """The first frame is out: put in what it did not need."""
        front = self._front
        with front.batch_update():
            await self.mount(
                front.transcript,
                front.setup,
                front.activity,
                front.queue,
                front.panel,
                front.suggestions,
                before=front.prompt,
            )
            await self.mount(front.own_status, before=front.status)
            await self._first_lines.remove()
        self.complete = True

    def on_unmount(self) -> None:
        """The widgets are gone; what still happens is shown by nobody."""
        self._front.pump.stop()

    def on_resize(self, event: Resize) -> None:
        """Too small a terminal shows the prompt, what waits, and the status alone."""
        tiny = event.size.width < _LEAST_COLUMNS or event.size.height < _LEAST_ROWS
        self.set_class(tiny, "tiny")
        if tiny:
            self._front.status.hint(_TOO_SMALL)
        else:
            self._front.status.end_hint(_TOO_SMALL)
        self.fit_panel()

    @property
    def rows_beside_panel(self) -> int:
        """Rows of the screen that are not for the panel: the prompt's, those of what stands around it, and one of
        the transcript."""
        front = self._front
        kept = [front.queue, front.prompt, front.own_status, front.status]
        rows = sum(part.outer_size.height for part in kept if part.display)
        if self.has_class("tiny"):
            return rows
        return rows + 1 if self.has_class("crowded") else max(_LEAST_BESIDE_PANEL, rows + 2)

    def fit_panel(self) -> None:
        """Leave what waits its rows: on a screen of few a long draft shows less of itself beside it."""
        if not self.complete:
            return
        waits, height = self._front.deciding.shown is not None, self.size.height
        few = height < ROOMY and waits
        self.set_class(waits and height < _CROWDED, "crowded")
        self._front.prompt.set_class(few, "beside-panel")
        self._front.panel.refit()

    # Stage: what the approvals need

    @property
    def prompt_focused(self) -> bool:
        """True while keys go to the prompt."""
        return self.focused is self._front.prompt

    def focus_panel(self) -> None:
        """Keys go to the panel from now on."""
        self.set_focus(self._front.panel)

    def focus_prompt(self) -> None:
        """Keys go to the prompt from now on."""
        self.set_focus(self._front.prompt)

    def to_prompt(self, keys: Sequence[Key]) -> None:
        """Hand keys to the prompt, behind those that it has not looked at yet."""
        self.focus_prompt()
        for key in keys:
            again = type(key)(key.key, key.character)
            again.time = key.time
            self._front.prompt.post_message(again)

    def status_changed(self) -> None:
        """The figures of the last row may be other ones, here and in an inspector that is open."""
        from mcode.ui.tui.inspector import InspectorScreen

        self._front.status.refresh_facts()
        if self._front.is_running and isinstance(self._front.screen, InspectorScreen):
            self._front.screen.refresh_facts()

    def waiting_changed(self, waiting: Sequence[Request]) -> None:
        """Something began to wait, or ceased to."""
        self._front.activity.waiting(waiting_words(waiting), reviewed=self._at_what_waits)
        self.status_changed()
        self.fit_panel()
        if not waiting:
            self._front.notifier.show("")

    @property
    def _at_what_waits(self) -> bool:
        """True while the user is at the panel, or at the words for it."""
        return self.focused is self._front.panel or self._front.prompt.asking

    def on_descendant_focus(self) -> None:
        """A click has moved the focus: the state of what waits follows it."""
        if not self.complete:
            return
        self._front.activity.reviewing(reviewed=self._at_what_waits)
        self._hands.focus_moved(self.focused)

    # keys

    def action_escape(self) -> None:
        """Close the top-most thing, else interrupt."""
        self._hands.escape()

    def action_control_c(self) -> None:
        """Copy, else interrupt, else clear, else quit at the second press."""
        self._hands.control_c()

    def action_control_d(self) -> None:
        """Quit, on an empty draft."""
        self._hands.control_d()

    def action_suspend(self) -> None:
        """Stop the job."""
        self._front.action_suspend_process()

    def action_tab(self) -> None:
        """To what waits, else between transcript and prompt."""
        self._hands.tab()

    def action_next_mode(self) -> None:
        """The next permission mode."""
        self._hands.next_mode()

    def action_edit(self) -> None:
        """The draft in the user's editor."""
        self._hands.edit()

    def action_open(self) -> None:
        """An approval in full, else fold or unfold a card."""
        self._hands.open()

    def action_paste_image(self) -> None:
        """The image of the clipboard into the draft."""
        self._hands.paste_image()

    def action_to_background(self) -> None:
        """What runs and is waited for goes on in the background."""
        self._hands.to_background()

    def action_page(self, by: int) -> None:
        """Scroll the transcript."""
        transcript: Widget = self._front.transcript
        if by < 0:
            transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    def action_beginning(self) -> None:
        """To the first row of the transcript."""
        self._front.transcript.scroll_home(animate=False)

    def action_follow(self) -> None:
        """To the last row, and follow."""
        self._front.transcript.scroll_to_end()

    def action_step(self, by: int) -> None:
        """To the next or previous block."""
        self._front.transcript.step(by)

    def action_repaint(self) -> None:
        """Draw everything anew."""
        self.refresh(layout=True)

    def action_keys_help(self) -> None:
        """The keys of this place."""
        self._hands.keys_help()
