"""What commands and front ends need of the agent and its surroundings; `wiring` fills it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from mcode.agent.meter import Totals
    from mcode.agent.pasted import PastedImages
    from mcode.agent.request_body import Bodies
    from mcode.agent.rewinding import Rewinding
    from mcode.agent.room import RoomMaker
    from mcode.agent.skills import Skills
    from mcode.agent.style import Style
    from mcode.agent.subagents import Subagents
    from mcode.builtins.jobs import Jobs
    from mcode.call import Outcome
    from mcode.catalog.shelf import Shelf
    from mcode.commands.registry import Registry
    from mcode.config.memory import MemoryFile
    from mcode.config.places import Places
    from mcode.config.settings import Problem, Settings
    from mcode.config.trust import Item
    from mcode.events import ApprovalRequested, Event, EventBus, Ledger, QuestionAsked, TurnFinished
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.masking import Masker
    from mcode.model.client import ModelInfo
    from mcode.permissions.decide import Policy
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.programs import ProgramsControl
    from mcode.session.records import Record
    from mcode.session.store import SessionInfo
    from mcode.tool import Tool, Workspace


class Tools(Protocol):
    """The catalogue, as commands read it."""

    def __iter__(self) -> Iterator[Tool]: ...

    def find(self, name: str) -> Tool | None:
        """The tool of this name; other spellings are forgiven where only one tool fits."""
        ...

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Names most like `name`, the best first."""
        ...


class QuestionDesk(Protocol):
    """Where approvals and questions wait for an answer."""

    @property
    def waiting(self) -> tuple[ApprovalRequested | QuestionAsked, ...]:
        """What waits, oldest first."""
        ...

    def attach(self) -> Callable[[], None]:
        """Say that somebody answers from now on; returns the function that ends it."""
        ...

    def decide(self, approval_id: str, choice: str, comment: str = "", *, by: str = ...) -> bool:
        """Answer an approval by the key of a choice; False where it no longer waits, or has no such choice.

        `by`: who answers, where it is not the user.
        """
        ...

    def batch_of(self, approval_id: str) -> tuple[ApprovalRequested, ...]:
        """The approvals that may be allowed together with this one, itself included; empty where there are none."""
        ...

    def allow_batch(self, requests: Sequence[ApprovalRequested]) -> int:
        """Allow exactly these, once each; returns how many still waited."""
        ...

    def answer(self, question_id: str, answers: tuple[tuple[str, ...], ...] | None) -> bool:
        """Answer a tool's questions, or decline with None; False where they no longer wait."""
        ...


class SentPrefix(Protocol):
    """What stands in front of the messages in every request."""

    @property
    def system(self) -> JsonValue:
        """The system prompt, as text or blocks."""
        ...

    @property
    def tools(self) -> tuple[JsonObject, ...]:
        """Definitions as they are sent."""
        ...


class Requests(Protocol):
    """The builder of requests, as inspectors look at it."""

    def definitions(self) -> tuple[JsonObject, ...]:
        """Definitions of the tools that the model sees from the start, where no request has been sent yet."""
        ...

    def resident(self) -> tuple[Tool, ...]:
        """Those tools themselves."""
        ...

    def preview(self, model: str) -> SentPrefix:
        """The prefix as the next request would have it; nothing is frozen by looking."""
        ...

    @property
    def shelf(self) -> Shelf:
        """The session's tools, with where each sits and which are loaded."""
        ...

    @property
    def bodies(self) -> tuple[JsonObject, ...]:
        """The last two bodies that were sent, the newer one last."""
        ...

    @property
    def made(self) -> Bodies:
        """What makes the bodies of this conversation."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that an answer may have."""
        ...

    def load_for_user(self, tool: Tool) -> None:
        """Show a deferred tool to the model with the next request."""
        ...


class Measures(Protocol):
    """The meter, as inspectors look at it."""

    window: int
    """Tokens that the model's window holds."""

    totals: Totals
    """Sums over what was sent since the session was opened here."""

    waited: float
    """Seconds spent waiting for the model."""


class JournalFile(Protocol):
    """The session's file."""

    @property
    def path(self) -> Path: ...

    @property
    def records(self) -> Sequence[Record]:
        """All that could be read of it, and all that was written since."""
        ...


class OldContents(Protocol):
    """What files held before mcode's tools changed them."""

    def read(self, content: str) -> bytes:
        """The content of that hash; raises StorageError."""
        ...


class Session(Protocol):
    """The open session, as commands show it."""

    @property
    def undo(self) -> OldContents: ...

    @property
    def id(self) -> str: ...

    @property
    def journal(self) -> JournalFile: ...

    @property
    def directory(self) -> Path:
        """For side files of the session."""
        ...


