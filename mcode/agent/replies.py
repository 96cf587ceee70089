"""One round trip to the model: the request is sent, the stream is read, the message is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcode.agent.requests import THOUGHT_LEFT_OUT
from mcode.errors import EndpointError
from mcode.events import (
    AnswerSuperseded,
    AssistantMessage,
    Notice,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
)
from mcode.model.client import FailureClass, ModelFailure
from mcode.model.failure_words import INVALID, OUTPUT_LIMIT, UNKNOWN, failure_word
from mcode.model.messages import DeltaKind
from mcode.model.reading import is_object
from mcode.model.retry import Listeners, complete, ignore

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.conversation import Conversation
    from mcode.agent.meter import Meter
    from mcode.agent.requests import RequestBuilder
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.model.client import Failure, ModelClient
    from mcode.model.messages import AssembledMessage, Delta, ToolUse

CONTINUATIONS = 2
"""Times that a turn goes on by itself after an answer was cut at the output limit."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the model that ended properly."""

    message: JsonObject
    uses: tuple[ToolUse, ...]
    go_on: str | None = None
    """What to tell the model next where its message was cut at the output limit; nothing of it runs."""


@dataclass(frozen=True, slots=True)
class Broken:
    """No message that could be used; what came of it is kept and marked."""

    reason: str
    """How the turn ends: `error` or `refusal`; `overflow` where room has to be made first."""
    text: str
    """What happened and what to do, for the user."""


class TooLongError(EndpointError):
    """The endpoint says that the window does not hold the request."""


def text_of(reply: Reply) -> str:
    """The words of a message, without calls and thinking."""
    return "".join(
        str(block.get("text", "")) for block in reply.message["content"] if block.get("type") == "text"
    )


