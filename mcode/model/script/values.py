"""What a script says: turns, when each of them is chosen, and what it replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from mcode.errors import UsageError
from mcode.jsontext import JsonObject, JsonValue
from mcode.model.script.view import object_of

if TYPE_CHECKING:
    import re

    from mcode.model.script.view import RequestView


class ScriptError(UsageError):
    """A script is wrong, or a request came that it has no turn for. Says script, turn and key."""


SHAPES = ("anthropic", "llama.cpp", "html", "empty")
"""How an error's body may look: Anthropic's envelope, llama.cpp's, an HTML page, or nothing at all."""

TYPE_OF_STATUS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The `error.type` that goes with an HTTP status."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """A reply that is an error, before the stream or inside it."""

    status: int = 500
    """HTTP status; inside a stream it only chooses the default type."""
    type: str = ""
    """`error.type`; empty: the one that goes with the status."""
    message: str = "scripted error"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Response headers, sent as they are: `retry-after`, `x-should-retry`."""
    retry_date: float | None = None
    """Seconds from now that a `retry-after` header names as an HTTP date."""
    shape: str = "anthropic"
    """One of SHAPES."""
    details: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Further fields of the error object, such as llama.cpp's `n_ctx`."""
    after_events: int | None = None
    """None: an HTTP error. N: the stream begins with status 200 and the error follows N events."""

    def __post_init__(self) -> None:
        """Raise ScriptError for an error that could not be sent."""
        if self.shape not in SHAPES:
            raise ScriptError(f"error: `shape` must be one of {', '.join(SHAPES)}, not {self.shape!r}")
        if not 400 <= self.status <= 599:
            raise ScriptError(f"error: `status` must be 400 to 599, not {self.status}")

    @property
    def kind(self) -> str:
        """The `error.type` that is sent."""
        return self.type or TYPE_OF_STATUS.get(self.status, "api_error")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers to one request."""

    blocks: tuple[JsonObject, ...] = ()
    """Messages-shaped content blocks. A `tool_use` may leave out `id`, a `thinking` its `signature`; both are
    then made from the request. `raw_input` in place of `input` is sent as it is, whether it is JSON or not.
    A block of unknown type is sent verbatim."""
    stop_reason: str | None = None
    """None: `tool_use` where a block is one, else `end_turn`."""
    stop_sequence: str | None = None
    stop_details: JsonObject | None = None
    usage: JsonObject = field(default_factory=dict[str, JsonValue])
    """Overrides single figures of the computed usage; null leaves that figure out."""
    error: ErrorReply | None = None
    faults: tuple[str, ...] = ()
    """Named faults of the loopback server, each `name` or `name:argument`."""
    delay: float = 0.0
    """Seconds before anything is sent."""
    pace: float = 0.0
    """Seconds between two deltas."""
    chunk: int | None = None
    """Characters a delta; None: varied lengths that split inside words, strings and escapes."""

    def __post_init__(self) -> None:
        """Raise ScriptError for a block that could not be sent."""
        for number, block in enumerate(self.blocks, start=1):
            problem = _problem_of(block)
            if problem:
                raise ScriptError(f"block {number}: {problem}")
        if min(self.delay, self.pace) < 0 or (self.chunk is not None and self.chunk < 1):
            raise ScriptError("`delay` and `pace` must be 0 or more, `chunk` 1 or more")


Replier: TypeAlias = Callable[["RequestView"], Reply]
"""A reply worked out from the request; only for scripts built in Python."""


@dataclass(frozen=True, slots=True)
class ResultMatch:
    """What one of the newest tool results must say, all of it together."""

    contains: str | None = None
    matches: re.Pattern[str] | None = None
    """Searched in the result's text; its named groups can be used in the reply."""
    is_error: bool | None = None
    tool: str | None = None
    """Name of the tool that was called."""