class Conversation(Protocol):
    """The agent, as commands and front ends use it."""

    @property
    def events(self) -> EventBus: ...

    @property
    def desk(self) -> QuestionDesk: ...

    @property
    def policy(self) -> Policy: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def workspace(self) -> Workspace: ...

    @property
    def hooks(self) -> HookRunner: ...

    @property
    def meter(self) -> Measures: ...

    @property
    def catalog(self) -> Tools: ...

    @property
    def builder(self) -> Requests: ...

    @property
    def session(self) -> Session: ...

    @property
    def jobs(self) -> Jobs:
        """Commands that run in the background."""
        ...

    @property
    def pasted(self) -> PastedImages:
        """Images that were pasted into messages."""
        ...

    @property
    def room(self) -> RoomMaker:
        """What makes room in the window."""
        ...

    @property
    def skills(self) -> Skills:
        """What can be invoked by name beside mcode's own commands."""
        ...

    @property
    def subagents(self) -> Subagents:
        """The kinds of sub-agents, and those that run."""
        ...

    @property
    def style(self) -> Style:
        """The output style."""
        ...

    @property
    def rewinding(self) -> Rewinding:
        """The way back to the moment before a message."""
        ...

    @property
    def programs(self) -> ProgramsControl: ...

    @property
    def name(self) -> str:
        """The session's name; empty where it has none."""
        ...

    @property
    def mode(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def ledger(self) -> Ledger | None:
        """Figures of the last request; None until one was sent."""
        ...

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        ...

    async def start(self, source: str) -> None:
        """Begin: the session's start hooks run and SessionStarted is emitted."""
        ...

    async def submit(self, text: str) -> TurnFinished:
        """Run one turn with the user's message and return when it has ended."""
        ...

    def queue(self, text: str, *, typed: bool = True) -> Awaitable[TurnFinished]:
        """Send a message when the present turn allows it; files named with `@` are read only where it was typed."""
        ...

    def take_back(self) -> str | None:
        """Take the last queued message out of the queue."""
        ...

    def interrupt(self) -> bool:
        """Stop the present turn; False where none runs."""
        ...

    async def shell(self, command: str) -> Outcome:
        """Run the user's own shell command."""
        ...

    async def close(self, reason: str) -> None:
        """End the session's hooks, calls and files."""
        ...

    def transcript(self) -> Sequence[Event]:
        """What a front end has to show of the conversation so far, as the events that first showed it."""
        ...

    def set_model(self, name: str) -> None:
        """Use another model from the next request on; raises UsageError."""
        ...

    def set_mode(self, mode: str) -> None:
        """Change the permission mode; raises UsageError where it may not be entered."""
        ...

    def rename(self, name: str) -> None:
        """Give the session a name."""
        ...


class TrustControl(Protocol):
    """What this folder may grant itself, for /trust. Facts of items are masked."""

    def page(self) -> str:
        """Everything that waits for the user's word; empty where nothing does."""
        ...

    def waiting(self) -> Sequence[Item]: ...

    def granted(self) -> Sequence[Item]: ...

    def refused(self) -> Sequence[Item]: ...

    async def answer(self, answer: str) -> str:
        """`trust` or `never`, for all that waits; returns what came of it."""
        ...

    async def forget(self) -> str:
        """Take back every answer about this folder."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What commands need beside the conversation."""

    version: str
    places: Places
    endpoint: str
    """Where requests go, for display."""
    credential: str
    """Where the key came from, for display; never the key. `none` where there is no key."""
    memory: Callable[[], Sequence[MemoryFile]]
    """The instruction files that were read at the start."""
    sessions: Callable[[], Sequence[SessionInfo]]
    """Earlier sessions of this folder, newest first."""
    resolve: Callable[[str], str]
    """The id of the session of this folder that an id, the beginning of one, or a name means; raises UsageError."""
    models: Callable[[], Awaitable[Sequence[ModelInfo]]]
    """The models that the endpoint offers; raises EndpointError."""
    masker: Masker
    """Replaces secrets in text that leaves the session."""
    looked_at: Sequence[tuple[str, str]] = ()
    """Where a key was looked for in vain, and what was there; empty where one is there, or none is needed."""
    trust: TrustControl | None = None
    """None where there is no folder to trust."""
    problems: Callable[[], Sequence[Problem]] = tuple
    """What is wrong with files of servers, and with the store of the user's answers."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Everything a command may use."""

    agent: Conversation
    around: Surroundings
    registry: Registry
