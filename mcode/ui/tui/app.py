"""The full-screen front end: events of the core in, the user's keys out, and nothing of the agent kept here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from typing_extensions import override

from mcode.ui.arrival import Unsent
from mcode.ui.entered import Entered
from mcode.ui.look import can_show_unicode
from mcode.ui.sending import Sending
from mcode.ui.signals import callback_faults, own_job_control
from mcode.ui.tui.answers import Answers
from mcode.ui.tui.background import default_theme, without_colour
from mcode.ui.tui.farewell import Farewell
from mcode.ui.tui.greeting import early_lines
from mcode.ui.tui.hands import Hands
from mcode.ui.tui.key_order import KeyOrder
from mcode.ui.tui.late_parts import LateParts
from mcode.ui.tui.main_screen import MainScreen
from mcode.ui.tui.mouse import Mouse
from mcode.ui.tui.notifier import Notifier
from mcode.ui.tui.placeholder import KEYS_HINT, SHIFT_HINT
from mcode.ui.tui.prompt_area import PromptArea
from mcode.ui.tui.pump import EventPump, stream_gap
from mcode.ui.tui.sessions import Sessions
from mcode.ui.tui.status import Facts, StatusLine
from mcode.ui.tui.suggestions import Suggestions
from mcode.ui.work import Work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import RenderableType
    from textual import events
    from textual.binding import BindingType
    from textual.screen import Screen

    from mcode.commands.host import CommandContext, Conversation, Surroundings
    from mcode.commands.registry import Registry
    from mcode.errors import McodeError
    from mcode.events import Event
    from mcode.ui.arrival import Arrival
    from mcode.ui.look import Look as Manners


class McodeApp(LateParts, App[int], inherit_bindings=False):
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
        messages: Sequence[str],
        theme: str | None,
        title: bool = True,
        mouse: bool = True,
        typed: str = "",
        all_keys: bool = False,
    ) -> None:
        """`arriving` opens the session, once the first frame is out; what is sent before waits for it.

        `start`, `home`: the folder that is worked in, and the user's; `manners`: how long an approval waits for
        rest, bell, colour; `messages` are sent at once; `title`: whether the window's may be written; `typed`: what
        was typed before there was a prompt; `all_keys`: the terminal tells Shift+Enter from Enter.
        """
        super().__init__()
        self.start, self.home = start, home
        self.unicode = can_show_unicode(environment) and manners.unicode
        self.cut = "\u2026" if self.unicode else "~"
        """Stands at the end of what is too wide."""
        self.manners, self._environment = manners, environment
        if not manners.color:
            self._filters = without_colour(self._filters)
        self.messages_before, self.typed_before = messages, typed
        self.key, self.unsent = "", Unsent()
        """A key that the user gave, and what was not sent when the screen was left for another one."""
        self.failure: McodeError | None = None
        """Why no session could be opened."""
        self.farewell, self.mouse = Farewell(self), Mouse(self._write_past_screen, on=mouse)
        self.theme = theme if theme in self.available_themes else default_theme(environment, dark=None)
        self.work = Work(lambda text: self.say(text, "error"), self._give_up)
        self.facts = Facts("", "default", cut=self.cut)
        self.pump = EventPump(self._show_events, stream_gap=stream_gap(environment))
        self.sessions = Sessions(self, arriving)
        self.hands, self.history = Hands(self), Entered()
        self.suggestions = Suggestions(self.cut)
        self.prompt = PromptArea(self.hands, self.suggestions, SHIFT_HINT if all_keys else KEYS_HINT)
        self.status = StatusLine(self.facts, self.sessions.servers, lambda: self.size.width)
        self.first_lines = early_lines(start, home)
        self.main = MainScreen(self)
        for widget in (self.prompt, self.suggestions):
            widget.set_class(not self.unicode, "ascii")
        self._order = KeyOrder(self)
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
            with own_job_control(), callback_faults(self.work.fault):
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

    def begin(self) -> None:
        """The main screen is there: open the session on it."""
        self.notifier.start()
        self.theme_changed_signal.subscribe(self, lambda _: self.change_look())
        self.sessions.begin()
        self.call_after_refresh(self.first_frame_is_out)

    def first_frame_is_out(self) -> None:
        """From here on the session is opened and what is slow is loaded."""
        self.sessions.start()

    async def make_complete(self) -> None:
        """Put in what the first frame did not need; then keys that came meanwhile go on their way."""
        self.transcript.show("\n".join(self.first_lines), "command")
        await self.main.make_complete()
        self._show_queue()
        await self._order.release()

    def _show_events(self, batch: Sequence[Event]) -> None:
        parts = (
            self.sending,
            self.facts,
            self.own_status,
            self.deciding,
            self.hands,
            self.transcript,
            self.sessions,
        )
        for event in batch:
            for part in parts:
                part.receive(event)
        self.activity.refresh_facts()
        self.prompt.offer(self.facts.cut_off.offer)
        self.main.status_changed()
        self._show_queue()

    def _show_queue(self) -> None:
        if not self.main.complete:
            return
        early = self.sending.early
        when = "after this turn" if self.facts.active else "before your next message"
        when = "once the session is open" if early else when
        self.queue.show(tuple(early or self.facts.queue), self.sending.ahead, when=when)
        self.main.fit_panel()
        self.sessions.keep_draft()

    def draft_changed(self) -> None:
        """Something was typed or taken away."""
        if self.main.complete:
            self.deciding.draft_changed()
        self.sessions.keep_draft()

    def say(self, text: str, severity: str = "info") -> None:
        """Lines of mcode's own in the transcript."""
        self.transcript.show(text, severity)

    @override
    async def on_event(self, event: events.Event) -> None:
        """Settle what a key is for in the order in which keys were read, before any widget sees it."""
        if not self._order.settles(event):
            await super().on_event(event)

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
        from mcode.ui.tui.clipboard import copy_beside, sent

        self.copy_to_clipboard(text)
        self.main.clear_selection()
        self.status.hint(sent())
        self.work.begin(copy_beside(text, self._environment, self.status.hint))

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