@dataclass(slots=True)
class ModelCaller:
    """Asks the model and writes down what it says before anything else happens."""

    conversation: Conversation
    client: ModelClient
    builder: RequestBuilder
    meter: Meter
    events: EventBus
    model: Callable[[], str]
    calls_on_end_turn: bool = False
    """The endpoint's profile: complete calls count although the stop reason is `end_turn`."""
    raw_events: Callable[[JsonObject], None] = ignore
    """Receives each raw stream event, where somebody wants them."""
    _continued: int = field(default=0, init=False)
    _asked: int = field(default=0, init=False)
    """Output tokens that the last request allowed."""
    _turn: int = field(default=0, init=False)
    _kept: bool = field(default=False, init=False)
    _failure: str = field(default=UNKNOWN, init=False)

    def take_failure(self) -> str:
        """What the last request failed of, in hooks' words; UNKNOWN from then on, and where it did not fail."""
        word, self._failure = self._failure, UNKNOWN
        return word

    async def ask(self, turn: int) -> Reply | Broken:
        """Send the conversation, return the model's message; only cancellation and StorageError raise."""
        if turn != self._turn:
            self._turn, self._continued = turn, 0
        self._failure = UNKNOWN
        self._asked = self._room
        body = self.builder.next(self.model(), self._asked)
        self.meter.sending(self.builder.prefix, self.builder.messages)
        self.events.emit(RequestStarted(turn))
        self._kept = False
        try:
            assembled = await complete(
                self.client,
                body,
                Listeners(
                    on_event=self.raw_events,
                    on_delta=self._show,
                    on_superseded=self._withdraw,
                    on_retry=self.events.emit,
                    on_cancelled=self._keep_cancelled,
                ),
                used_ids=self.conversation.history.used_ids,
                calls_on_end_turn=self.calls_on_end_turn,
                repair=self._repair,
            )
        except asyncio.CancelledError:
            if not self._kept:  # the request is out: the next message must not change what it held
                self._keep(nothing_said(), complete=False, problem="the user stopped it")
            raise
        except ModelFailure as failed:
            self._continued = 0
            self._failure = failure_word(failed.failure)
            if failed.failure.kind is FailureClass.COMPACT:
                return Broken("overflow", failed.failure.message)
            self._keep(nothing_said(), complete=False, problem=failed.failure.message)
            return Broken("error", failed.failure.message)
        try:
            await self.conversation.prepare({"message": assembled.message})
        except asyncio.CancelledError:
            self._keep_cancelled(assembled)
            raise
        return self._judge(turn, assembled)

    async def aside(self, system: str, text: str, max_tokens: int) -> str:
        """Ask something beside the conversation; the model's words.

        Raises EndpointError where none come, TooLongError where the window does not hold what is asked.
        """
        self._failure = UNKNOWN
        model = self.model()
        body = self.builder.aside(model, system, text, max_tokens)
        try:
            assembled = await complete(self.client, body, Listeners(on_retry=self.events.emit))
        except ModelFailure as failed:
            self._failure = failure_word(failed.failure)
            kind = TooLongError if failed.failure.kind is FailureClass.COMPACT else EndpointError
            raise kind(failed.failure.message) from failed
        self.meter.aside(model, assembled.message)
        usage = assembled.message.get("usage")
        self.conversation.append("aside", {"model": model, "usage": usage if is_object(usage) else {}})
        if assembled.failure is not None:
            self._failure = failure_word(assembled.failure)
            raise EndpointError(assembled.failure.message)
        return text_of(Reply(assembled.message, ()))

    def give_up(self, text: str) -> Broken:
        """Keep that a request was answered by nothing, so that the next message does not change what it held."""
        self._keep(nothing_said(), complete=False, problem=text)
        return Broken("error", text)

    @property
    def _room(self) -> int:
        """Output tokens of the next answer: more after one was cut, within what the model is known to give."""
        return min(self.builder.max_tokens * 2**self._continued, self.builder.most_tokens)

    def _judge(self, turn: int, assembled: AssembledMessage) -> Reply | Broken:
        message = assembled.message
        self.meter.answered(self.model(), message)
        stop_reason = message.get("stop_reason")
        if stop_reason == "max_tokens":
            return self._cut_at_limit(message)
        if stop_reason == "refusal":
            details = cast("JsonObject", message.get("stop_details") or {})
            why = details.get("explanation") or details.get("category") or "no reason was given"
            self._keep(message, complete=False, problem="the model refused")
            # Sent again, the same history would be refused again: the turn is taken out of it.
            self.conversation.append("rewind", {"turn": turn, "reason": "refusal"})
            text = (
                f"The model refused to answer: {why}. The message is left out of the conversation from now on. "
                "Put it differently, or go to another model with /model."
            )
            return Broken("refusal", text)
        if stop_reason == "model_context_window_exceeded":
            self._failure = INVALID
            self._keep(message, complete=False, problem="the window was full")
            return Broken("overflow", "The model's window was full in the middle of its answer.")
        if not assembled.complete:
            if assembled.failure is not None:
                self._failure = failure_word(assembled.failure)
            self._keep(message, complete=False, problem=assembled.problem)
            why = (
                assembled.failure.message
                if assembled.failure
                else f"The answer is not whole: {assembled.problem}."
            )
            return Broken(
                "error", f"{why} What came is kept and marked, no call of it ran. Send `go on` to continue."
            )
        self._continued = 0
        self._keep(message, complete=True)
        return Reply(message, assembled.uses)

    def _cut_at_limit(self, message: JsonObject) -> Reply | Broken:
        limit = self._room
        problem = f"it reached the output limit of {limit} tokens; no call of it ran"
        self._keep(message, complete=False, problem=problem)
        if self._continued >= CONTINUATIONS:
            self._failure = OUTPUT_LIMIT
            text = f"The answer was cut at {limit} output tokens again. Ask for less at once, or raise mcode.maxTokens."
            return Broken("error", text)
        self._continued += 1
        self.events.emit(
            Notice(f"The answer reached the limit of {limit} output tokens; going on with more room.")
        )
        said = f"Your message was cut at {limit} output tokens, and no call of it ran. Continue, in smaller steps."
        return Reply(message, (), go_on=said)

    def _keep(self, message: JsonObject, *, complete: bool, problem: str = "") -> None:
        body: JsonObject = {"message": message, "complete": complete}
        if problem:
            body["problem"] = problem
        if message.get("usage"):
            body["estimate"] = self.meter.noted
        if self._asked:
            body["max_tokens"] = self._asked
        self._kept = True
        self.conversation.append("assistant", body)
        self.events.emit(AssistantMessage(message, complete))

    def _repair(self, failure: Failure, body: JsonObject) -> JsonObject | None:
        changed = self.builder.repair(failure, body)
        if changed is not None:
            left_out = self.builder.left_out
            later = "" if left_out == THOUGHT_LEFT_OUT else ", now and later on"
            text = f"{failure.message} It is asked again without that ({left_out}){later}."
            self.events.emit(Notice(text, "warning"))
        return changed

    def _keep_cancelled(self, assembled: AssembledMessage) -> None:
        self._keep(assembled.message, complete=False, problem="the user stopped it")

    def _show(self, delta: Delta) -> None:
        if delta.kind is DeltaKind.TEXT:
            self.events.emit(TextDelta(delta.text))
        elif delta.kind is DeltaKind.THINKING:
            self.events.emit(ThinkingDelta(delta.text))

    def _withdraw(self, assembled: AssembledMessage) -> None:
        self.events.emit(AnswerSuperseded(assembled.problem))


def nothing_said() -> JsonObject:
    """The message that stands for a request which brought none."""
    return {"role": "assistant", "content": [], "stop_reason": None}
