"""The session at the prompt: opened, replayed, left for another one, closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.ui.arrival import Unsent
from mcode.ui.line.greeting import late_lines
from mcode.ui.session_holder import SessionHolder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.commands.host import Conversation
    from mcode.ui.arrival import Arrival
    from mcode.ui.line.app import LineApp

_REPLAYED = 200
"""Events of an earlier conversation that are shown again."""


class Sessions(SessionHolder):
    """Holds the open session and follows what begins and ends with it."""

    def __init__(self, app: LineApp, arriving: Callable[[], Awaitable[Arrival]]) -> None:
        """`arriving` opens the first session, once the prompt is there."""
        super().__init__(arriving)
        self._app = app

    def start(self) -> None:
        """The prompt is there: now the session is opened, and what that loads delays nobody's keys."""
        self._opening = self._app.work.begin(self._open())

    async def switch(self, source: str, reference: str | None) -> None:
        """Open the other session first: where that fails, this one stays as it is."""
        app = self._app
        new = await self.arrival.open_agent(source, reference)
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

    async def _open(self) -> None:
        app = self._app
        try:
            arrival = await self._arriving()
        except McodeError as error:
            app.failure = error
            app.unsent = Unsent(tuple(app.sending.early or ()), app.prompt.draft.text)
            app.quit()
            return
        self.keep(arrival, app.history, lambda text: app.say(text, "warning"))
        app.prompt.use_history(app.history.texts)
        app.printer.now(late_lines(app.context(), app.look, arrival.remarks, app.console.columns()))
        self._attach(arrival.agent, replay=arrival.source != "startup")
        app.sending.open()
        await self._start(arrival.agent, arrival.source)

    async def _start(self, agent: Conversation, source: str) -> None:
        try:
            await agent.start(source)
        finally:
            self._app.sending.ready.set()

    def _attach(self, agent: Conversation, *, replay: bool) -> None:
        self._app.live.follow(agent)
        if replay:
            self._replay(agent)
        self.listen(agent, self._app.receive)

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
