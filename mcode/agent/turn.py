"""One turn: the user's message, then requests and the tool calls they lead to, until the model calls no more."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mcode.agent.replies import Broken, text_of
from mcode.agent.room import ADVICE
from mcode.call import Call, Origin
from mcode.errors import StorageError
from mcode.events import Notice, TurnFinished, TurnStarted
from mcode.pipeline import outcomes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcode.agent.conversation import Conversation
    from mcode.agent.replies import ModelCaller
    from mcode.agent.room import RoomMaker
    from mcode.call import Outcome
    from mcode.catalog.catalog import Catalog
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.model.messages import ToolUse
    from mcode.pipeline.hook_verdicts import PromptVerdict, Reaction, StopVerdict
    from mcode.pipeline.run import Pipeline

AT_ONCE = 8
"""Read-only calls that run side by side."""

GO_ON = "The conversation was shortened because it no longer fitted the window. Go on where it broke off."
"""What the model is told before the request that was too long is sent again."""

STOP_HOOK_LIMIT = 8
"""Times in a row that Stop hooks may send the model back to work."""


class TurnHooks(Protocol):
    """The hooks of a turn; the session's HookRunner implements this."""

    async def prompt_submitted(self, text: str) -> PromptVerdict:
        """Run the hooks for a message that the user sends."""
        ...

    async def calls_ended(self, outcomes: Sequence[Outcome]) -> Reaction:
        """Run the hooks for all calls of one message, after they have ended."""
        ...

    async def stop(self, last_message: str, *, active: bool) -> StopVerdict:
        """Run the hooks for a turn that would end; `active`: they have sent the model back already."""
        ...


@dataclass(frozen=True, slots=True)
class CallsLimit:
    """Calls that the model may make directly in one turn; a program counts as one, whatever it calls."""

    most: int
    may_go_on: Callable[[int], Awaitable[bool]]
    """Asks the user after so many calls; True for as many again."""


