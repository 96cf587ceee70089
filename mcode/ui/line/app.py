"""The line front end: the terminal's own scrollback, and a prompt that stays at the bottom."""

from __future__ import annotations

import asyncio
import base64
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.registry import CopyText, OpenSession, Quit, Redraw
from mcode.errors import McodeError
from mcode.events import TurnFinished
from mcode.text import Kind, clean
from mcode.ui.completion import Completer
from mcode.ui.line.answering import Answering
from mcode.ui.line.completion import DraftCompleter
from mcode.ui.line.console import Console
from mcode.ui.line.file_names import FileNames
from mcode.ui.line.greeting import greeting_lines
from mcode.ui.line.hands import Hands
from mcode.ui.line.history import HistoryFile
from mcode.ui.line.live import LiveArea, LiveRow
from mcode.ui.line.printer import Printer
from mcode.ui.line.prompt import Prompt
from mcode.ui.line.screen import LinearScreen, LiveScreen
from mcode.ui.line.sending import Sending
from mcode.ui.line.signals import JobControl, callback_faults
from mcode.ui.line.transcript import Transcript
from mcode.ui.line.work import Work
from mcode.ui.line.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcode.commands.host import Conversation, Surroundings
    from mcode.commands.registry import CommandResult, Registry
    from mcode.events import Event
    from mcode.ui.line.look import Look
    from mcode.ui.line.screen import Screen

HANGUP = 129
"""Exit code where the terminal has gone, as after SIGHUP."""

_REPLAYED = 200
"""Events of an earlier conversation that are shown again."""


