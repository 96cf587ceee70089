"""The session that a front end has open, and what came with the first one: the same for lines and for the screen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from mcode.ui.arrival import NotOpenError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.commands.host import CommandContext, Conversation
    from mcode.commands.registry import Registry
    from mcode.events import Event
    from mcode.ui.arrival import Arrival
    from mcode.ui.completion import Completer
    from mcode.ui.entered import Entered


class SessionHolder:
    """A front end's own class adds what is shown of opening, going on and leaving."""

    def __init__(self, arriving: Callable[[], Awaitable[Arrival]]) -> None:
        """`arriving` opens the first session, once the first frame is out."""
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
    def arrival(self) -> Arrival:
        """What came with the first session; raises NotOpenError before that."""
        if self._arrival is None:
            raise NotOpenError
        return self._arrival

    @property
    def opened(self) -> bool:
        """True from the first session on."""
        return self._agent is not None

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._agent is not None and self._agent.busy

    @property
    def registry(self) -> Registry:
        """The slash commands; raises NotOpenError before the first session."""
        return self.arrival.registry

    def context(self) -> CommandContext:
        """What commands may use; raises NotOpenError before the first session."""
        from mcode.commands.host import CommandContext

        return CommandContext(self.agent, self.arrival.around, self.registry)

    def keep(self, arrival: Arrival, history: Entered, complain: Callable[[str], None]) -> None:
        """Take in what came with the first session; `history` is from now on kept in its folder's file."""
        from mcode.ui.completion import Completer
        from mcode.ui.file_names import FileNames
        from mcode.ui.history import HistoryFile

        self._arrival, self._agent = arrival, arrival.agent
        self.completer = Completer(self.context, FileNames(lambda: self.agent.workspace.roots))
        kept, start = arrival.around.places.history_file, arrival.agent.workspace.start
        history.open(HistoryFile(kept, start, arrival.around.masker, complain))

    def listen(self, agent: Conversation, receive: Callable[[Event], None]) -> None:
        """From now on this is the open session: hear its events and answer its questions, until `detach`."""
        self._agent = agent
        unsubscribe = agent.events.subscribe(receive)
        unattach = agent.desk.attach()

        def leave() -> None:
            unsubscribe()
            unattach()
            self.detach = lambda: None

        self.detach = leave

    async def end_opening(self) -> None:
        """The front end is left: a session that is not there yet is not waited for."""
        if self._opening is not None and self._agent is None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening

    async def close(self, reason: str) -> None:
        """Close the session, if one is open or about to be."""
        await self.end_opening()
        if self._agent is not None:
            await self._agent.close(reason)
