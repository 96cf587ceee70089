"""What a tool is: a name, a schema, declared effects, a body, and how its use is shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Call, FailureKind
    from mcode.images.picture import Picture
    from mcode.jsontext import JsonObject, JsonValue


def object_schema(properties: JsonObject, *, required: Sequence[str] = ()) -> JsonObject:
    """The JSON Schema of an object with these properties and no others, as `Tool.input_schema` wants it.

    `required` names the properties that must be given.
    """
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


class Effect(StrEnum):
    """What running a tool can do. A tool with none of these only reads inside the agent's own memory."""

    READS_FILES = "reads files"
    WRITES_FILES = "writes files"
    RUNS_COMMANDS = "runs commands"
    NETWORK = "uses the network"
    ASKS_USER = "asks the user"
    CHANGES_SESSION = "changes the session"


HARMLESS = frozenset({Effect.READS_FILES, Effect.ASKS_USER, Effect.CHANGES_SESSION})
"""Effects that change nothing outside the session: the journal is not synced to disk before such a call."""


class Placement(StrEnum):
    """Where a tool's definition is sent, and who may call the tool; see `catalog/placement.py`."""

    RESIDENT = "resident"
    DEFERRED = "deferred"
    PROGRAM_ONLY = "program-only"
    TOP_LEVEL_ONLY = "top-level-only"


@dataclass(frozen=True, slots=True)
class Access:
    """What one call would read, change, run or contact. Permissions judge this, not only the tool's name."""

    reads: tuple[Path, ...] = ()
    """Absolute, unresolved paths whose content or names the call shows."""
    writes: tuple[Path, ...] = ()
    """Absolute, unresolved paths that the call creates, changes or removes."""
    command: str | None = None
    """The shell line, exactly as it would run."""
    domain: str | None = None
    """The host that the call would contact."""


@dataclass(frozen=True, slots=True)
class Preview:
    """How a call is shown before it runs: on its card, and in full where the user is asked."""

    title: str
    """One line: what and on which object, such as `src/cli.py` or `pytest -q`."""
    body: str = ""
    """Everything that the user decides on: the whole command, the whole content, the arguments. Never cut."""
    diff: str | None = None
    """Unified diff of the file change that the call would make."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool's body returns. A failure is returned as well, never raised."""

    text: str
    """For the model, whole; `fit` cuts it."""
    data: JsonValue = None
    """Structured result, in the shape that the tool documents."""
    failure: FailureKind | None = None
    """None where the call succeeded."""
    summary: str = ""
    """One short line for the screen."""
    diff: str | None = None
    """Unified diff of the file that the call has changed, for the screen."""
    notes: tuple[str, ...] = ()
    """Sentences that the model must see whatever is cut."""
    spill: Path | None = None
    """File that already holds the whole output, where the tool wrote one."""
    images: tuple[Picture, ...] = ()
    """Images for the model, beside the text. A program never gets them."""
    stop_turn: str | None = None
    """Why the turn must end with this call: the reason given by a hook that ran inside of it."""
    goes_on: bool = False
    """True where the body keeps working after the call has returned: its result is recorded and reported later."""


