"""What becomes of an entered draft: a message, a command, or the user's own shell line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.ui.arrival import QUITS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import CommandResult
    from mcode.events import Event
    from mcode.ui.line.printer import Printer
    from mcode.ui.line.transcript import Transcript
    from mcode.ui.look import Look
    from mcode.ui.work import Work

_ALONE = {
    "!": "`!` stands before a shell command of your own, such as `!ls`. Nothing was sent.",
    "/": "`/` begins a command; /help lists them. Nothing was sent.",
}
"""What is said of a sign that means nothing by itself."""


class Sending:
    """Sends what the user enters, and gives back what nothing came of."""

    def __init__(
        self,
        context: Callable[[], CommandContext],
        work: Work,
        printer: Printer,
        transcript: Transcript,
        look: Look,
        *,
        act: Callable[[CommandResult], Awaitable[None]],
        give_back: Callable[[str], None],
        leave: Callable[[], None],
    ) -> None:
        """`act` carries out what a command asks of the front end; `give_back` puts a text into an empty draft;
        `leave` ends the front end where there is no session that could be asked to."""
        self._context = context
        self._work = work
        self._printer = printer
        self._transcript = transcript
        self._look = look
        self._act = act
        self._give_back = give_back
        self._leave = leave
        self.early: list[str] | None = []
        """What was sent before there was a session, oldest first; None from then on."""
        self.ready = asyncio.Event()
        """Set once the session has begun; what is sent earlier waits for it."""
        self._ahead: str | None = None
        """A message that is on the screen already although its turn has not begun."""
        self._shell: asyncio.Task[None] | None = None
        self._turn_text = ""
        self._came = False
        """True once something came of the present turn."""

    @property
    def shell_runs(self) -> bool:
        """True while the user's own shell command runs."""
        return self._shell is not None and not self._shell.done()

    def send(self, text: str) -> None:
        """Send an entered draft on its way."""
        from mcode.commands.registry import is_for_registry

        if self.early is not None:
            self._send_early(text, self.early)
            return
        alone = _ALONE.get(text.strip())
        if alone is not None:
            self._printer.add(self._transcript.notice(alone))
        elif is_for_registry(text, self._context()):
            self._show(text)
            self._work.begin(self._command(text))
        elif text.startswith("!") and text[1:].strip():
            self._shell = self._work.begin(self._run_shell(text[1:].strip()))
        else:
            self._message(text)

    def _send_early(self, text: str, early: list[str]) -> None:
        if text.strip() in QUITS:
            self._leave()
            return
        early.append(text)
        self._printer.changed()

    def open(self) -> None:
        """The session is there: what was sent before goes on its way, in its order."""
        early, self.early = self.early or [], None
        for text in early:
            self.send(text)

    def take_back(self) -> str | None:
        """The last message that waits, taken out of the queue."""
        if self.early is None:
            return self._context().agent.take_back()
        taken = self.early.pop() if self.early else None
        self._printer.changed()
        return taken

    def interrupt(self) -> bool:
        """Stop the present turn, or take back what waits for a session; False where there is neither."""
        if self.early is None:
            return self._context().agent.interrupt()
        taken = self.take_back()
        if taken is not None:
            self._give_back(taken)
        return taken is not None

    def send_quietly(self, command: str) -> None:
        """Run a command that a key stands for."""
        if self.early is not None:
            self._send_early(command, self.early)
            return
        self._work.begin(self._command(command))

    def stop_shell(self) -> None:
        """End the user's own shell command."""
        if self._shell is not None:
            self._shell.cancel()

    def shows(self, event: Event) -> bool:
        """Take an event in; False where the transcript must not show it because it is on the screen already."""
        from mcode.events import AssistantMessage, TextDelta, ToolStarted, TurnFinished, TurnStarted

        match event:
            case TurnStarted(text=text):
                ahead, self._ahead = self._ahead, None
                self._turn_text = text
                self._came = False
                return text != ahead
            case TextDelta() | AssistantMessage() | ToolStarted():
                self._came = True
            case TurnFinished(reason=reason):
                unsent, self._ahead = self._ahead, None
                if unsent is not None:
                    self._give_back(unsent)
                elif reason in {"interrupted", "error"} and not self._came and self._turn_text:
                    self._give_back(self._turn_text)
                self._turn_text = ""
            case _:
                pass
        return True

    def _message(self, text: str) -> None:
        agent = self._context().agent
        if not agent.busy and self._ahead is None:
            self._ahead = text
            self._show(text)
        self._work.begin(self._turn(text))

    def _show(self, text: str) -> None:
        """What was typed as it stands in the scrollback; where nothing is redrawn it stands there already."""
        lines = self._transcript.said_by_user(text)
        if self._look.decorated:
            self._printer.now(lines)

    async def _turn(self, text: str) -> None:
        await self.ready.wait()
        try:
            await self._context().agent.submit(text)
        finally:
            if self._ahead == text:
                self._ahead = None

    async def _run_shell(self, command: str) -> None:
        await self.ready.wait()
        await self._context().agent.shell(command)

    async def _command(self, text: str) -> None:
        context = self._context()
        result = await context.registry.run(text, context)
        lines = (
            self._transcript.notice(result.text, "warning")
            if result.failed
            else self._transcript.plain(result.text)
        )
        if result.text:
            self._printer.now(lines)
        await self._act(result)