class LineApp:
    """Connects the agent's events and the user's keys with the prompt and the scrollback."""

    def __init__(
        self,
        agent: Conversation,
        *,
        around: Surroundings,
        registry: Registry,
        open_agent: Callable[[str, str | None], Awaitable[Conversation]],
        look: Look,
        source: str = "startup",
        remarks: Sequence[str] = (),
        first_message: str | None = None,
    ) -> None:
        """`source` says how the session was opened; `remarks` are lines for the first screen."""
        self._agent = agent
        self._around = around
        self._registry = registry
        self._open_agent = open_agent
        self._source = source
        self._remarks = remarks
        self._first_message = first_message
        self.look = look if sys.stdout.isatty() else replace(look, decorated=False)
        self._detach: Callable[[], None] = lambda: None
        self._last_words = ""
        """Said once the prompt is gone, past everything that may be at fault."""
        self._left = False
        """True while mcode is stopped and has given the terminal back."""
        self._tick: asyncio.TimerHandle | None = None
        self.console = Console(decorated=self.look.decorated)
        self.live = LiveArea(agent.model, agent.mode, confined=bool(agent.policy.sandbox))
        self.transcript = Transcript(self.look, self.console.columns)
        self.history = HistoryFile(
            around.places.history_file, agent.workspace.start, around.masker, self._warn
        )
        self.hands = Hands(self)
        self.prompt = Prompt(
            self.hands,
            self,
            self.look,
            completer=DraftCompleter(Completer(self.context, FileNames(lambda: self._agent.workspace.roots))),
            history=self.history.load(),
            input=self.console.input,
            output=self.console.output,
        )
        self.printer = Printer(self._screen())
        self.work = Work(lambda text: self.say(text, "error"), self._give_up)
        self.answering = self._answering()
        self.sending = self._sending()
        self.jobs = JobControl(
            leave=self._leave_terminal, come_back=self._take_terminal, interrupt=self._interrupted
        )

    def _screen(self) -> Screen:
        if self.look.decorated:
            return LiveScreen(self.prompt, self.console.held)
        return LinearScreen(self.prompt, self.console.file, idle=lambda: not self.live.active)

    def _answering(self) -> Answering:
        return Answering(
            self.prompt,
            self.printer,
            self.transcript,
            self.look,
            desk=lambda: self._agent.desk,
            width=self.console.columns,
            start=lambda: str(self._agent.workspace.start),
            free=lambda: not (self.hands.editing or self.prompt.searching),
        )

    def _sending(self) -> Sending:
        return Sending(
            self.context,
            self.work,
            self.printer,
            self.transcript,
            self.look,
            act=self._act,
            give_back=self.hands.give_back,
        )

    @property
    def agent(self) -> Conversation:
        """The session that is open now."""
        return self._agent

    def context(self) -> CommandContext:
        """What commands may use."""
        return CommandContext(self._agent, self._around, self._registry)

    async def run(self) -> int:
        """Run until the user quits; returns the exit code. The agent is closed, whatever the way out.

        The terminal is back in order before anything slow is waited for, also where this task is cancelled.
        """
        code = HANGUP
        reason = "other"
        try:
            with ExitStack() as stack:
                stack.enter_context(callback_faults(self.work.fault))
                stack.enter_context(self.jobs.active())
                code = await self.prompt.app.run_async(
                    pre_run=self._begin, set_exception_handler=False, handle_sigint=False
                )
                reason = "prompt_input_exit"
        except EOFError:
            pass
        finally:
            self.console.restore()
            self.console.file.write(self._last_words)
            self._end()
            await self._finish(reason)
        return code

    def leave(self) -> None:
        """Quit by a key: say how to go on, as /quit does."""
        self.sending.send_quietly("/quit")

    def quit(self) -> None:
        """Leave the prompt; `run` does the rest."""
        if self.prompt.app.is_running and not self.prompt.app.is_done:
            self.prompt.app.exit(result=0)

    def _give_up(self, why: str) -> None:
        """The screen fails for good: leave it and say so in the plainest way."""
        if self.prompt.app.is_running and not self.prompt.app.is_done:
            self._last_words = f"error: {why} Go on with: mcode --resume {self._agent.session.id}\r\n"
            self.prompt.app.exit(result=1)

    def above(self, width: int) -> Sequence[LiveRow]:
        """The redrawn rows above the prompt."""
        rows = self.live.rows(self.transcript.tail, width) or [LiveRow("")]
        waiting = self.answering.row()
        if waiting is not None:
            rows += [replace(waiting, text=row) for row in wrap_words(waiting.text, width)]
        if self.hands.hint:
            rows += [LiveRow(row, "class:hint") for row in wrap_words(f"  {self.hands.hint}", width)]
        return rows

    def below(self, width: int) -> LiveRow:
        """The redrawn row at the very bottom."""
        return self.live.status(width)

    def _warn(self, text: str) -> None:
        self.say(text, "warning")

    def say(self, text: str, severity: str = "info") -> None:
        """A remark in the scrollback."""
        self.printer.add(self.transcript.notice(text, severity))

    def _begin(self) -> None:
        """The first frame is about to be drawn."""
        self.printer.now(greeting_lines(self.context(), self.look, self._remarks, self.console.columns()))
        self._attach(self._agent, replay=self._source != "startup")
        self.work.begin(self._start(self._agent, self._source))
        if self._first_message:
            self.sending.send(self._first_message)

    async def _start(self, agent: Conversation, source: str) -> None:
        try:
            await agent.start(source)
        finally:
            self.sending.ready.set()

    def _attach(self, agent: Conversation, *, replay: bool) -> None:
        self._agent = agent
        self.live.model, self.live.mode = agent.model, agent.mode
        self.live.confined = bool(agent.policy.sandbox)
        self.live.ledger = agent.ledger
        if replay:
            self._replay(agent)
        unsubscribe = agent.events.subscribe(self._receive)
        detach = agent.desk.attach()

        def leave() -> None:
            unsubscribe()
            detach()

        self._detach = leave

    def _replay(self, agent: Conversation) -> None:
        events = list(agent.transcript())
        if len(events) > _REPLAYED:
            self.say(f"{len(events) - _REPLAYED} earlier steps are not shown again; /export has them.")
        for event in events[-_REPLAYED:]:
            self.printer.add(self.transcript.receive(event))
        self.printer.add(self.transcript.end_stream())
        self.transcript.forget_calls()
        name = f' "{agent.name}"' if agent.name else ""
        self.say(f"Session {agent.session.id[:8]}{name} goes on from here.")

    def _receive(self, event: Event) -> None:
        """One event of the core. Called in the middle of its work, so nothing here may wait or raise."""
        try:
            shown = self.sending.shows(event)
            self.live.receive(event)
            lines = self.transcript.receive(event) if shown else self.transcript.end_stream()
            self.answering.receive(event)
            if isinstance(event, TurnFinished):
                self.hands.turn_ended()
            self.printer.add(lines)
            self._keep_ticking()
        except Exception as error:  # noqa: BLE001 -- the screen's boundary: the core must not fail for it
            self.work.fault(error)

    def _keep_ticking(self) -> None:
        """While something runs, its seconds are drawn; when nothing does, nothing wakes us."""
        if not self.live.active:
            self._stop_ticking()
        elif self._tick is None and self.look.decorated:
            self._tick = asyncio.get_running_loop().call_later(1.0, self._ticked)

    def _stop_ticking(self) -> None:
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None

    def _ticked(self) -> None:
        self._tick = None
        self.printer.changed()
        self._keep_ticking()

    async def _act(self, result: CommandResult) -> None:
        match result.action:
            case Quit():
                self.quit()
            case OpenSession(source=source, reference=reference):
                await self._switch(source, reference)
            case Redraw(draft=draft):
                self.hands.give_back(draft)
            case CopyText(text=text):
                self._copy(text)
            case None:
                pass

    def _copy(self, text: str) -> None:
        """Hand a text to the terminal's clipboard (OSC 52); it stands in the scrollback as well."""
        if self.look.decorated and sys.stdout.isatty():
            coded = base64.b64encode(text.encode("utf-8", "replace")).decode()
            sys.stdout.write(f"\x1b]52;c;{coded}\x07")
            sys.stdout.flush()

    async def _switch(self, source: str, reference: str | None) -> None:
        """Open the other session first: where that fails, this one stays as it is."""
        new = await self._open_agent(source, reference)
        old = self._agent
        self.answering.leave()
        self._detach()
        self.sending.ready.clear()
        self._attach(new, replay=source != "clear")
        self.printer.now()
        try:
            await old.close(source)
        finally:
            await self._start(new, source)

    def _end(self) -> None:
        """The prompt is gone: keep an unsent draft in the history, and say how to go on."""
        draft = self.prompt.draft.text.strip()
        if draft:
            self.history.add_at_end(draft)
        self._stop_ticking()
        self.answering.asking.stop()
        self.printer.flush()
        self.printer.screen.close()

    async def _finish(self, reason: str) -> None:
        """Close the session; what its end still says goes straight to the terminal."""
        try:
            await self._agent.close(reason)
        except McodeError as error:
            self.console.file.write(f"error: {clean(str(error), Kind.LINE)}\r\n")
        finally:
            self._detach()
            self.printer.flush()
            await self.work.stop()
            await self.history.finish()

    def _interrupted(self) -> None:
        if not self.hands.editing:
            self.hands.control_c()

    def _leave_terminal(self) -> None:
        if self.hands.editing:
            return
        self._left = True
        self.printer.flush()
        self.prompt.app.renderer.erase()
        self.printer.screen.hold()
        self.console.restore()

    def _take_terminal(self) -> None:
        if self.hands.editing or not self.prompt.app.is_running:
            return
        if not self._left:
            # Stopped without a word. What stands on the screen now is not ours to erase.
            self.console.file.write("\r\n")
        self._left = False
        self.console.take_again()
        self.prompt.app.renderer.reset()
        self.printer.screen.release()
        self.prompt.app.invalidate()
