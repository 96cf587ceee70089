"""What a program did: its calls, what it printed, and how it ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mcode.run_code.arguments import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.run_code.arguments import Arguments, Given


def well_formed(text: str) -> str:
    """Text that can be encoded: half of a surrogate pair, which engines have no trouble with, becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class CallState(StrEnum):
    """How far one call has come."""

    WAITING = "waiting"
    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    NOT_STARTED = "not started"


@dataclass(slots=True)
class CallRecord:
    """One call of a program."""

    number: int
    """From 1, in the order in which the program made the calls."""
    id: str
    tool: str
    line: int
    """The line of the program that made the call; 0 where it is not known."""
    read_only: bool
    state: CallState = CallState.WAITING
    given: Given = ""
    """Its arguments, as they came."""
    read: Arguments | None = None
    """The same, read; None until it sets out."""
    kind: str = ""
    """Why it failed, as the program saw it."""
    message: str = ""
    summary: str = ""
    """What the screen says of the result."""
    waited: float = 0.0
    """Seconds from the program's making the call to its setting out on the road."""
    bytes_in: int = 0
    """Bytes of JSON that it brought into the program."""
    let_through: bool = True
    """False where it was cancelled before it was decided that it may run."""
    cancelled_by: str = ""
    """What ended it, in words for the user; empty for an interrupt."""
    answered: bool = False
    """Whether its result has reached the program."""
    step: int = 1
    """One more than the highest step that the program had a result of when it made the call: calls of one step
    could have been made side by side."""

    @property
    def arguments(self) -> str:
        """What it was given, as JSON text."""
        return text_of(self.given)

    @property
    def had_effect(self) -> bool:
        """Whether something may have changed through it."""
        ran = self.state is CallState.OK or (
            self.state in {CallState.FAILED, CallState.CANCELLED} and self.kind in _MAY_HAVE_RUN
        )
        return ran and self.let_through and not self.read_only


_MAY_HAVE_RUN = frozenset({"tool_error", "timeout", "cancelled", "internal_error", "too_large"})


class Ending(StrEnum):
    """How a program can end; `OK` and the kinds of failure."""

    OK = "ok"
    SYNTAX = "syntax"
    EXCEPTION = "exception"
    CPU_LIMIT = "cpu_limit"
    MEMORY_LIMIT = "memory_limit"
    STALLED = "stalled"
    CALL_LIMIT = "call_limit"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"
    STOPPED_BY_USER = "stopped_by_user"
    STOPPED_BY_HOOK = "stopped_by_hook"
    WORKER_DIED = "worker_died"
    ENGINE_UNUSABLE = "engine_unusable"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a program failed. Which fields mean something depends on the kind."""

    kind: Ending
    message: str = ""
    """Of the error, or a detail such as the signal's name."""
    name: str = ""
    """Class of the error that was thrown; empty where the thrown value was none."""
    stack: str = ""
    """The engine's own, unmapped."""


@dataclass(slots=True)
class ProgramRecord:
    """One program from its start to its end."""

    id: str
    """Id of the `run_code` call."""
    fault: Fault | None = None
    """None where it returned normally."""
    value: str | None = None
    """What it returned, as text; None for nothing."""
    described: frozenset[str] = frozenset()
    """Kinds of values in it that JSON cannot carry and that were only described."""
    texts: list[str] = field(default_factory=list[str])
    """What it gave to `text()`."""
    texts_size: int = 0
    log: list[str] = field(default_factory=list[str])
    log_size: int = 0
    """Characters of all entries of `log`."""
    images: int = 0
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    steps_answered: int = 0
    """The highest step of which a result has gone to the program."""
    not_awaited: int = 0
    most_in_flight: int = 0
    shift: tuple[int, int] = (0, 0)
    """Where characters were put into the program, in UTF-16 units, and how many."""
    cpu: float = 0.0
    """CPU seconds of the engine."""
    peak_memory: int = 0
    """Bytes that the worker held at most; 0 where it did not say."""
    wall: float = 0.0
    """Seconds from start to end, waiting included."""
    stored: dict[str, None] = field(default_factory=dict[str, None])
    """Keys that it stored something under, in order."""

    @property
    def ending(self) -> Ending:
        return Ending.OK if self.fault is None else self.fault.kind

    @property
    def bytes_in(self) -> int:
        """Bytes of JSON that its calls brought in."""
        return sum(call.bytes_in for call in self.calls)

    def call(self, identifier: str) -> CallRecord | None:
        """The call of this id."""
        return next((call for call in self.calls if call.id == identifier), None)

    def states(self) -> Counter[CallState]:
        """How many calls are in each state."""
        return Counter([call.state for call in self.calls])

    def with_effects(self) -> Iterable[CallRecord]:
        """The calls that may have changed something, in the order in which they were made."""
        return (call for call in self.calls if call.had_effect)
