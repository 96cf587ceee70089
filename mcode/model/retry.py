"""Runs one round trip: sends a request, and sends it again where that can help, in sight of the user.

A try that broke after it had shown something is repeated once by itself: its calls have not run, since calls run
only after this returns. What a broken try has shown is withdrawn by `on_superseded` before the next one begins.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from mcode.events import RetryScheduled
from mcode.model.client import Failure, FailureClass, ModelFailure
from mcode.model.failures import UNCHANGED, Endpoint, explain_answer, spoken
from mcode.model.messages import MessageAssembler

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from mcode.jsontext import JsonObject
    from mcode.model.client import ModelClient
    from mcode.model.messages import AssembledMessage, Delta

    Repair: TypeAlias = Callable[[Failure, JsonObject], JsonObject | None]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of retrying."""

    tries: int = 5
    """Requests at most, the first included."""
    duration: float = 180.0
    """Seconds after the first failure within which the last try may begin."""
    first_delay: float = 1.0
    """Seconds before the second try at least; doubled for each further one."""
    longest_delay: float = 30.0
    """Seconds that the doubling stops at."""
    longest_asked: float = 60.0
    """Seconds of `retry-after` that are waited; an endpoint that asks for more is not asked again."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Clock, sleep and chance; a test brings its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """A number from 0 to 1."""


def ignore(_: object) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what while a round trip runs."""

    on_event: Callable[[JsonObject], None] = ignore
    """Gets every raw event."""
    on_delta: Callable[[Delta], None] = ignore
    """Gets what can be shown of it."""
    on_superseded: Callable[[AssembledMessage], None] = ignore
    """Before another try, gets what the broken one had shown, which is void from then on."""
    on_retry: Callable[[RetryScheduled], None] = ignore
    """Gets the wait before another try."""
    on_cancelled: Callable[[AssembledMessage], None] = ignore
    """Gets what had come when the task was cancelled; CancelledError follows."""


NOBODY = Listeners()


async def complete(
    client: ModelClient,
    body: JsonObject,
    listeners: Listeners = NOBODY,
    *,
    used_ids: Collection[str] = (),
    calls_on_end_turn: bool = False,
    repair: Repair | None = None,
    policy: RetryPolicy | None = None,
    surroundings: Surroundings | None = None,
) -> AssembledMessage:
    """Send a body and return the message that comes.

    `repair` is given a failure of class REPAIR and the body, once, and returns a body to send instead, or None.

    A message whose stream broke for good is returned as far as it came, with `ended` False and its `failure`.
    Raises ModelFailure where nothing came that could be kept.
    """
    trip = _RoundTrip(
        client,
        body,
        new_assembler=lambda: MessageAssembler(used_ids=used_ids, calls_on_end_turn=calls_on_end_turn),
        listeners=listeners,
        repair=repair,
        policy=policy or RetryPolicy(),
        around=surroundings or Surroundings(),
    )
    try:
        while True:
            message = await trip.try_once()
            failure = message.failure
            if failure is None:
                return message
            delay = trip.plan(failure)
            if delay is None:
                return trip.give_up(failure)
            if trip.shown:
                listeners.on_superseded(message)
            listeners.on_retry(trip.scheduled(failure, delay))
            await trip.around.sleep(delay)
            trip.attempt += 1
    except asyncio.CancelledError:
        if (arrived := trip.arrived()) is not None:
            listeners.on_cancelled(arrived)
        raise


