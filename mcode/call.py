"""A call, which is one use of a tool, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


class Origin(StrEnum):
    """Who made a call."""

    MODEL = "model"
    PROGRAM = "program"
    USER = "user"
    COMMAND = "command"
    """A command file or skill that was invoked. The user is not asked about such a call: it is allowed or denied."""


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool. When the input is changed (restored types, a hook), that is a new Call with the same id."""

    id: str
    """Unique in the session; the provider's id where the model made the call."""
    tool: str
    """Canonical name of the tool, as the caller wrote it until `admit` has found it."""
    arguments: JsonObject
    """The input: a JSON object, not yet validated until `admit` has passed it."""
    origin: Origin = Origin.MODEL
    parent: str | None = None
    """Id of the `run_code` call whose program made this one."""
    turn: int = 0
    """Number of the turn, from 1."""
    fault: str | None = None
    """Why the arguments could not be read (broken JSON and where); such a call ends at `admit`."""
    message: str = ""
    """The provider's id of the message that made it; empty where no message did."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where in a running program a call was made, to be shown with a question about it."""

    program: str
    """Id of the `run_code` call."""
    title: str
    """What the program calls itself: its first comment, or its beginning."""
    number: int
    """Of the call in its program, from 1."""
    line: int
    """The line of the program that made the call; 0 where it is not known."""
    source: str
    """That line."""
    waiting: int
    """Other calls of the program that have not ended yet."""


class Status(StrEnum):
    """How a call ended. The words are shown on the screen."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


class FailureKind(StrEnum):
    """Why a call did not succeed; programs see these words as `error.kind`."""

    INVALID_ARGUMENTS = "invalid_args"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_LOADED = "not_loaded"
    TOP_LEVEL_ONLY = "top_level_only"
    PROGRAM_ONLY = "program_only"
    TOOL_ERROR = "tool_error"
    DENIED = "denied"
    HOOK_DENIED = "hook_denied"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CALL_LIMIT = "call_limit"
    TOO_LARGE = "too_large"
    INTERNAL = "internal_error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call: for the model, for the screen, and whole for programs and hooks."""

    call: Call
    """The call as it was executed, with its final arguments."""
    status: Status
    text: str
    """What the model is told, cut to size by `fit`."""
    data: JsonValue = None
    """The structured result, whole; None where the call did not succeed or the tool has none."""
    full_text: str = ""
    """The text before it was cut; programs get this one as `text`."""
    failure: FailureKind | None = None
    """None exactly when status is OK."""
    summary: str = ""
    """One short line for the screen, such as `212 lines` or `exit 1`."""
    diff: str | None = None
    """Unified diff of a changed file, for the screen."""
    duration: float = 0.0
    """Seconds the tool's body ran, by the monotonic clock."""
    judged: float = 0.0
    """Seconds that the decision took, the time that the user took to answer included."""
    decision: str = ""
    """Why the call was allowed or denied, and by whom: `reads in the workspace`, `approved by you`, `denied by you`."""
    batch: str = ""
    """Id of the answer that allowed this call together with others; empty if it was decided on alone."""
    restorations: tuple[str, ...] = ()
    """A note for each argument whose type was restored."""
    rewritten: bool = False
    """A hook changed the arguments or the result."""
    hooks: tuple[str, ...] = ()
    """What hooks answered, in order: the event, the hook where it is known, and what it said."""
    notes: tuple[str, ...] = ()
    """What hooks and the check for stale files add for the model; already contained in `text`."""
    images: tuple[JsonObject, ...] = ()
    """Images for the model, each in the shape of `Picture.block`; their bytes are kept in the session's directory."""
    stop_turn: str | None = None
    """A hook said `continue: false`: end the turn and show this reason."""

    @property
    def is_error(self) -> bool:
        """True where the model must read the text as a failure."""
        return self.status is not Status.OK
