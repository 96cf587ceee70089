"""The session on the screen: opened, replayed, left for another one, closed; its draft kept all the while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from mcode.errors import McodeError
from mcode.events import (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    QuestionResolved,
    QueueChanged,
    SessionStarted,
    TurnFinished,
)
from mcode.text import Kind, clean
from mcode.ui.tui.drafts import DraftFile
from mcode.ui.tui.greeting import early_lines, late_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcode.catalog.servers import ServerStatus
    from mcode.commands.host import Conversation
    from mcode.events import Event
    from mcode.ui.tui.app import McodeApp


class Servers(Protocol):
    """The servers that bring tools, as the status line counts them."""

    def statuses(self) -> tuple[ServerStatus, ...]: ...

    def listen(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call back with a server's name when it has changed."""
        ...


class Sessions:
    """Holds the open session and follows what begins and ends with it."""

    def __init__(
        self,
        front: McodeApp,
        agent: Conversation,
        open_agent: Callable[[str, str | None], Awaitable[Conversation]],
        source: str,
        remarks: Sequence[str],
        servers: Servers | None,
    ) -> None:
        self._front = front
        self.agent = agent
        self._open_agent = open_agent
        self._source = source
        self._remarks = remarks
        self._servers = servers
        self._detach: Callable[[], None] = lambda: None
        self._draft: DraftFile | None = None
        self._closed = asyncio.Event()

    def servers(self) -> str:
        """How many servers can be used, for the status line; empty where none is configured."""
        statuses = self._servers.statuses() if self._servers is not None else ()
        wanted = [each.state for each in statuses if each.state != "disabled"]
        ready = sum(state in {"connected", "cached"} for state in wanted)
        return f"mcp {ready}/{len(wanted)}" if wanted else ""

    def begin(self) -> None:
        """Show the session that mcode was started with."""
        front = self._front
        front.say("\n".join(early_lines(front.context(), self._remarks)), "command")
        self._attach(self.agent, replay=self._source != "startup")
        if self._servers is not None:
            self._servers.listen(lambda _: front.status.refresh_facts())
        if front.typed_before:
            front.prompt.insert(front.typed_before)
        if front.first_message:
            front.sending.send(front.first_message)

    def start(self) -> None:
        """The first frame is out: now the session itself begins, and what it loads delays nobody's keys."""
        self._front.work.begin(self._start(self.agent, self._source))

    def receive(self, event: Event) -> None:
        """Tell who looks elsewhere."""
        notifier = self._front.notifier
        match event:
            case ApprovalRequested(call=call) | QuestionAsked(call=call):
                notifier.waits(f"{clean(call.tool, Kind.LINE)} waits for you")
            case ApprovalResolved() | QuestionResolved() if not self._front.deciding.waiting:
                notifier.show("working" if self.agent.busy else "")
            case TurnFinished():
                notifier.ended()
            case SessionStarted() | QueueChanged():
                pass
            case _:
                pass

    def keep_draft(self) -> None:
        """Note what is unsent."""
        if self._draft is not None:
            unsent = [text for text in (self._front.sending.ahead, *self._front.facts.queue) if text]
            self._draft.keep(self._front.prompt.draft, unsent)

    async def switch(self, source: str, reference: str | None) -> None:
        """Open the other session first: where that fails, this one stays as it is."""
        front = self._front
        new = await self._open_agent(source, reference)
        old = self.agent
        front.pump.flush()
        front.deciding.leave()
        self._detach()
        draft = front.prompt.draft
        if self._draft is not None:
            self._draft.keep("", ())
            await self._draft.finish()
        front.sending.ready.clear()
        self._attach(new, replay=source != "clear")
        if draft.strip():
            front.prompt.use_draft(draft)
        try:
            await old.close(source)
        finally:
            await self._start(new, source)

    def redraw(self) -> None:
        """The conversation went back: show what is left of it."""
        self._front.pump.flush()
        self._front.transcript.replay(self.agent.transcript())

    async def finish(self, reason: str) -> None:
        """Close the session; what its end still says goes straight to the terminal."""
        front = self._front
        try:
            if self._draft is not None:
                await self._draft.finish()
            await self.agent.close(reason)
        except McodeError as error:
            front.farewell.say(f"error: {clean(str(error), Kind.LINE)}")
        finally:
            self._detach()
            await front.work.stop()
            await front.history.finish()

    async def _start(self, agent: Conversation, source: str) -> None:
        try:
            lines = await late_lines(self._front.context())
            if lines:
                self._front.say("\n".join(lines), "command")
            await agent.start(source)
        finally:
            self._front.sending.ready.set()

    def _attach(self, agent: Conversation, *, replay: bool) -> None:
        front = self._front
        self.agent = agent
        front.facts.model, front.facts.mode = agent.model, agent.mode
        front.facts.confined = bool(agent.policy.sandbox)
        front.facts.ledger = agent.ledger
        if replay:
            front.transcript.replay(agent.transcript())
            name = f' "{clean(agent.name, Kind.LINE)}"' if agent.name else ""
            front.say(f"Session {agent.session.id[:8]}{name} goes on from here.")
        unsubscribe = agent.events.subscribe(front.pump.receive)
        detach = agent.desk.attach()
        self._restore_draft(agent)
        front.status.refresh_facts()

        def leave() -> None:
            unsubscribe()
            detach()
            self._detach = lambda: None

        self._detach = leave

    def _restore_draft(self, agent: Conversation) -> None:
        """Bring back what was not sent when the session was left."""
        path = agent.session.journal.path.with_suffix("") / "draft.json"
        self._draft = DraftFile(
            path, self._front.around.masker, lambda text: self._front.say(text, "warning")
        )
        draft, queued = self._draft.load()
        if queued:
            self._front.say(
                "What was queued and not sent when the session was left is in your draft.", "warning"
            )
        unsent = "\n\n".join(text for text in (*queued, draft) if text.strip())
        if unsent:
            self._front.prompt.use_draft(unsent)