@dataclass(frozen=True, slots=True)
class When:
    """A turn's predicate; everything that is given must hold."""

    user: re.Pattern[str] | None = None
    """Searched in the last text of the user. Alone it holds only where that text is new in this request;
    together with `result` the text may stand before the calls."""
    result: ResultMatch | None = None
    """Holds where a result that is new in this request fits."""
    least_requests: int | None = None
    """Smallest number of the request, from 1, over the life of the script."""
    most_requests: int | None = None
    declares: tuple[str, ...] = ()
    """Tools that the request must declare."""
    lacks: tuple[str, ...] = ()
    """Tools that the request must not declare."""
    check: Callable[[RequestView], bool] | None = None
    """Any other condition; only for scripts built in Python."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply and when it is given."""

    reply: Reply | Replier
    when: When | None = None
    """None: the turn is given in its order, once no turn with a predicate fits."""
    name: str = ""
    """For messages and request logs."""
    limit: int | None = None
    """How often the turn may be given. None: once without a predicate, without end with one."""

    @property
    def uses(self) -> float:
        """How often the turn may be given."""
        if self.limit is not None:
            return self.limit
        return 1 if self.when is None else float("inf")


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted model.

    For each request the turns with a predicate are looked at first, from the top; where none fits, the first
    turn without one that is not used up is given; then the fallback. Without a fallback that is an error.
    """

    turns: tuple[Turn, ...] = ()
    fallback: Reply | Replier | None = None
    name: str = "script"
    """Where the script came from, for messages: a path, or a word."""


def text(words: str) -> JsonObject:
    """A text block."""
    return {"type": "text", "text": words}


def thinking(words: str, signature: str | None = None) -> JsonObject:
    """A thinking block; without a signature it gets the one that belongs to its words."""
    block: JsonObject = {"type": "thinking", "thinking": words}
    return block if signature is None else {**block, "signature": signature}


def use(tool: str, arguments: JsonObject | None = None, identifier: str | None = None) -> JsonObject:
    """A tool_use block; without an identifier it gets a fresh one."""
    block: JsonObject = {"type": "tool_use", "name": tool, "input": arguments or {}}
    return block if identifier is None else {**block, "id": identifier}


def raw_use(tool: str, raw_input: str, identifier: str | None = None) -> JsonObject:
    """A tool_use block whose input is sent as this text, which need not be JSON."""
    block: JsonObject = {"type": "tool_use", "name": tool, "raw_input": raw_input}
    return block if identifier is None else {**block, "id": identifier}


def reply(*parts: str | JsonObject, **options: JsonValue) -> Reply:
    """A reply of texts and blocks, in order; `options` are fields of Reply."""
    return Reply(blocks=tuple(text(part) if isinstance(part, str) else part for part in parts), **options)


def script_of(
    *turns: str | JsonObject | Reply | Replier | Turn,
    fallback: str | Reply | Replier | None = None,
    name: str = "script",
) -> Script:
    """A script of turns in order; a text or a block stands for a reply of just that."""
    return Script(
        turns=tuple(_turn(turn) for turn in turns),
        fallback=reply(fallback) if isinstance(fallback, str) else fallback,
        name=name,
    )


def _turn(given: str | JsonObject | Reply | Replier | Turn) -> Turn:
    if isinstance(given, Turn):
        return given
    if isinstance(given, str):
        return Turn(reply(given))
    return Turn(Reply((object_of(given),)) if isinstance(given, dict) else given)


_NEEDED_TEXTS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    "tool_use": ("name",),
}


def _problem_of(given: JsonValue) -> str:
    """Why a block cannot be sent, or nothing."""
    block = object_of(given)
    kind: JsonValue = block.get("type")
    if not isinstance(kind, str):
        return "must be an object with a `type`"
    for key in _NEEDED_TEXTS.get(kind, ()):
        if not isinstance(block.get(key), str):
            return f"a {kind} block needs the text `{key}`"
    if kind != "tool_use":
        return ""
    if "raw_input" in block:
        return "`input` and `raw_input` exclude each other" if "input" in block else ""
    return "" if isinstance(block.get("input", {}), dict) else "`input` must be an object; see `raw_input`"
