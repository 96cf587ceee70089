"""The user's hooks: programs that may look at, change or stop what happens, at fixed points of a session.

`HookRunner` has one method a point. Each runs the hooks that are meant, all at once, and merges their answers;
where none is meant it returns at once. A hook that does not do its work decides nothing, unless the user has said
that this blocks (`onFailure`).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from mcode.pipeline.hook_answers import after_call, answer_for_user, judged, notes_of, objection, stop_of
from mcode.pipeline.hook_match import HookTable
from mcode.pipeline.hook_round import HookRound, effort_member
from mcode.pipeline.hook_text import HookTexts
from mcode.pipeline.hook_verdicts import (
    NO_OPINION,
    NOTHING_TO_ADD,
    AfterCall,
    BeforeCall,
    PermissionAnswer,
    PromptVerdict,
    Reaction,
    SessionContext,
    StopVerdict,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from mcode.call import Call, Outcome
    from mcode.config.settings import HookHandler
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.pipeline.hook_process import HookContext
    from mcode.pipeline.hook_round import LastRun


class HookRunner:
    """Runs the hooks of one session."""

    def __init__(
        self,
        handlers: Iterable[HookHandler],
        context: HookContext,
        events: EventBus,
        *,
        matches_rule: Callable[[str, Call], bool],
        spill: Callable[[str], Path],
        mask: Callable[[str], str],
        wake: Callable[[str], object] = lambda text: None,
    ) -> None:
        """`matches_rule` says whether a call fits the permission rule of a hook's `if`; `spill` writes a text that
        is too long for the model to a private file; `mask` hides secrets in what is emitted as events; `wake`
        gives the model a message of a hook that ran in the background.
        """
        self._table = HookTable(handlers, matches_rule)
        self.agent_of: Callable[[str], tuple[str, str] | None] = _nothing
        """The sub-agent that calls with this parent are made in: id of the call that started it, and its kind."""
        self.server_of: Callable[[str], JsonObject | None] = _nothing
        """The server that a tool of this name comes from, as `mcp_server` tells it."""
        self._maker: JsonObject = {}
        """The sub-agent that everything happens in, where that is so."""
        self._events = events
        self._texts = HookTexts(spill, mask)
        self._round = HookRound(context, events, self._texts, wake)

    def add(self, handlers: Sequence[HookHandler]) -> Callable[[], None]:
        """Let more hooks run from now on; returns what ends that."""
        self._table.add(handlers)
        return lambda: self._table.remove(handlers)

    @property
    def problems(self) -> Sequence[str]:
        """Hooks that never run because of how they are written."""
        return tuple(self._table.problems)

    @property
    def last_runs(self) -> Mapping[HookHandler, LastRun]:
        """The last run of each hook that has run in this session."""
        return self._round.last_runs

    def knows(self, event: str) -> bool:
        """Whether any hook is meant for the event, whatever it is about."""
        return self._table.knows(event)

    def names(self, event: str) -> frozenset[str]:
        """What the matchers of an event's hooks name."""
        return self._table.names(event)

    def after(self, call: Call) -> Sequence[HookHandler]:
        """The hooks that will run once a call has succeeded, as things are now."""
        return self._table.meant("PostToolUse", call.tool, call)

    def within(self, agent: tuple[str, str], own: Sequence[HookHandler] = (), effort: str = "") -> HookRunner:
        """The same hooks inside a sub-agent, the id of its call and its kind; and its `own`, and its own effort."""
        view = copy(self)
        view._maker = {**_agent_fields(agent), **effort_member(effort)}  # noqa: SLF001 -- the same class
        view._table = self._table.with_more(own) if own else self._table  # noqa: SLF001 -- the same class
        return view

    async def before_call(self, call: Call) -> BeforeCall:
        """PreToolUse: ask the hooks whether a call may run, and with which input."""
        handlers = self._table.find("PreToolUse", call.tool, call)
        if not handlers:
            return NO_OPINION
        answers = await self._round.run("PreToolUse", call.tool, handlers, self.about(call), call.id)
        return judged(answers)

    async def permission_request(self, call: Call, suggestions: list[JsonObject]) -> PermissionAnswer | None:
        """PermissionRequest: let a hook answer before the user is asked; None where none does."""
        handlers = self._table.find("PermissionRequest", call.tool, call)
        if not handlers:
            return None
        fields = {**self.about(call), "permission_suggestions": suggestions}
        del fields["tool_use_id"]
        answers = await self._round.run("PermissionRequest", call.tool, handlers, fields, call.id)
        return answer_for_user(answers)

    async def after_call(
        self,
        call: Call,
        response: JsonValue,
        duration: float,
        late: Callable[[], Awaitable[None]] | None = None,
    ) -> AfterCall:
        """PostToolUse: show the hooks the result of a call that succeeded in `duration` seconds.

        `late` is awaited whenever a hook that goes on behind the call has ended.
        """
        return await self._after("PostToolUse", call, {"tool_response": response}, duration, late)

    async def after_failure(self, call: Call, error: str, *, interrupted: bool, duration: float) -> AfterCall:
        """PostToolUseFailure: show the hooks why a call failed, after how many seconds."""
        fields: JsonObject = {"error": error, "is_interrupt": interrupted}
        return await self._after("PostToolUseFailure", call, fields, duration)

    async def calls_ended(self, outcomes: Sequence[Outcome]) -> Reaction:
        """PostToolBatch: show the hooks all calls of one message, before the model is asked again."""
        return await self.other("PostToolBatch", {"tool_calls": [_facts(outcome) for outcome in outcomes]})

    async def prompt_submitted(self, text: str) -> PromptVerdict:
        """UserPromptSubmit: show the hooks what the user sends."""
        self._round.begin_prompt()
        reaction = await self.other("UserPromptSubmit", {"prompt": text})
        return PromptVerdict(reaction.blocked, reaction.notes, reaction.stop)

    async def session_started(self, source: str, model: str, title: str = "") -> SessionContext:
        """SessionStart: gather what the hooks give the session. `source`: startup, resume, clear, compact, fork.

        `title` is the name that the session has already.
        """
        handlers = self._table.find("SessionStart", source)
        if not handlers:
            return SessionContext()
        fields: JsonObject = {"source": source, "model": model, **({"session_title": title} if title else {})}
        answers = await self._round.run("SessionStart", source, handlers, {**fields, **self._maker})
        titles = [answer.reply.title for answer in answers if answer.reply.title]
        messages = [answer.reply.initial_message for answer in answers if answer.reply.initial_message]
        return SessionContext(
            notes_of(answers), "".join(titles[-1:]), "\n\n".join(messages), stop_of(answers)
        )

    async def session_ended(self, reason: str) -> None:
        """SessionEnd: let the hooks see the end; short, and hooks in the background are ended with it."""
        await self.other("SessionEnd", {"reason": reason}, reason)
        await self.close()

    async def stop(self, last_message: str, *, active: bool) -> StopVerdict:
        """Stop: let the hooks send the model back to work. `active`: they have done so in this turn already."""
        fields: JsonObject = {"stop_hook_active": active, "last_assistant_message": last_message}
        reaction = await self.other("Stop", fields)
        return StopVerdict(reaction.blocked, reaction.stop, reaction.notes)

    async def other(self, event: str, fields: JsonObject, subject: str = "") -> Reaction:
        """Any event whose hooks can do no more than block, add context or stop; `subject` is what matchers see."""
        handlers = self._table.find(event, subject)
        if not handlers:
            return Reaction()
        answers = await self._round.run(event, subject, handlers, {**fields, **self._maker})
        return Reaction(objection(answers), notes_of(answers), stop_of(answers))

    def observe(self, event: str, fields: JsonObject, subject: str = "") -> None:
        """Any event that hooks only look at: they run in the background, and nothing waits for them."""
        if self.knows(event):
            self._round.in_background(self.other(event, {**self._round.effort, **fields}, subject))

    def about(self, call: Call) -> JsonObject:
        """What hooks are told of a call: its tool and where that comes from, its input, and who makes it."""
        server = self.server_of(call.tool)
        origin: JsonObject = {"mcp_server": server} if server is not None else {}
        return {**_about(call), **origin, **self.maker_of(call)}

    def maker_of(self, call: Call) -> JsonObject:
        """The sub-agent that makes the call, in the words of hooks; empty where none does."""
        agent = self.agent_of(call.parent) if call.parent is not None and not self._maker else None
        return _agent_fields(agent) if agent is not None else self._maker

    async def close(self) -> None:
        """End the hooks that run in the background."""
        await self._round.close()

    async def _after(
        self,
        event: str,
        call: Call,
        fields: JsonObject,
        duration: float,
        late: Callable[[], Awaitable[None]] | None = None,
    ) -> AfterCall:
        handlers = self._table.find(event, call.tool, call)
        if not handlers:
            return NOTHING_TO_ADD
        fields = {**self.about(call), **fields, "duration_ms": round(duration * 1000)}
        answers = await self._round.run(event, call.tool, handlers, fields, call.id, late=late)
        return after_call(answers)


def _nothing(name: str) -> None:
    del name


def _agent_fields(agent: tuple[str, str]) -> JsonObject:
    return {"agent_id": agent[0], "agent_type": agent[1]}


def _about(call: Call) -> JsonObject:
    fields: JsonObject = {"tool_name": call.tool, "tool_input": call.arguments, "tool_use_id": call.id}
    if call.parent is not None:
        fields["parent_tool_use_id"] = call.parent
    return fields


def _facts(outcome: Outcome) -> JsonObject:
    result: JsonObject = (
        {"error": outcome.text} if outcome.is_error else {"tool_response": outcome.data or outcome.text}
    )
    return {**_about(outcome.call), **result}
