"""One round trip: the request goes out, the stream comes in, the message is kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.events import AssistantMessage, Notice, RequestStarted, RetryScheduled, TextDelta, ThinkingDelta
from mcode.model.client import ModelFailure
from mcode.model.messages import DeltaKind
from mcode.model.retry import complete

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.conversation import Conversation
    from mcode.agent.meter import Meter
    from mcode.agent.requests import RequestBuilder
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.model.client import ModelClient
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
    """How the turn ends: `error` or `refusal`."""
    text: str
    """What happened and what to do, for the user."""


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
    raw_events: Callable[[JsonObject], None] | None = None
    """Receives each raw stream event, where somebody wants them."""
    last_body: JsonObject | None = field(default=None, init=False)
    """The last request as it was sent."""
    _partial: list[str] = field(default_factory=list[str], init=False)
    _continued: int = field(default=0, init=False)

    async def ask(self, turn: int) -> Reply | Broken:
        """Send the conversation, return the model's message; only cancellation and StorageError raise."""
        more_room = self.builder.max_tokens * (2**self._continued) if self._continued else None
        body = self.builder.next(self.model(), more_room)
        self.last_body = body
        self.meter.sending(body)
        self.events.emit(RequestStarted(turn))
        self._partial = []
        try:
            assembled = await complete(
                self.client,
                body,
                used_ids=frozenset(self.conversation.history.used_ids),
                on_event=self._pass_on,
                on_delta=self._show,
                on_retry=self._announce_retry,
            )
        except asyncio.CancelledError:
            self._keep_partial("the user stopped it")
            raise
        except ModelFailure as failed:
            self._keep_partial(failed.failure.message)
            return Broken("error", failed.failure.message)
        return self._judge(assembled)

    def _judge(self, assembled: AssembledMessage) -> Reply | Broken:
        message = assembled.message
        self.meter.answered(message)
        stop_reason = message.get("stop_reason")
        if stop_reason == "max_tokens":
            return self._cut_at_limit(message)
        if stop_reason == "refusal":
            details = message.get("stop_details") or {}
            why = details.get("explanation") or details.get("category") or "no reason was given"
            self._keep(message, complete=False, problem="the model refused")
            text = f"The model refused to answer: {why}. Change the question, or go to another model with /model."
            return Broken("refusal", text)
        if not assembled.complete:
            self._keep(message, complete=False, problem=assembled.problem)
            return Broken("error", f"The answer was cut off: {assembled.problem}. Send `go on` to continue.")
        self._continued = 0
        self._keep(message, complete=True)
        return Reply(message, assembled.uses)

    def _cut_at_limit(self, message: JsonObject) -> Reply | Broken:
        limit = self.builder.max_tokens * (2**self._continued)
        problem = f"it reached the output limit of {limit} tokens; no call of it ran"
        self._keep(message, complete=False, problem=problem)
        if self._continued >= CONTINUATIONS:
            self._continued = 0
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
        self.conversation.append("assistant", body)
        self.events.emit(AssistantMessage(message, complete))

    def _keep_partial(self, problem: str) -> None:
        text = "".join(self._partial)
        content = [{"type": "text", "text": text}] if text else []
        message: JsonObject = {"role": "assistant", "content": content, "stop_reason": None}
        self._keep(message, complete=False, problem=problem)

    def _pass_on(self, event: JsonObject) -> None:
        if self.raw_events is not None:
            self.raw_events(event)

    def _show(self, delta: Delta) -> None:
        if delta.kind is DeltaKind.TEXT:
            self._partial.append(delta.text)
            self.events.emit(TextDelta(delta.text))
        elif delta.kind is DeltaKind.THINKING:
            self.events.emit(ThinkingDelta(delta.text))

    def _announce_retry(self, retry: RetryScheduled) -> None:
        self._partial = []
        self.events.emit(retry)
