"""The line front end: the terminal's own scrollback, and a prompt that stays at the bottom."""

from __future__ import annotations

import asyncio
import base64
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.text import Kind, clean, shorten
from mcode.ui.arrival import Unsent
from mcode.ui.entered import Entered
from mcode.ui.line.answering import Answering
from mcode.ui.line.completion import DraftCompleter
from mcode.ui.line.console import Console
from mcode.ui.line.greeting import early_lines
from mcode.ui.line.hands import Hands
from mcode.ui.line.printer import Printer
from mcode.ui.line.prompt import Prompt
from mcode.ui.line.screen import LinearScreen, LiveScreen
from mcode.ui.line.sessions import Sessions
from mcode.ui.line.transcript import Transcript
from mcode.ui.live import LiveArea, LiveRow
from mcode.ui.own_status import OwnStatus
from mcode.ui.sending import Sending
from mcode.ui.signals import JobControl, callback_faults
from mcode.ui.work import Work
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from mcode.commands.host import CommandContext, Conversation
    from mcode.commands.registry import CommandResult
    from mcode.events import Event
    from mcode.ui.arrival import Arrival
    from mcode.ui.line.screen import Screen
    from mcode.ui.look import Look

HANGUP = 129
"""Exit code where the terminal has gone, as after SIGHUP."""


