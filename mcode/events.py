"""Everything a front end can receive. Front ends subscribe; the core never imports one.

Texts in events are raw: a front end passes each through `text.clean` before it reaches a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.call import Call, CallSite, Outcome
    from mcode.jsontext import JsonObject
    from mcode.tool import Preview, Question


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session is open: new, resumed or forked."""

    session_id: str
    source: str
    """`startup`, `resume`, `clear` or `fork`."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn begins: the user's message is recorded."""

    turn: int
    """From 1, counted over the session."""
    text: str
    """What the user sent."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """A turn has ended, for whatever reason."""

    turn: int
    reason: str
    """`end`, `interrupted`, `error`, `limit`, `budget`, `refusal` or `stopped` (by a hook)."""
    text: str = ""
    """The model's last words, or what the user must know of the error."""
    requests: int = 0
    """Round trips of this turn."""


@dataclass(frozen=True, slots=True)
class RequestStarted:
    """A request goes to the model: one round trip begins."""

    turn: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text, as it streams in."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking, as it streams in."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerSuperseded:
    """The answer broke off and is requested again: discard what was shown of it since RequestStarted."""

    problem: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's message is complete, or as complete as it will get."""

    message: JsonObject
    """Messages-API shape: id, role, model, content, stop_reason, usage."""
    complete: bool = True
    """False where the stream was cut, refused or failed: no call of it runs."""
    parent: str | None = None
    """Id of the call whose sub-agent gave the message; None in the session's own conversation."""

    @property
    def begun(self) -> bool:
        """False where the request failed before anything of an answer came."""
        return bool(self.message.get("content"))


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is admitted and shown; it may still be asked about or denied."""

    call: Call
    preview: Preview
    source: str = "core"
    """As `Tool.source`."""


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A running call reports progress, in one short line."""

    call_id: str
    line: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has ended: it ran, failed, was refused, denied or cancelled."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ApprovalChoice:
    """One numbered answer to an approval."""

    key: str
    """`once`, `session`, `always` or `deny`; inside programs also `program` and `stop`."""
    label: str
    """The words shown, with the exact rule where one would be made."""
    rule: str | None = None
    """The rule that the choice would add."""
    destination: str | None = None
    """Where the rule would be kept: `program`, `session`, `local` or the path of a settings file."""


@dataclass(frozen=True, slots=True)
class ApprovalPart:
    """One command of a line that waits for the user."""

    text: str
    allowed: bool
    """True where this part alone would not be asked about."""
    why: str
    """Which rule, list or mode allows it, or what would be needed. Without a full stop."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for the user."""

    approval_id: str
    call: Call
    preview: Preview
    reason: str
    """Why it is asked: the rule, the mode or the check, with its object."""
    choices: tuple[ApprovalChoice, ...]
    directory: str = ""
    """The directory the call would run in."""
    site: CallSite | None = None
    """Where in a program the call was made; None for one that no program made."""
    digest: str = ""
    """SHA-256 of tool and final arguments: what exactly is decided on."""
    parts: tuple[ApprovalPart, ...] = ()
    """The commands of a line that has several and could be read; empty for any other call."""
    sandbox: str = ""
    """The sandbox that the command will run in, described; empty without one, and for other tools."""
    agent: str = ""
    """Kind of the sub-agent that makes the call; empty where none does."""


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """A call waits for the user no longer."""

    approval_id: str
    choice: str
    """Key of the choice; `batch` with others, `rule` where a later answer covers it, or `withdrawn`."""
    decided_by: str
    """`user`, or the tool that answers in their place; if withdrawn, `interrupt` or what else ended it."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A tool asks the user something; answered like an approval, by the same desk."""

    question_id: str
    call: Call
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class QuestionResolved:
    """A tool's question waits for the user no longer."""

    question_id: str
    answered: bool
    """False where it was declined or withdrawn."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The conversation was compacted: results were moved to files, or a summary replaced old messages."""

    trigger: str
    """`auto`, `manual`, or `overflow` where the endpoint refused a request as too long."""
    before: int
    """Tokens of the next request before, as far as they are known."""
    after: int
    dropped: int = 0
    """Number of results that were moved to files."""
    summary: str = ""
    """The model's summary; empty where dropping results was enough."""


@dataclass(frozen=True, slots=True)
class HookStarted:
    """A hook begins to run."""

    hook_id: str
    event: str
    name: str
    status: str = ""
    """What the user has set to be shown while it runs (`statusMessage`), masked; empty for nothing."""


@dataclass(frozen=True, slots=True)
class HookRan:
    """A hook has ended."""

    hook_id: str
    event: str
    name: str
    """The command, masked and shortened."""
    outcome: str
    """`success`, `blocked`, `failed` or `cancelled`."""
    call_id: str | None = None
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0
    """Seconds."""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request failed and will be sent again unless the user stops it."""

    attempt: int
    """The try that comes next, from 2."""
    limit: int
    delay: float
    """Seconds until then."""
    reason: str
    status: int | None = None
    kind: str = ""
    """`error.type` of the provider, or the exception's class."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Figures of the last request; the meter and /context show these."""

    definitions: int
    """Tokens of tool definitions."""
    system: int
    messages: int
    """Tokens of the conversation without tool results."""
    results: int
    """Tokens of tool results."""
    window: int
    """Tokens that the model's window holds."""
    input_tokens: int = 0
    """Reported by the provider for the whole input, caches included; 0 until an answer came."""
    output_tokens: int = 0
    cache_read: int = 0
    cache_written: int = 0
    cost: float | None = None
    """US dollars of the session so far; None where no prices are set."""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """Another permission mode is in force."""

    mode: str
    """Its name, as `permissions.modes.Mode` has it."""


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers from the next request on."""

    model: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The queue of messages has grown or shrunk."""

    waiting: tuple[str, ...]
    """Messages that the user sent while a turn runs, the next one first."""


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The model has written its list of tasks anew."""

    todos: tuple[JsonObject, ...]
    """All tasks, in the shape of TodoWrite's argument: `content`, `status`, perhaps `activeForm`."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the user should know. Shown once; never a substitute for a result."""

    text: str
    severity: str = "info"
    """`info`, `warning` or `error`."""


@dataclass(frozen=True, slots=True)
class StatusText:
    """The user's own status line has changed."""

    text: str
    """Up to three clean lines; empty where there is nothing to show."""


Event: TypeAlias = (
    SessionStarted
    | TurnStarted
    | TurnFinished
    | RequestStarted
    | TextDelta
    | ThinkingDelta
    | AnswerSuperseded
    | AssistantMessage
    | Compacted
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | QuestionAsked
    | QuestionResolved
    | HookStarted
    | HookRan
    | RetryScheduled
    | Ledger
    | ModeChanged
    | ModelChanged
    | QueueChanged
    | TodosChanged
    | StatusText
    | Notice
)


class EventBus:
    """Hands every event to every subscriber, in order, at once."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[Event], None]] = []

    def subscribe(self, receive: Callable[[Event], None]) -> Callable[[], None]:
        """Call `receive` with every later event; returns a function that ends it."""
        self._subscribers.append(receive)
        return lambda: self._subscribers.remove(receive)

    def emit(self, event: Event) -> None:
        """Hand an event out. A subscriber must return quickly and must not raise."""
        for receive in tuple(self._subscribers):
            receive(event)
