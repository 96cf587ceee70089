"""The full-screen front end: events of the core in, the user's keys out, and nothing of the agent kept here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from typing_extensions import override

from mcode.ui.arrival import Unsent
from mcode.ui.entered import Entered
from mcode.ui.signals import callback_faults
from mcode.ui.tui.answers import Answers
from mcode.ui.tui.approval_panel import ApprovalPanel
from mcode.ui.tui.background import default_theme
from mcode.ui.tui.clipboard import copy_by_program
from mcode.ui.tui.deciding import Deciding
from mcode.ui.tui.document import Document
from mcode.ui.tui.farewell import Farewell
from mcode.ui.tui.hands import Hands
from mcode.ui.tui.look import can_show_unicode, look_for
from mcode.ui.tui.main_screen import MainScreen
from mcode.ui.tui.mouse import Mouse
from mcode.ui.tui.notifier import Notifier
from mcode.ui.tui.own_status_line import OwnStatusLine
from mcode.ui.tui.prompt_area import PromptArea
from mcode.ui.tui.pump import EventPump
from mcode.ui.tui.sending import Sending
from mcode.ui.tui.sessions import Sessions
from mcode.ui.tui.status import ActivityLine, Facts, QueueStrip, StatusLine
from mcode.ui.tui.suggestions import Suggestions
from mcode.ui.tui.transcript_view import TranscriptView
from mcode.ui.work import Work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import RenderableType
    from textual.binding import BindingType
    from textual.screen import Screen
    from textual.widget import Widget

    from mcode.commands.host import CommandContext, Conversation, Surroundings
    from mcode.commands.registry import Registry
    from mcode.errors import McodeError
    from mcode.events import Event
    from mcode.ui.arrival import Arrival
    from mcode.ui.look import Look as Manners
    from mcode.ui.tui.look import Look


class McodeApp(App[int], inherit_bindings=False):
    """Puts the parts together and hands events and keys on to them."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []
    CSS = "Screen { background: transparent; }"

    def __init__(
        self,
        arriving: Callable[[], Awaitable[Arrival]],
        *,
        start: Path,
        home: Path,
        manners: Manners,
        environment: Mapping[str, str],
        messages: Sequence[str] = (),
        theme: str | None = None,
        title: bool = True,
        mouse: bool = True,
        typed: str = "",
    ) -> None:
        """`arriving` opens the session, once the first frame is out; what is sent before waits for it.

        `start`, `home`: the folder that is worked in, and the user's; `manners`: how long an approval waits for
        rest, bell, colour; `messages` are sent at once; `title`: whether the window's may be written; `typed`: what
        was typed before there was a prompt.
        """
        super().__init__()
        self.start, self.home = start, home
        self.messages_before = messages
        self.unicode = can_show_unicode(environment) and manners.unicode
        self._manners, self._environment = manners, environment
        self.typed_before = typed
        self.key, self.unsent = "", Unsent()
        """A key that the user gave, and what was not sent when the screen was left for another one."""
        self.failure: McodeError | None = None
        """Why no session could be opened."""
        self.farewell, self.mouse = Farewell(self), Mouse(self._write_past_screen, on=mouse)
        self.theme = theme if theme in self.available_themes else default_theme(environment, dark=None)
        self.look: Look = look_for(self.current_theme, unicode=self.unicode, colour=manners.color)
        self.work = Work(lambda text: self.say(text, "error"), self._give_up)
        self.facts = Facts("", "default", cut=self.look.glyphs.cut)
        self.pump = EventPump(self._show_events, stream_gap=0.2 if "SSH_CONNECTION" in environment else 0.1)
        self.sessions = Sessions(self, arriving)
        self.hands, self.history = Hands(self), Entered()
        self._make_widgets()
        self.notifier = Notifier(self._write_past_screen, bell=manners.bell, title=title, place=start.name)
        self.answers = Answers(self)
        self.sending = Sending(
            self.context,
            self.work,
            show=self.answers.show,
            say=self.say,
            give_back=self.hands.give_back,
            changed=self._show_queue,
            leave=lambda: self.exit(0),
        )

    def _make_widgets(self) -> None:
        self.suggestions = Suggestions(self.look.glyphs.cut)
        self.prompt = PromptArea(self.hands, self.suggestions)
        self.transcript = TranscriptView(Document(), self.look)
        self.panel = ApprovalPanel(lambda: self.look, lambda: self.main.size.height)
        self.activity = ActivityLine(self.facts)
        self.queue = QueueStrip(self.look.glyphs.cut)
        self.own_status = OwnStatusLine()
        self.status = StatusLine(self.facts, self.sessions.servers)
        self.main = MainScreen(self)
        self.deciding = Deciding(
            self.panel,
            self.prompt,
            self.main,
            desk=lambda: self.agent.desk,
            start=lambda: str(self.start),
            idle=self._manners.idle,
            arm=self._manners.arm,
        )
        if not self.unicode:
            for widget in (self.prompt, self.panel, self.suggestions):
                widget.add_class("ascii")

    @property
    def agent(self) -> Conversation:
        """The session that is open now; raises NotOpenError where none is yet."""
        return self.sessions.agent

    @property
    def around(self) -> Surroundings:
        """What belongs to all sessions; raises NotOpenError before the first."""
        return self.sessions.arrival.around

    @property
    def registry(self) -> Registry:
        """The slash commands; raises NotOpenError before the first session."""
        return self.sessions.registry

    def context(self) -> CommandContext:
        """What commands may use."""
        return self.sessions.context()

    async def run_to_end(self) -> int:
        """Run until the user quits; returns the exit code. The agent is closed, whatever the way out."""
        code: int | None = None
        reason = "other"
        try:
            with callback_faults(self.work.fault):
                code = await self.run_async(mouse=self.mouse.on)
            reason = "prompt_input_exit"
        finally:
            self.pump.stop()
            self.farewell.print_all()
            await self.sessions.finish(reason)
            self.farewell.print_last()
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # Textual ends its loop at one and says nothing of it
            raise asyncio.CancelledError
        if self.failure is not None:
            raise self.failure
        return self.return_code or 0 if code is None else code

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.main

    def widgets(self) -> Iterable[Widget]:
        """The widgets of the main screen, from top to bottom."""
        above = (self.transcript, self.activity, self.queue, self.panel)
        return (*above, self.suggestions, self.prompt, self.own_status, self.status)

    def begin(self) -> None:
        """The main screen is there: open the session on it."""
        self.notifier.start()
        self.theme_changed_signal.subscribe(self, lambda _: self._change_look())
        self.sessions.begin()
        self.call_after_refresh(self.first_frame_is_out)

    def first_frame_is_out(self) -> None:
        """From here on the session is opened and what is slow is loaded."""
        self.sessions.start()

    def _show_events(self, batch: Sequence[Event]) -> None:
        for event in batch:
            self.sending.receive(event)
            self.facts.receive(event)
            self.own_status.receive(event)
            self.deciding.receive(event)
            self.transcript.apply(event)
            self.sessions.receive(event)
        self.activity.refresh_facts()
        self.prompt.offer(self.facts.cut_off.offer)
        self.main.status_changed()
        self._show_queue()

    def _show_queue(self) -> None:
        early = self.sending.early
        when = "after this turn" if self.facts.active else "before your next message"
        when = "once the session is open" if early else when
        self.queue.show(tuple(early or self.facts.queue), self.sending.ahead, when=when)
        self.sessions.keep_draft()

    def draft_changed(self) -> None:
        """Something was typed or taken away."""
        self.deciding.draft_changed()
        self.sessions.keep_draft()

    def say(self, text: str, severity: str = "info") -> None:
        """Lines of mcode's own in the transcript."""
        self.transcript.show(text, severity)

    @override
    async def on_event(self, event: events.Event) -> None:
        """Settle what a key is for in the order in which keys were read, before any widget sees it."""
        if self._is_for_main(event):
            if isinstance(event, events.Paste):
                self.deciding.pasted()
            elif isinstance(event, events.Key):
                self.status.hint("")
                self.deciding.key_pressed()
                self.hands.key_pressed(event.key)
                if self.deciding.takes(event):
                    return
            self._bring_to_prompt(event)
        await super().on_event(event)

    def _is_for_main(self, event: events.Event) -> bool:
        return (
            isinstance(event, (events.Key, events.Paste))
            and not event.is_forwarded
            and self.is_running
            and self.screen is self.main
        )

    def _bring_to_prompt(self, event: events.Event) -> None:
        """What is typed while the transcript has the focus is meant for the prompt."""
        typed = isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
        if typed and not self.deciding.focused and not self.main.prompt_focused:
            self.main.focus_prompt()

    async def press_key(self, key: str) -> None:
        """Do what a key is bound to, from the focused widget up."""
        await self._check_bindings(key)

    def watch_app_focus(self, focus: bool) -> None:
        """The terminal is looked at, or the user looks elsewhere."""
        self.notifier.looking = focus

    def take_key(self, key: str) -> None:
        """End with a key, and with the draft, for the next start."""
        self.key, self.unsent = key, Unsent(draft=self.prompt.draft)
        self.exit(0)

    def copy(self, text: str) -> None:
        """Send a text to the clipboard: the terminal's, and by the system's program where there is one."""
        self.copy_to_clipboard(text)
        self.work.begin(copy_by_program(text, self._environment))
        self.main.clear_selection()
        self.status.hint("copied: sent to the clipboard (Shift+drag selects past mcode)")

    def _change_look(self) -> None:
        self.look = look_for(self.current_theme, unicode=self.unicode, colour=self._manners.color)
        self.transcript.change_look(self.look)

    def _write_past_screen(self, text: str) -> None:
        if self._driver is not None and self.is_running:
            self._driver.write(text)

    def _give_up(self, why: str) -> None:
        """The screen fails for good: leave it and say so in the plainest way."""
        self.farewell.say(f"error: {why} {self.farewell.go_on()}")
        self.exit(return_code=1)

    @override
    def panic(self, *renderables: RenderableType) -> None:
        """Textual cannot read the terminal any more."""
        if self.is_headless:
            super().panic(*renderables)
            return
        self._give_up("The terminal could not be read any more.")

    @override
    def _handle_exception(self, error: Exception) -> None:
        """A fault of the screen itself: the screen is left, the session is kept."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        self.farewell.fault(error)
        self._return_code = 1
        self._close_messages_no_wait()