class LineApp:
    """Connects the agent's events and the user's keys with the prompt and the scrollback."""

    def __init__(
        self,
        arriving: Callable[[], Awaitable[Arrival]],
        *,
        start: Path,
        home: Path,
        look: Look,
        messages: Sequence[str] = (),
        typed: str = "",
    ) -> None:
        """`arriving` opens the session, once the prompt is there; what is sent before waits for it.

        `start`, `home`: the folder that is worked in, and the user's; `messages` are sent at once, `typed` stands in
        the prompt.
        """
        self.sessions = Sessions(self, arriving)
        self._start_directory, self._home = start, home
        self._messages = messages
        self._typed = typed
        self.key, self.unsent = "", Unsent()
        self.failure: McodeError | None = None
        """Why no session could be opened."""
        self.look = look if sys.stdout.isatty() else replace(look, decorated=False)
        self._last_words = ""
        """Said once the prompt is gone, past everything that may be at fault."""
        self._left = False
        """True while mcode is stopped and has given the terminal back."""
        self._tick: asyncio.TimerHandle | None = None
        self.console = Console(decorated=self.look.decorated)
        self.live = LiveArea("", "", cut=look.cut)
        self.own_status = OwnStatus()
        self.transcript = Transcript(self.look, self.console.columns)
        self.history = Entered()
        self.hands = Hands(self)
        self.prompt = Prompt(
            self.hands,
            self,
            self.look,
            completer=DraftCompleter(lambda: self.sessions.completer),
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
            desk=lambda: self.agent.desk,
            width=self.console.columns,
            start=lambda: str(self._start_directory),
            free=lambda: not (self.hands.editing or self.prompt.searching),
            mask=self._mask_known,
        )

    def _sending(self) -> Sending:
        return Sending(
            self.context,
            self.work,
            show=self._answer,
            say=self.say,
            give_back=self.hands.give_back,
            changed=self.printer.changed,
            leave=self.quit,
            echo=self._echo,
        )

    @property
    def agent(self) -> Conversation:
        """The session that is open now; raises NotOpenError before the first one is."""
        return self.sessions.agent

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self.sessions.busy

    def _mask_known(self, text: str) -> str:
        """What the session that is open now knows to be secret is masked."""
        return self.sessions.arrival.around.masker.mask_known(text)

    def context(self) -> CommandContext:
        """What commands may use."""
        return self.sessions.context()

    async def run_to_end(self) -> int:
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
        if self.failure is not None:
            raise self.failure
        return code

    def leave(self) -> None:
        """Quit by a key: say how to go on, as /quit does."""
        self.sending.run("/quit")

    def quit(self) -> None:
        """Leave the prompt; `run` does the rest."""
        if self.prompt.app.is_running and not self.prompt.app.is_done:
            self.prompt.app.exit(result=0)

    def _give_up(self, why: str) -> None:
        """The screen fails for good: leave it and say so in the plainest way."""
        if self.prompt.app.is_running and not self.prompt.app.is_done:
            kept = f" Go on with: mcode --resume {self.agent.session.id}" if self.sessions.opened else ""
            self._last_words = f"error: {why}{kept}\r\n"
            self.prompt.app.exit(result=1)

    def above(self, width: int) -> Sequence[LiveRow]:
        """The redrawn rows above the prompt."""
        self.live.early = tuple(self.sending.early or ())
        rows = self.live.rows(self.transcript.tail, width) or [LiveRow("")]
        waiting = self.answering.row()
        if waiting is not None:
            rows += [replace(waiting, text=row) for row in wrap_words(waiting.text, width)]
        rows += [LiveRow(shorten(line, width)) for line in self.own_status.lines]
        if self.hands.hint:
            rows += [LiveRow(row, "class:hint") for row in wrap_words(f"  {self.hands.hint}", width)]
        return rows

    def below(self, width: int) -> LiveRow:
        """The redrawn row at the very bottom."""
        return self.live.status(width)

    def say(self, text: str, severity: str = "info") -> None:
        """A remark in the scrollback."""
        self.printer.add(self.transcript.notice(text, severity))

    def _begin(self) -> None:
        """The first frame is about to be drawn."""
        self.printer.now(early_lines(self._start_directory, self._home, self.look, self.console.columns()))
        if self._typed:
            self.prompt.use_draft(self._typed)
        for text in self._messages:
            self.sending.send(text)
        self.prompt.once_drawn(self.sessions.start)

    def receive(self, event: Event) -> None:
        """One event of the core. Called in the middle of its work, so nothing here may wait or raise."""
        try:
            shown = self.sending.receive(event)
            self.live.receive(event)
            self.own_status.receive(event)
            lines = self.transcript.receive(event) if shown else self.transcript.end_stream()
            self.answering.receive(event)
            self.hands.receive(event)
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

    def _echo(self, text: str) -> None:
        """What was typed as it stands in the scrollback; where nothing is redrawn it stands there already."""
        lines = self.transcript.said_by_user(text)
        if self.look.decorated:
            self.printer.now(lines)

    async def _answer(self, line: str, result: CommandResult) -> None:
        """What a command has answered, and what it asks of the front end."""
        del line
        if result.text:
            text = result.text
            self.printer.now(
                self.transcript.notice(text, "warning") if result.failed else self.transcript.plain(text)
            )
        await self._act(result)

    async def _act(self, result: CommandResult) -> None:
        from mcode.commands.registry import CopyText, OpenEditor, OpenSession, Quit, Redraw

        match result.action:
            case Quit():
                self.quit()
            case OpenSession(source=source, reference=reference, name=called):
                await self.sessions.switch(source, reference)
                if called:
                    self.agent.rename(called)
            case Redraw(draft=draft, remark=remark):
                self.printer.now(self.transcript.notice(remark, "info"))
                self.live.outdated = "ctx ?"
                self.hands.give_back(draft)
            case CopyText(text=text):
                self._copy(text)
            case OpenEditor(path=path):
                self.hands.edit(path)
            case None:
                pass

    def _copy(self, text: str) -> None:
        """Hand a text to the terminal's clipboard (OSC 52); it stands in the scrollback as well."""
        if self.look.decorated and sys.stdout.isatty():
            coded = base64.b64encode(text.encode("utf-8", "replace")).decode()
            sys.stdout.write(f"\x1b]52;c;{coded}\x07")
            sys.stdout.flush()
            self.say(f"Sent {len(text):,} characters of an answer to the terminal's clipboard.")

    def _end(self) -> None:
        """The prompt is gone: keep an unsent draft in the history, and say how to go on."""
        draft = self.prompt.draft.text.strip()
        if draft and self.failure is None:
            self.history.add_at_end(draft)
        self._stop_ticking()
        self.answering.asking.stop()
        self.printer.flush()
        self.printer.screen.close()

    async def _finish(self, reason: str) -> None:
        """Close the session; what its end still says goes straight to the terminal."""
        try:
            await self.sessions.close(reason)
        except McodeError as error:
            self.console.file.write(f"error: {clean(str(error), Kind.LINE)}\r\n")
        finally:
            self.sessions.detach()
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