@dataclass(slots=True)
class TurnLoop:
    """The loop of a conversation. It knows nothing of providers, screens or permissions."""

    conversation: Conversation
    caller: ModelCaller
    pipeline: Pipeline
    hooks: TurnHooks
    catalog: Catalog
    events: EventBus
    room: RoomMaker
    after_calls: Callable[[Sequence[Outcome]], None]
    """Told of each round's outcomes before the next request; may append context."""
    max_requests: int | None = None
    """Round trips that one turn may take; None for no limit."""
    calls_limit: CallsLimit | None = None
    parent: str | None = None
    """Id of the call that started this loop, where it is a sub-agent's."""
    spent: Callable[[], str] = str
    """Why no more requests may be made, in words; empty while they may."""
    _requests: int = field(default=0, init=False)
    _calls: int = field(default=0, init=False)
    _calls_allowed: int = field(default=0, init=False)

    async def run(self, content: list[JsonObject], text: str, shown: str) -> TurnFinished:
        """Take the user's message to its end. Cancelling the task interrupts the turn, at any moment.

        `text` is the message as hooks see it, `shown` as the screen and the list of sessions do.
        """
        self._requests = self._calls = 0
        self._calls_allowed = self.calls_limit.most if self.calls_limit is not None else 0
        self.room.begin_turn()
        turn = self.conversation.turn + 1
        try:
            reason, last = await self._take(turn, content, text, shown)
        except asyncio.CancelledError:
            self._end(turn, "interrupted", "")
            raise
        return self._end(turn, reason, last)

    async def _take(self, turn: int, content: list[JsonObject], text: str, shown: str) -> tuple[str, str]:
        """Record the message, then converse; returns the reason for the end, and the last text."""
        verdict = await self.hooks.prompt_submitted(text)
        if verdict.blocked is not None:
            self.events.emit(Notice(f"A hook refused the message: {verdict.blocked}", "warning"))
            return "stopped", verdict.blocked
        blocks = [*content, *({"type": "text", "text": note} for note in verdict.notes)]
        message: JsonObject = {"turn": turn, "content": blocks, "text": shown}
        too_long = await self.room.cannot_hold(blocks)
        if too_long:
            return "error", too_long
        await self.conversation.prepare(message)
        self.conversation.append("user", message)
        await self.conversation.sync()
        self.events.emit(TurnStarted(turn, shown))
        if verdict.stop is not None:
            return "stopped", verdict.stop
        return await self._converse(turn)

    async def _converse(self, turn: int) -> tuple[str, str]:
        """Ask the model, run its calls, ask again until it makes none; returns the reason and the last text."""
        sent_back = 0
        while True:
            limit, spent = await self._limit_reached(), self.spent()
            if limit or spent:
                return ("limit", limit) if limit else ("budget", spent)
            problem = await self.room.before_request()
            if problem is not None:
                return "error", problem
            await asyncio.sleep(0)  # both look over all tools: of very many, each takes a step of the loop
            self._requests += 1
            reply = await self.caller.ask(turn)
            if isinstance(reply, Broken) and reply.reason == "overflow":
                if await self.room.after_overflow():
                    self._add_context(GO_ON)
                    continue
                reply = self.caller.give_up(f"{reply.text} {self.room.breakdown(self.room.size())} {ADVICE}")
            if isinstance(reply, Broken):
                return reply.reason, reply.text
            if reply.uses:
                results = await self._run_calls(turn, reply.uses, str(reply.message.get("id") or ""))
                stopped = await self._stopped_after(results)
                if stopped is not None:
                    return "stopped", stopped
                self.after_calls(results)
                await self.pipeline.recorder.settle()
                continue
            if reply.go_on is not None:
                self._add_context(reply.go_on)
                continue
            verdict = await self.hooks.stop(text_of(reply), active=sent_back > 0)
            if verdict.stop is not None:
                return "stopped", verdict.stop
            if verdict.reason_to_continue is None or sent_back >= STOP_HOOK_LIMIT:
                return "end", text_of(reply)
            sent_back += 1
            self._add_context("\n\n".join((verdict.reason_to_continue, *verdict.notes)))

    async def _limit_reached(self) -> str:
        """Which limit ends the turn here, in a sentence; empty where it goes on."""
        if self.max_requests is not None and self._requests >= self.max_requests:
            requests = "one request" if self.max_requests == 1 else f"{self.max_requests} requests"
            return f"The limit of {requests} a turn is reached."
        limit = self.calls_limit
        if limit is None or self._calls < self._calls_allowed:
            return ""
        if not await limit.may_go_on(self._calls):
            return (
                f"You ended the turn after {self._calls} calls of the model (you are asked after every {limit.most}: "
                "mcode.maxCallsPerTurn). What was done stays; your next message goes on from here."
            )
        self._calls_allowed = self._calls + limit.most
        return ""

    async def _run_calls(self, turn: int, uses: Sequence[ToolUse], message: str) -> list[Outcome]:
        """Run a message's calls: read-only neighbours side by side, everything else alone and in order."""
        calls = [
            Call(use.id, use.name, use.arguments, Origin.MODEL, self.parent, turn, use.fault, message)
            for use in uses
        ]
        self._calls += len(calls)
        results: list[Outcome] = []
        waiting = list(calls)
        try:
            while waiting:
                batch = self._next_batch(waiting)
                results += await self._run_together(batch)
                del waiting[: len(batch)]
                if any(each.stop_turn is not None for each in results):
                    break
        finally:
            for call in calls:
                if call.id in self.conversation.history.unfinished:
                    why = "" if _is_cancelling() else "a hook or an error ended the turn"
                    outcome = outcomes.cancelled(call, "", started=False, why=why)
                    self.pipeline.recorder.finish(outcome, started=False)
        return results

    async def _stopped_after(self, results: Sequence[Outcome]) -> str | None:
        """Why the turn ends with these calls of one message: by a hook of one of them, or of all together."""
        stopped = next((each.stop_turn for each in results if each.stop_turn is not None), None)
        if stopped is not None:
            return stopped
        reaction = await self.hooks.calls_ended(results)
        if reaction.notes:
            self._add_context("\n\n".join(reaction.notes))
        return reaction.blocked if reaction.stop is None else reaction.stop

    def _next_batch(self, waiting: list[Call]) -> list[Call]:
        count = 0
        while count < min(AT_ONCE, len(waiting)) and self._is_read_only(waiting[count]):
            count += 1
        return waiting[: max(count, 1)]

    def _is_read_only(self, call: Call) -> bool:
        tool = self.catalog.find(call.tool)
        return tool is not None and tool.read_only

    async def _run_together(self, calls: list[Call]) -> list[Outcome]:
        if len(calls) == 1:
            return [await self.pipeline.run(calls[0])]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self.pipeline.run(call)) for call in calls]
        except* StorageError as failed:
            raise StorageError(str(failed.exceptions[0])) from None
        return [task.result() for task in tasks]

    def _add_context(self, text: str) -> None:
        self.conversation.append("context", {"content": text})

    def _end(self, turn: int, reason: str, text: str) -> TurnFinished:
        body: JsonObject = {"turn": turn, "reason": reason, "requests": self._requests}
        if reason != "end":
            body["text"] = text  # an answer's own words stand in its message
        self.conversation.append("turn_finished", body)
        finished = TurnFinished(turn, reason, text, self._requests)
        self.events.emit(finished)
        return finished


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