@dataclass(slots=True)
class _RoundTrip:
    """What is known between the tries of one round trip."""

    client: ModelClient
    body: JsonObject
    new_assembler: Callable[[], MessageAssembler]
    listeners: Listeners
    repair: Repair | None
    policy: RetryPolicy
    around: Surroundings
    attempt: int = 1
    shown: bool = False
    """True where the last try had shown something."""
    _assembler: MessageAssembler | None = field(default=None, init=False)
    """The try that runs."""
    _kept: AssembledMessage | None = field(default=None, init=False)
    """The last message that broke after it had shown something."""
    _first_failure: float | None = field(default=None, init=False)
    _repaired: bool = field(default=False, init=False)
    _repeated: bool = field(default=False, init=False)

    async def try_once(self) -> AssembledMessage:
        """One request; the message has a `failure` unless its stream was sound to the end."""
        assembler = self._assembler = self.new_assembler()
        failure: Failure | None = None
        try:
            await self._receive(assembler)
        except ModelFailure as failed:
            failure = failed.failure
        message = assembler.finish(failure)
        self._assembler = None
        self.shown = assembler.has_content
        if not message.ended:
            message = replace(message, failure=failure or self._cut(message.problem))
            if self.shown:
                self._kept = message
        return message

    def plan(self, failure: Failure) -> float | None:
        """Seconds until the next try; None where there is none."""
        if failure.kind is FailureClass.REPAIR:
            return self._plan_repair(failure)
        if failure.kind not in (FailureClass.RETRY, FailureClass.CUT) or self.attempt >= self.policy.tries:
            return None
        if self.shown:
            if self._repeated:
                return None
            self._repeated = True
        asked = failure.retry_after or 0.0
        if asked > self.policy.longest_asked:
            return None
        delay = asked or self._back_off()
        now = self.around.clock()
        if self._first_failure is None:
            self._first_failure = now
        return delay if now + delay - self._first_failure <= self.policy.duration else None

    def give_up(self, failure: Failure) -> AssembledMessage:
        """What could be kept; raises ModelFailure where there is nothing."""
        text = failure.message
        if (failure.retry_after or 0.0) > self.policy.longest_asked:
            asked, limit = spoken(failure.retry_after or 0.0), spoken(self.policy.longest_asked)
            text = f"{text} It asks to wait {asked}; mcode waits at most {limit} by itself."
            failure = replace(failure, kind=FailureClass.STOP)
        if self.attempt > 1:
            text = f"{text} It was tried {self.attempt} times."
        failure = replace(failure, message=text)
        if self._kept is None:
            raise ModelFailure(failure)
        return replace(self._kept, failure=failure)

    def scheduled(self, failure: Failure, delay: float) -> RetryScheduled:
        """The next try, as front ends show it."""
        return RetryScheduled(
            attempt=self.attempt + 1,
            limit=self.policy.tries,
            delay=delay,
            reason=failure.message.partition(f" {UNCHANGED}")[
                0
            ],  # what to do next is not the user's part yet
            status=failure.status,
            kind=failure.type,
        )

    def arrived(self) -> AssembledMessage | None:
        """What had come when the work was broken off; None where nothing was shown."""
        if self._assembler is not None and self._assembler.has_content:
            return self._assembler.finish()
        return self._kept

    async def _receive(self, assembler: MessageAssembler) -> None:
        stream = self.client.stream(self.body)
        try:
            async for event in stream:
                self.listeners.on_event(event)
                if event.get("type") == "error":
                    raise ModelFailure(explain_answer(Endpoint(self.client.name), 200, event))
                for delta in assembler.feed(event):
                    self.listeners.on_delta(delta)
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def _plan_repair(self, failure: Failure) -> float | None:
        if self.repair is None or self._repaired or self.shown:
            return None
        repaired = self.repair(failure, self.body)
        if repaired is None:
            return None
        self._repaired = True
        self.body = repaired
        return 0.0

    def _back_off(self) -> float:
        doubled = self.policy.first_delay * 2 ** (self.attempt - 1)
        return min(doubled, self.policy.longest_delay) * (1 + self.around.chance() / 4)

    def _cut(self, problem: str) -> Failure:
        text = f"The answer of {self.client.name} could not be used: {problem}. {UNCHANGED} Send the message again."
        return Failure(FailureClass.CUT, text, type="broken_stream")
