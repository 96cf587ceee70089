"""The session on the screen: opened, replayed, left for another one, closed; its draft kept all the while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.errors import McodeError
from mcode.text import Kind, clean
from mcode.ui.arrival import Unsent
from mcode.ui.session_holder import SessionHolder
from mcode.ui.tui.greeting import is_keyless, late_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcode.commands.host import Conversation, SentPrefix
    from mcode.commands.registry import Registry
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.ui.arrival import Arrival
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.drafts import DraftFile


class Sessions(SessionHolder):
    """Holds the open session and follows what begins and ends with it."""

    def __init__(self, front: McodeApp, arriving: Callable[[], Awaitable[Arrival]]) -> None:
        """`arriving` opens the first session, once the first frame is out."""
        super().__init__(arriving)
        self._front = front
        self._registry: Registry | None = None
        self._draft: DraftFile | None = None

    @property
    @override
    def registry(self) -> Registry:
        """The slash commands, with those of this front end."""
        return self._registry if self._registry is not None else super().registry

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
            await front.make_complete()
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
        front.setup.open(looked_at)
        early, front.sending.early = front.sending.early or [], []
        if early:
            front.prompt.use_draft("\n\n".join(text for text in (*early, front.prompt.draft) if text))

    def _take(self, arrival: Arrival) -> None:
        """Keep what came with the first session."""
        from mcode.ui.tui.own_commands import with_own_commands

        front = self._front
        self.keep(arrival, front.history, lambda text: front.say(text, "warning"))
        self._registry = with_own_commands(arrival.registry, front)
        ui = arrival.agent.settings.own.ui
        front.notifier.bell = ui.bell
        if ui.theme is not None and ui.theme != front.theme and ui.theme in front.available_themes:
            front.theme = ui.theme
        self._take_keys(ui.keys)
        front.status.keyless = is_keyless(arrival.around)
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
        self.detach()
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

    def redraw(self, turn: int, remark: str) -> None:
        """The conversation went back to before that turn, 0 for none: say so, and what the window holds by now."""
        front = self._front
        front.pump.flush()
        front.transcript.go_back(turn, remark)
        front.facts.outdated = "ctx ?"
        front.work.begin(self._estimate(self.agent))
        front.status.refresh_facts()

    async def finish(self, reason: str) -> None:
        """Close the session; what its end still says goes straight to the terminal."""
        front = self._front
        try:
            await self.end_opening()
            if self._draft is not None:
                await self._draft.finish()
            await self.close(reason)
        except McodeError as error:
            front.farewell.say(f"error: {clean(str(error), Kind.LINE)}")
        finally:
            self.detach()
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
        front.facts.follow(agent)
        front.transcript.document.begin_session()
        if replay:
            front.transcript.replay(agent.transcript())
            name = f' "{clean(agent.name, Kind.LINE)}"' if agent.name else ""
            front.say(f"Session {agent.session.id[:8]}{name} goes on from here.")
        if replay and agent.ledger is None and agent.room.conversation.history.messages:
            front.work.begin(self._estimate(agent))
        self.listen(agent, front.pump.receive)
        self._restore_draft(agent)
        front.status.refresh_facts()

    async def _estimate(self, agent: Conversation) -> None:
        """Until a request has told more: how full the window will be, counted beside the loop."""
        room, window = agent.room, agent.meter.window
        messages = room.conversation.history.messages
        if window <= 0:
            return
        prefix = agent.builder.preview(agent.model)
        counted = await asyncio.to_thread(_count, prefix, messages)
        if self._front.agent is agent and len(messages) == len(room.conversation.history.messages):
            self._front.facts.outdated = f"ctx ~{100 * room.meter.corrected(counted) // window}%"
            self._front.status.refresh_facts()

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


def _count(prefix: SentPrefix, messages: Sequence[JsonObject]) -> int:
    """Tokens of the next request, estimated as /context does before an endpoint has counted them."""
    from mcode.model.usage import count_message, count_prefix

    loaded = frozenset(str(tool["name"]) for tool in prefix.tools)
    fixed = count_prefix(prefix.system, prefix.tools, referred=loaded)
    return fixed.total + sum(count_message(message).total for message in messages)