@dataclass(slots=True)
class Workspace:
    """The directories that the session works in."""

    start: Path
    """The directory where mcode was started: absolute and resolved."""
    additional: tuple[Path, ...] = ()
    """Further working directories: absolute and resolved."""
    current: Path = field(default_factory=Path)
    """The shell's directory; changed by Bash, always inside the workspace."""
    home: Path = field(default_factory=Path.home)
    tree: Path | None = None
    """Root of the git worktree that was made for a sub-agent: absolute and resolved; None without one."""
    origin: Path | None = None
    """Root of the work tree that `tree` was made from."""

    def __post_init__(self) -> None:
        if self.current == Path():
            self.current = self.start

    @property
    def roots(self) -> tuple[Path, ...]:
        """All working directories, the start directory first."""
        return (self.start, *self.additional)

    def twin(self, path: str) -> str | None:
        """The same path in the work tree that `tree` was made from; None for a path outside of `tree`."""
        if self.tree is None or not f"{path}/".startswith(f"{self.tree}/"):
            return None
        return f"{self.origin}{path[len(str(self.tree)) :]}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that the user can pick in a tool's question."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a tool to the user (not an approval)."""

    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    several: bool = False
    """True where more than one choice may be picked."""
    markdown: bool = False
    """True where the text is Markdown."""


class ToolServices(Protocol):
    """What a running body may use beside its arguments; `pipeline/execute.py` provides it."""

    @property
    def call(self) -> Call:
        """The call that runs."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The directories that the session works in."""
        ...

    def progress(self, line: str) -> None:
        """Show a short line on the call's card while it runs."""
        ...

    def spill_path(self, suffix: str) -> Path:
        """A fresh private file path in the session's directory for output too large for the model."""
        ...

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        """Store what `path` held (None: absent) so that the change can be undone; call it before changing.

        Raises StorageError when it cannot be kept; the change must then not be made.
        """
        ...

    async def note_left(self, path: Path, new: bytes) -> None:
        """Record what the change left in `path`, so that undo can detect later changes by others."""
        ...

    async def ask(self, questions: Sequence[Question]) -> tuple[tuple[str, ...], ...] | None:
        """Ask the user; a tuple of answers a question, or None where nobody can be asked or they declined."""
        ...


class Tool(ABC):
    """Something the model can call."""

    name: str
    """Canonical name, as rules, hooks and transcripts spell it."""
    description: str
    """What, when, what it returns: sent to the model with every request."""
    input_schema: JsonObject
    """JSON Schema of the arguments; always an object schema."""
    title: str = ""
    """A name for people, where the source gives one; untrusted text for MCP tools."""
    output_schema: JsonObject | None = None
    """JSON Schema of the structured result, where the source gives one; shown as the return type."""
    input_examples: tuple[JsonObject, ...] = ()
    """Realistic arguments, each valid against `input_schema`; sent only with a definition that is in the context."""
    effects: frozenset[Effect] = frozenset()
    placement: Placement = Placement.RESIDENT
    seldom: bool = False
    """Rarely used: the definition of a top-level-only tool is deferred where the session has a tool search."""
    source: str = "core"
    """`core` for built-ins, else the MCP server's name."""
    timeout: float | None = None
    """Seconds after which `execute` cancels the body; None where the body has a limit of its own."""
    output_limit: int = 100_000
    """Characters of text that the model gets at most; `fit` cuts the rest."""
    always_asks: str = ""
    """Why the user must approve every single call, whatever rules, hooks and modes say; empty if not."""
    must_ask: str = ""
    """Why earlier permissions do not cover the tool as it is now, so that the user is asked again; empty if they do."""

    @property
    def read_only(self) -> bool:
        """True where running the tool changes nothing outside the session and contacts nobody."""
        return self.effects <= HARMLESS

    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        """What a call with these validated arguments would touch. Must not open or change any file."""
        del arguments, workspace
        return Access()

    def normalise(self, arguments: JsonObject, workspace: Workspace) -> JsonObject:
        """Arguments as hooks and rules see them: paths made absolute. Raises ValueError with the reason."""
        del workspace
        return arguments

    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        """How the call is shown before it runs. Never fails for a file that cannot be read."""
        del workspace
        return Preview(title=", ".join(f"{key}={value}" for key, value in arguments.items())[:200])

    async def objection(self, arguments: JsonObject, workspace: Workspace) -> str | None:
        """Why the call would fail anyway, so that the user is not asked about it in vain; None otherwise.

        The model gets this text before the call is permitted: it must not reveal the content of any file.
        """
        del arguments, workspace
        return None

    @abstractmethod
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Run the call. Called by `pipeline/execute.py` only.

        The arguments are valid by `input_schema` and normalised. Cancellation must leave nothing running. An
        McodeError that is raised becomes a failed call with its text; any other exception counts as a bug.
        """
