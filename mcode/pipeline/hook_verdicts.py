"""The combined answers of all hooks at each point of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mcode.pipeline.hook_reply import UNCHANGED, Unchanged

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class BeforeCall:
    """What the hooks say of a call that is about to be judged."""

    behavior: Literal["allow", "ask", "deny"] | None = None
    """None: they have no opinion. `allow` skips only the question; deny and ask rules still count."""
    reason: str = ""
    """For the model with `deny`, else for the user."""
    arguments: JsonObject | None = None
    """The whole new input; None where it stays."""
    notes: tuple[str, ...] = ()
    """For the model, whatever comes of the call."""
    stop: str | None = None
    """The turn ends, with this reason; `behavior` is `deny` then."""
    name: str = ""
    """The hook whose behavior it is."""

    @property
    def said(self) -> tuple[str, ...]:
        """In words, for the record; empty where they had no opinion."""
        opinion = (f"PreToolUse {self.name}: {self.behavior}",) if self.behavior else ()
        return (*opinion, *(("PreToolUse: other arguments",) if self.arguments is not None else ()))


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """A hook's answer to a question that the user would have been asked."""

    behavior: Literal["allow", "deny"]
    message: str = ""
    arguments: JsonObject | None = None
    updated_permissions: list[JsonObject] = field(default_factory=list[dict[str, Any]])
    """Changes of the rules that it wants with its answer."""
    interrupt: bool = False
    """With `deny`: the turn ends as well."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class AfterCall:
    """What the hooks say of a call that has run."""

    feedback: tuple[str, ...] = ()
    """Objections for the model."""
    replaced: JsonValue | Unchanged = UNCHANGED
    """The result to put in place of the tool's."""
    notes: tuple[str, ...] = ()
    stop: str | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """In words, for the record."""
        replaced = ("PostToolUse: another result",) if self.replaced is not UNCHANGED else ()
        return (*replaced, *(f"PostToolUse: objects: {each}" for each in self.feedback))


@dataclass(frozen=True, slots=True)
class PromptVerdict:
    """What the hooks say of a message that the user sends."""

    blocked: str | None = None
    """Why the message is dropped; for the user."""
    notes: tuple[str, ...] = ()
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the hooks give a session that starts."""

    notes: tuple[str, ...] = ()
    title: str = ""
    initial_message: str = ""
    """A user's message to begin with, where no user is there."""
    stop: str | None = None
    """Why a hook would have the session end; there is no turn yet to stop, so the user is told."""


@dataclass(frozen=True, slots=True)
class StopVerdict:
    """What the hooks say of a turn that would end. How often they may is the caller's to count."""

    reason_to_continue: str | None = None
    """An instruction with which the model goes on."""
    stop: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reaction:
    """What the hooks say at a point that has no method of its own."""

    blocked: str | None = None
    notes: tuple[str, ...] = ()
    stop: str | None = None


NO_OPINION = BeforeCall()
NOTHING_TO_ADD = AfterCall()
