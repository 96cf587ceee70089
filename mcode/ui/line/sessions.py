"""The session at the prompt: opened, replayed, left for another one, closed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.ui.arrival import NotOpenError, Unsent
from mcode.ui.line.greeting import late_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.commands.host import CommandContext, Conversation
    from mcode.ui.arrival import Arrival
    from mcode.ui.completion import Completer
    from mcode.ui.line.app import LineApp

_REPLAYED = 200
"""Events of an earlier conversation that are shown again."""


class Sessions:
    """Holds the open session and follows what begins and ends with it."""

    def __init__(self, app: LineApp, arriving: Callable[[], Awaitable[Arrival]]) -> None:
        """`arriving` opens the first session, once the prompt is there."""
        self._app = app
        self._arriving = arriving
        self._opening: asyncio.Task[None] | None = None
        self._arrival: Arrival | None = None
        self._agent: Conversation | None = None
        self.completer: Completer | None = None
        """What finds completions; None before the first session."""
        self.detach: Callable[[], None] = lambda: None
        """Ends listening to the session."""

    @property
    def agent(self) -> Conversation:
        """The session that is open now; raises NotOpenError before the first one is."""
        if self._agent is None:
            raise NotOpenError
        return self._agent

    @property
    def opened(self) -> bool:
        """True from the first session on."""
        return self._agent is not None

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._agent is not None and self._agent.busy

    def context(self) -> CommandContext:
        """What commands may use; raises NotOpenError before the first session."""
        from mcode.commands.host import CommandContext

        if self._arrival is None:
            raise NotOpenError
        return CommandContext(self.agent, self._arrival.around, self._arrival.registry)

    def start(self) -> None:
        """The prompt is there: now the session is opened, and what that loads delays nobody's keys."""
        self._opening = self._app.work.begin(self._open())

    async def switch(self, source: str, reference: str | None) -> None:
        """Open the other session first: where that fails, this one stays as it is."""
        if self._arrival is None:
            raise NotOpenError
        app = self._app
        new = await self._arrival.open_agent(source, reference)
        old = self.agent
        app.answering.leave()
        self.detach()
        app.sending.ready.clear()
        self._attach(new, replay=source != "clear")
        app.printer.now()
        try:
            await old.close(source)
        finally:
            await self._start(new, source)

    async def close(self, reason: str) -> None:
        """Close the session; one that is not there yet is not waited for."""
        if self._opening is not None and self._agent is None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening
        if self._agent is not None:
            await self._agent.close(reason)

    async def _open(self) -> None:
        app = self._app
        try:
            arrival = await self._arriving()
        except McodeError as error:
            app.failure = error
            app.unsent = Unsent(tuple(app.sending.early or ()), app.prompt.draft.text)
            app.quit()
            return
        self._take(arrival)
        app.printer.now(late_lines(app.context(), app.look, arrival.remarks, app.console.columns()))
        self._attach(arrival.agent, replay=arrival.source != "startup")
        app.sending.open()
        await self._start(arrival.agent, arrival.source)

    def _take(self, arrival: Arrival) -> None:
        """Keep what came with the first session."""
        from mcode.ui.completion import Completer
        from mcode.ui.file_names import FileNames
        from mcode.ui.history import HistoryFile

        app, around = self._app, arrival.around
        self._arrival, self._agent = arrival, arrival.agent
        self.completer = Completer(self.context, FileNames(lambda: self.agent.workspace.roots))
        kept, start = around.places.history_file, arrival.agent.workspace.start
        app.history.open(HistoryFile(kept, start, around.masker, lambda text: app.say(text, "warning")))
        app.prompt.use_history(app.history.texts)

    async def _start(self, agent: Conversation, source: str) -> None:
        try:
            await agent.start(source)
        finally:
            self._app.sending.ready.set()

    def _attach(self, agent: Conversation, *, replay: bool) -> None:
        self._agent = agent
        live = self._app.live
        live.model, live.mode = agent.model, agent.mode
        live.confined = bool(agent.policy.sandbox)
        live.ledger = agent.ledger
        if replay:
            self._replay(agent)
        unsubscribe = agent.events.subscribe(self._app.receive)
        detach = agent.desk.attach()

        def leave() -> None:
            unsubscribe()
            detach()

        self.detach = leave

    def _replay(self, agent: Conversation) -> None:
        app = self._app
        events = list(agent.transcript())
        if len(events) > _REPLAYED:
            app.say(f"{len(events) - _REPLAYED} earlier steps are not shown again; /export has them.")
        for event in events[-_REPLAYED:]:
            app.printer.add(app.transcript.receive(event))
        app.printer.add(app.transcript.end_stream())
        app.transcript.forget_calls()
        name = f' "{agent.name}"' if agent.name else ""
        app.say(f"Session {agent.session.id[:8]}{name} goes on from here.")
