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
    turn: int
    """From 1, counted over the session."""
    text: str
    """What the user sent."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    turn: int
    reason: str
    """`end`, `interrupted`, `error`, `limit`, `refusal` or `stopped` (by a hook)."""
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
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True)
class AnswerSuperseded:
    """The answer broke off and is asked for once more: what was shown of it since RequestStarted is void."""

    problem: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's message is complete, or as complete as it will get."""

    message: JsonObject
    """Messages-API shape: id, role, model, content, stop_reason, usage."""
    complete: bool = True
    """False where the stream was cut, refused or failed: no call of it runs."""
    parent: str | None = None

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


@dataclass(frozen=True, slots=True)
class ToolProgress:
    call_id: str
    line: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
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
    """Which rule, list or mode lets it run, or what is missing. No full stop."""


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
    """What confines the command when it runs; empty for none, and for other tools."""
    agent: str = ""
    """Kind of the sub-agent that makes the call; empty where none does."""


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    approval_id: str
    choice: str
    """Key of the choice; `batch` with others, `rule` where a later answer covers it, or `withdrawn`."""
    decided_by: str
    """`user`, or the tool that answers in their place; of a withdrawn one `interrupt`, or what else has ended it."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A tool asks the user something; answered like an approval, by the same desk."""

    question_id: str
    call: Call
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class QuestionResolved:
    question_id: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Compacted:
    """Room was made in the window: results went to files, or a summary stands for what is old."""

    trigger: str
    """`auto`, `manual`, or `overflow` where the endpoint refused a request as too long."""
    before: int
    """Tokens of the next request before, as far as they are known."""
    after: int
    dropped: int = 0
    """Results that went to files."""
    summary: str = ""
    """The model's summary; empty where dropping results was enough."""


@dataclass(frozen=True, slots=True)
class HookStarted:
    hook_id: str
    event: str
    name: str
    status: str = ""
    """The words of the user's for the time it runs (`statusMessage`), masked; empty for none."""


@dataclass(frozen=True, slots=True)
class HookRan:
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
    mode: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    model: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    waiting: tuple[str, ...]
    """Messages that the user sent while a turn runs."""


@dataclass(frozen=True, slots=True)
class TodosChanged:
    todos: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know. Said once, never a substitute for a result."""

    text: str
    severity: str = "info"
    """`info`, `warning` or `error`."""


@dataclass(frozen=True, slots=True)
class StatusText:
    """The user's own status line says something else."""

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
