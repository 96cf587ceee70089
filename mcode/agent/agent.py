"""A conversation as front ends drive it: submit, queue, interrupt, and the state they may look at."""

from __future__ import annotations

import asyncio
import datetime
import logging
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.agent.mentions import (
    READS_RESOURCES,
    MentionedRead,
    file_reads,
    mention_blocks,
    resource_reads,
)
from mcode.agent.pasted import PastedImages
from mcode.agent.prompt import environment
from mcode.agent.transcript import transcript
from mcode.call import Call, Origin
from mcode.errors import StorageError, UsageError
from mcode.events import ModeChanged, ModelChanged, Notice, QueueChanged, SessionStarted, TurnFinished
from mcode.permissions.modes import parse_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.agent.parts import Parts
    from mcode.call import Outcome
    from mcode.events import Event, Ledger
    from mcode.jsontext import JsonObject


logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Queued:
    text: str
    shown: str
    """What stands for the text on the screen."""
    typed: bool
    invokes: bool
    done: asyncio.Future[TurnFinished]


class Agent:
    """One open session. Every method is called from the event loop's thread."""

    def __init__(self, parts: Parts, model: str) -> None:
        self._parts = parts
        self._model = model
        self._queue: deque[_Queued] = deque()
        self._task: asyncio.Task[TurnFinished] | None = None
        self._draining: asyncio.Task[None] | None = None
        self._interrupted = self._held = False
        """Of the present turn: the user stopped it; and nothing was sent since, so what waits goes on waiting."""
        self._notes: list[str] = []
        self._notes_sent = 0
        self.initial_message = ""
        """What a SessionStart hook has the user say where no user is there."""
        self._closed = False
        self.events = parts.events
        self.desk = parts.desk
        self.policy = parts.policy
        self.settings = parts.settings
        self.workspace = parts.workspace
        self.catalog = parts.catalog
        self.session = parts.session
        self.pasted = PastedImages(parts.session.directory)
        self.hooks = parts.hooks
        self.builder = parts.builder
        self.meter = parts.meter
        self.jobs = parts.jobs
        self.programs = parts.programs
        self.rewinding = parts.rewinding
        self.room = parts.room
        self.skills = parts.skills
        self.subagents = parts.subagents
        self.style = parts.style

    @property
    def name(self) -> str:
        """The session's name; empty where it has none."""
        return self._parts.conversation.name

    @property
    def mode(self) -> str:
        return str(self.policy.mode)

    @property
    def model(self) -> str:
        return self._model

    @property
    def ledger(self) -> Ledger | None:
        """Figures of the last request; None until one was sent."""
        return self.meter.ledger

    @property
    def todos(self) -> tuple[JsonObject, ...]:
        return self._parts.conversation.todos

    @property
    def turn(self) -> int:
        """Number of the last turn that began; 0 before the first."""
        return self._parts.conversation.turn

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._task is not None

    def listen_to_stream(self, receive: Callable[[JsonObject], None]) -> None:
        """Hand every raw event of the model's stream to `receive`."""
        self._parts.caller.raw_events = receive

    async def start(self, source: str) -> None:
        """Begin: SessionStarted is emitted, SessionStart hooks run, unfinished calls are named."""
        self.events.emit(SessionStarted(self.session.id, source))
        for notice in self._parts.notices:
            self.events.emit(notice)
        for text in self.session.journal.notices:
            self.events.emit(Notice(text, "warning"))
        unfinished = self._parts.conversation.left_unfinished
        if unfinished:
            named = ", ".join(f"{body.get('tool')} ({body.get('id')})" for body in unfinished)
            text = f"The last run ended in the middle of: {named}. Nothing is run again by itself; check its effects."
            self.events.emit(Notice(text, "warning"))
        await self._parts.prepare()
        context = await self.hooks.session_started(source, self._model, self.name)
        self._notes += context.notes
        self.initial_message = context.initial_message
        if context.stop is not None:
            self.events.emit(Notice(f"A SessionStart hook says to stop: {context.stop}", "warning"))
        if self._parts.conversation.mode != self.mode:
            self._parts.conversation.append("mode", {"mode": self.mode})
        if context.title:
            self.rename(context.title)
        try:
            await self._find_model()
        except UsageError as error:
            self.events.emit(Notice(str(error), "error"))

    async def _find_model(self) -> None:
        """Where no model is named, take one that the endpoint offers. Raises UsageError."""
        if not self._model:
            name = await self._parts.choose_model()
            if not self._model:
                self.set_model(name)

    async def submit(self, text: str, *, typed: bool = True, invokes: bool = False) -> TurnFinished:
        """Run one turn with the user's message and return when it has ended; while busy it waits its turn.

        Files named with `@` are read only in what a person has `typed`, never in text that came from elsewhere;
        only in what was typed, or with `invokes`, a name at the beginning invokes a skill.
        """
        return await self._enqueue(text, typed=typed, invokes=invokes)

    def queue(self, text: str, *, typed: bool = True) -> asyncio.Future[TurnFinished]:
        """Send a message when the present turn has ended; `typed` as in `submit`. Returns the end of its turn."""
        return self._enqueue(text, typed=typed)

    def take_back(self) -> str | None:
        """Take the last queued message out of the queue."""
        if not self._queue:
            return None
        taken = self._queue.pop()
        taken.done.cancel()
        self._announce_queue()
        return taken.text

    def interrupt(self) -> bool:
        """Stop the present turn; False where none runs. What is queued waits for the next message."""
        if self._task is None or self._task.done():
            return self.programs.interrupt()
        self._interrupted = self._held = True
        self._task.cancel()
        return True

    async def shell(self, command: str) -> Outcome:
        """Run the user's own shell command; its output joins the conversation, and the model answers it."""
        turn = self._parts.conversation.turn + 1
        outcome = await self._parts.pipeline.run(self._own_call("Bash", {"command": command}, turn))
        said = f"I ran this in the shell myself:\n$ {command}\n{outcome.text}"
        if self.settings.respond_to_bash_commands:
            await self._enqueue(said, shown=f"!{command}", typed=False)
        elif self.busy:
            self._notes.append(said)  # the turn's calls and results must stay together
        else:
            self._parts.conversation.append("context", {"content": said})
        return outcome

    async def close(self, reason: str) -> None:
        """End the turn, the session's hooks, its calls and its files. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        while self._queue:
            self._queue.pop().done.cancel()
        if self.interrupt() and self._draining is not None:
            await asyncio.wait({self._draining}, timeout=3)
        try:
            await self.hooks.session_ended(reason)
        finally:
            await self._parts.shutdown()

    def transcript(self) -> Sequence[Event]:
        """What a front end has to show of the conversation so far."""
        return transcript(self.session.journal.records)

    def set_model(self, name: str) -> None:
        """Use another model from the next request on."""
        if not name.strip():
            raise UsageError("A model needs a name; the model is unchanged. Give one, as in /model NAME.")
        self._parts.conversation.append("model", {"name": name.strip()})
        self._model = name.strip()
        self.events.emit(ModelChanged(self._model))

    def set_mode(self, mode: str) -> None:
        """Change the permission mode; raises UsageError where it may not be entered."""
        chosen, notice = parse_mode(mode)
        before = self.policy.mode
        self.policy.set_mode(chosen)
        try:
            self._parts.conversation.append("mode", {"mode": str(chosen)})
        except StorageError:
            self.policy.set_mode(before)
            raise
        if notice:
            self.events.emit(Notice(notice))
        self.events.emit(ModeChanged(str(chosen)))

    def rename(self, name: str) -> None:
        """Give the session a name."""
        self._parts.conversation.append("title", {"name": name.strip()})

    def _enqueue(
        self, text: str, *, typed: bool, invokes: bool = False, shown: str = ""
    ) -> asyncio.Future[TurnFinished]:
        done: asyncio.Future[TurnFinished] = asyncio.get_running_loop().create_future()
        queued = _Queued(text, shown or text, typed, typed or invokes, done)
        self._queue.append(queued)
        self._held = False
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._drain())
        else:
            self._announce_queue()
        return queued.done

    async def _drain(self) -> None:
        """Run queued messages, each as one turn, until none is left or the user interrupts."""
        while self._queue:
            queued = self._queue.popleft()
            self._announce_queue()
            self._task = asyncio.create_task(self._run_turn(queued))
            try:
                await asyncio.wait({self._task})
                if not queued.done.done():
                    _hand_over(self._task, queued.done)
            finally:
                self._task = None
            if self._held and not self._closed:
                return  # what waits is sent with the next message, or taken back

    async def _run_turn(self, queued: _Queued) -> TurnFinished:
        turn, text = self._parts.conversation.turn + 1, queued.text
        self._interrupted = begun = False
        for notice in self._parts.neighbours():
            self.events.emit(notice)
        try:
            await self.room.settled()
            await self._parts.ready()
            own = text if queued.typed else ""
            invoked = await self.skills.by_user(text, turn) if queued.invokes else None
            if invoked is not None:
                text, own = invoked.text, invoked.own
            mentioned = await self._read_mentioned(own, queued.text if queued.invokes else "", turn)
            notes = self._preamble()
            content = [*map(text_block, notes), *mentioned, text_block(text)]
            await self._find_model()
            begun = True
            return await self._parts.loop.run(content, text, queued.shown)
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            finished = TurnFinished(turn, "interrupted")
            if not begun:  # nothing of it is in the record: the front end gives the text back
                self.events.emit(finished)
            return finished
        except (StorageError, UsageError) as error:
            self.events.emit(Notice(str(error), "error"))
            return self._fail(turn, str(error))
        except Exception:  # the screen boundary -- a bug in a turn must not end the session
            logger.exception("internal error in turn %d", turn)
            return self._fail(
                turn, "An error inside mcode ended the turn; its log has the details. Send it again."
            )
        finally:
            self.skills.end_turn()
            if self._parts.conversation.turn >= turn:
                del self._notes[: self._notes_sent]  # they are in the message now
            self._notes_sent = 0

    def _fail(self, turn: int, text: str) -> TurnFinished:
        finished = TurnFinished(turn, "error", text)
        self.events.emit(finished)
        return finished

    async def _read_mentioned(self, text: str, sent: str, turn: int) -> list[JsonObject]:
        """Read the files that `text` names with `@`, as calls of the user's own, and the images labelled in `sent`."""
        reads = [*file_reads(text, self.workspace.current)]
        for label, file in self.pasted.named_in(sent):
            if file is None:
                self.events.emit(Notice(f"{label} is no image of this session: paste it again.", "warning"))
            else:
                reads.append(MentionedRead(label, "Read", {"file_path": str(file)}))
        if self.catalog.find(READS_RESOURCES) is not None:
            reads += resource_reads(text)
        blocks: list[JsonObject] = []
        for read in reads:
            call = self._own_call(read.tool, read.arguments, turn)
            blocks += mention_blocks(read.name, await self._parts.pipeline.run(call))
        if not self.builder.takes_images and any(block["type"] == "image" for block in blocks):
            text = "This endpoint takes no images: the model is told what there is, and shown nothing of it."
            self.events.emit(Notice(text, "warning"))
        return blocks

    def _preamble(self) -> list[str]:
        """What stands in front of the next message: the facts of the day first, then what hooks said."""
        first = not self._parts.conversation.history.messages
        notes = (
            [environment(self.workspace.start, datetime.datetime.now().astimezone().date())] if first else []
        )
        self._notes += self._parts.jobs.announcements()
        self._notes_sent = len(self._notes)
        return [*notes, *self._notes]

    def _announce_queue(self) -> None:
        self.events.emit(QueueChanged(tuple(queued.shown for queued in self._queue)))

    def _own_call(self, tool: str, arguments: JsonObject, turn: int) -> Call:
        """A call that the user makes."""
        return Call(
            self._parts.conversation.history.fresh_id("user"), tool, arguments, Origin.USER, turn=turn
        )


def text_block(text: str) -> JsonObject:
    """Words of a message."""
    return {"type": "text", "text": text}


def _hand_over(task: asyncio.Task[TurnFinished], done: asyncio.Future[TurnFinished]) -> None:
    if task.cancelled():
        done.cancel()
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())
