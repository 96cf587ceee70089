"""The session on the screen: opened, replayed, left for another one, closed; its draft kept all the while."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.text import Kind, clean
from mcode.ui.arrival import NotOpenError, Unsent
from mcode.ui.tui.greeting import early_lines, is_keyless, late_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcode.commands.host import CommandContext, Conversation
    from mcode.commands.registry import Registry
    from mcode.events import Event
    from mcode.ui.arrival import Arrival
    from mcode.ui.completion import Completer
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.drafts import DraftFile


class Sessions:
    """Holds the open session and follows what begins and ends with it."""

    def __init__(self, front: McodeApp, arriving: Callable[[], Awaitable[Arrival]]) -> None:
        """`arriving` opens the first session, once the first frame is out."""
        self._front = front
        self._arriving = arriving
        self._opening: asyncio.Task[None] | None = None
        self._arrival: Arrival | None = None
        self._agent: Conversation | None = None
        self._registry: Registry | None = None
        self._completer: Completer | None = None
        self._detach: Callable[[], None] = lambda: None
        self._draft: DraftFile | None = None

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
        """The slash commands, with those of this front end."""
        if self._registry is None:
            raise NotOpenError
        return self._registry

    @property
    def completer(self) -> Completer | None:
        """What finds completions; None before the first session."""
        return self._completer

    def context(self) -> CommandContext:
        """What commands may use."""
        from mcode.commands.host import CommandContext

        return CommandContext(self.agent, self.arrival.around, self.registry)

    def servers(self) -> str:
        """How many servers can be used, for the status line; empty where none is configured."""
        servers = self._arrival.servers if self._arrival is not None else None
        statuses = servers.statuses() if servers is not None else ()
        wanted = [each.state for each in statuses if each.state != "disabled"]
        ready = sum(state in {"connected", "cached"} for state in wanted)
        return f"mcp {ready}/{len(wanted)}" if wanted else ""

    def begin(self) -> None:
        """Show what is known before a session is there, and take what was typed and is to be sent."""
        front = self._front
        front.say("\n".join(early_lines(front.start, front.home)), "command")
        if front.typed_before:
            front.prompt.insert(front.typed_before)
        for text in front.messages_before:
            front.sending.send(text)

    def start(self) -> None:
        """The first frame is out: now the session is opened, and what that loads delays nobody's keys."""
        self._opening = self._front.work.begin(self._open())

    async def _open(self) -> None:
        front = self._front
        opened = False
        try:
            arrival = await self._arriving()
            opened = True
        except McodeError as error:
            front.failure = error
            front.unsent = Unsent(tuple(front.sending.early or ()), front.prompt.draft)
            front.exit(1)
            return
        finally:
            if not opened and front.failure is None:  # a fault, which is told and logged; nothing could go on
                front.unsent = Unsent(tuple(front.sending.early or ()), front.prompt.draft)
                front.exit(1)
        self._take(arrival)
        if arrival.around.looked_at:
            self._hold(arrival.around.looked_at)
        elif arrival.remarks:
            front.say("\n".join(clean(each, Kind.BLOCK) for each in arrival.remarks), "command")
        self._attach(arrival.agent, replay=arrival.source != "startup")
        front.sending.open()
        await self._start(arrival.agent, arrival.source)

    def _hold(self, looked_at: Sequence[tuple[str, str]]) -> None:
        """There is no key: nothing is sent until the user has chosen, and what was to be sent is in the draft."""
        front = self._front
        front.main.setup.open(looked_at)
        early, front.sending.early = front.sending.early or [], []
        if early:
            front.prompt.use_draft("\n\n".join(text for text in (*early, front.prompt.draft) if text))

    def _take(self, arrival: Arrival) -> None:
        """Keep what came with the first session."""
        from mcode.ui.completion import Completer
        from mcode.ui.file_names import FileNames
        from mcode.ui.history import HistoryFile
        from mcode.ui.tui.own_commands import with_own_commands

        front, around = self._front, arrival.around
        self._arrival, self._agent = arrival, arrival.agent
        self._registry = with_own_commands(arrival.registry, front)
        self._completer = Completer(self.context, FileNames(lambda: self.agent.workspace.roots))
        kept, start = around.places.history_file, arrival.agent.workspace.start
        front.history.open(HistoryFile(kept, start, around.masker, lambda text: front.say(text, "warning")))
        ui = arrival.agent.settings.own.ui
        front.notifier.bell = ui.bell
        if ui.theme is not None and ui.theme != front.theme and ui.theme in front.available_themes:
            front.theme = ui.theme
        self._take_keys(ui.keys)
        front.status.keyless = is_keyless(around)
        if arrival.servers is not None:
            arrival.servers.listen(lambda _: front.status.refresh_facts())

    def _take_keys(self, wanted: Mapping[str, str]) -> None:
        """Keys of the user's own, for what the bindings name."""
        if not wanted:
            return
        from mcode.ui.tui.approval_panel import ApprovalPanel
        from mcode.ui.tui.inspector import InspectorScreen
        from mcode.ui.tui.main_screen import MAIN_KEYS
        from mcode.ui.tui.own_keys import checked, names_of
        from mcode.ui.tui.prompt_keys import PROMPT_KEYS
        from mcode.ui.tui.table_inspector import TableInspector

        places = (
            MAIN_KEYS,
            PROMPT_KEYS,
            ApprovalPanel.BINDINGS,
            InspectorScreen.BINDINGS,
            TableInspector.BINDINGS,
        )
        usable, remarks = checked(wanted, {name for place in places for name in names_of(place)})
        self._front.set_keymap(usable)
        for each in remarks:
            self._front.say(each, "warning")

    def receive(self, event: Event) -> None:
        """Tell who looks elsewhere."""
        from mcode.events import (
            ApprovalRequested,
            ApprovalResolved,
            QuestionAsked,
            QuestionResolved,
            QueueChanged,
            SessionStarted,
            TurnFinished,
        )

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
        new = await self.arrival.open_agent(source, reference)
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
            await self._end_opening()
            if self._draft is not None:
                await self._draft.finish()
            if self._agent is not None:
                await self._agent.close(reason)
        except McodeError as error:
            front.farewell.say(f"error: {clean(str(error), Kind.LINE)}")
        finally:
            self._detach()
            await front.work.stop()
            await front.history.finish()

    async def _end_opening(self) -> None:
        """The screen is left: a session that is not there yet is not waited for."""
        if self._opening is not None and not self.opened:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening

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
        self._agent = agent
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
        from mcode.ui.tui.drafts import DraftFile

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
            self._front.prompt.use_draft(
                "\n\n".join(each for each in (unsent, self._front.prompt.draft) if each)
            )
