"""What becomes of an entered draft, in every front end: a message, a command, or the user's own shell line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.ui.arrival import QUITS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import CommandResult
    from mcode.events import Event
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
        *,
        show: Callable[[str, CommandResult], Awaitable[None]],
        say: Callable[[str], None],
        give_back: Callable[[str], None],
        changed: Callable[[], None],
        leave: Callable[[], None],
        echo: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`show` answers a command; `give_back` puts a text into the draft; `changed`: something else waits;
        `leave` ends the front end where there is no session that could be asked to; `echo` puts what was entered
        before the eyes at once, where a front end does that."""
        self._context = context
        self._work = work
        self._show = show
        self._say = say
        self._give_back = give_back
        self._changed = changed
        self._leave = leave
        self._echo = echo
        self.early: list[str] | None = []
        """What was sent before there was a session, oldest first; None from then on."""
        self.ready = asyncio.Event()
        """Set once the session has begun; what is sent earlier waits for it."""
        self.ahead = ""
        """A message whose turn has not begun yet."""
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
            self._say(alone)
        elif is_for_registry(text, self._context()):
            self._echo(text)
            self._work.begin(self._command(text))
        elif text.startswith("!") and text[1:].strip():
            self._shell = self._work.begin(self._run_shell(text[1:].strip()))
        elif self.ahead or self._context().agent.busy:
            self._work.begin(self._message(text))
        else:
            self.ahead = text
            self._echo(text)
            self._changed()
            self._work.begin(self._message(text, ahead=True))

    def _send_early(self, text: str, early: list[str]) -> None:
        if text.strip() in QUITS:
            self._leave()
            return
        early.append(text)
        self._changed()

    def open(self) -> None:
        """The session is there: what was sent before goes on its way, in its order."""
        early, self.early = self.early or [], None
        self._changed()
        for text in early:
            self.send(text)

    def take_back(self) -> str | None:
        """The last message that waits, taken out of the queue."""
        if self.early is None:
            return self._context().agent.take_back()
        taken = self.early.pop() if self.early else None
        self._changed()
        return taken

    def run(self, command: str) -> None:
        """Run a command that a key stands for."""
        if self.early is not None:
            self._send_early(command, self.early)
            return
        self._work.begin(self._command(command))

    def interrupt(self) -> bool:
        """Stop what was sent last, also where its turn has not begun; False where nothing runs."""
        if self.early is not None:
            taken = self.take_back()
            if taken is not None:
                self._give_back(taken)
            return taken is not None
        agent = self._context().agent
        if self.shell_runs and not agent.busy and self._shell is not None:
            self._shell.cancel()
            return True
        if agent.interrupt():
            return True
        if self.ahead:
            agent.take_back()  # there, or not even handed over: then `_message` finds that it is not wanted any more
            self._return_ahead()
            return True
        return False

    def receive(self, event: Event) -> bool:
        """Follow the turn; False where the event tells of a message that `echo` was given already."""
        from mcode.events import AssistantMessage, TextDelta, ToolStarted, TurnFinished, TurnStarted

        match event:
            case TurnStarted(text=text):
                self._turn_text = text
                self._came = False
                ahead, self.ahead = self.ahead, ""
                if ahead:
                    self._changed()
                return text != ahead
            case TextDelta() | ToolStarted():
                self._came = True
            case AssistantMessage(begun=begun):
                self._came = self._came or begun
            case TurnFinished(reason=reason):
                if self.ahead:
                    self._return_ahead()
                elif reason in {"interrupted", "error"} and not self._came and self._turn_text:
                    self._give_back(self._turn_text)
                self._turn_text = ""
            case _:
                pass
        return True

    def _return_ahead(self) -> None:
        text, self.ahead = self.ahead, ""
        self._changed()
        self._give_back(text)

    async def _message(self, text: str, *, ahead: bool = False) -> None:
        await self.ready.wait()
        if ahead and self.ahead != text:
            return
        reason = "error"
        try:
            reason = (await self._context().agent.submit(text)).reason
        finally:
            if self.ahead == text and reason in {"interrupted", "error"}:
                self._return_ahead()

    async def _run_shell(self, command: str) -> None:
        await self.ready.wait()
        await self._context().agent.shell(command)

    async def _command(self, text: str) -> None:
        context = self._context()
        await self._show(text, await context.registry.run(text, context))
