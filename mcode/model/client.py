"""What the agent needs of a model's endpoint, and how an endpoint says that it failed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from mcode.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcode.jsontext import JsonObject


class FailureClass(StrEnum):
    """What can be done about a failure."""

    RETRY = "retry"
    """Send the same request again, later."""
    COMPACT = "compact"
    """The conversation does not fit: make it shorter, then go on."""
    REPAIR = "repair"
    """The endpoint names something in the request that it does not take: change that and send once more."""
    STOP = "stop"
    """Sending again would not help; the text says what to change."""
    CUT = "cut"
    """The stream broke off or broke the protocol after it had begun."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no message."""

    kind: FailureClass
    message: str
    """For the user: what failed, where, why, what is unchanged, what to do next. Holds no secret."""
    status: int | None = None
    """HTTP status; 200 for an error inside a stream; None where no answer came."""
    type: str = ""
    """`error.type` of the endpoint, else a word of ours such as `connection` or `timeout`."""
    retry_after: float | None = None
    """Seconds that the endpoint asks to wait."""
    subject: str = ""
    """With REPAIR, what the endpoint refuses: `image` (one of them), `images` (all), `calls`, `thinking`, `thought`
    (calls that it finds no thinking before) or `field`."""


class ModelFailure(EndpointError):  # noqa: N818 -- the word that the other rooms use
    """A request failed; `failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that an endpoint offers."""

    id: str
    window: int | None = None
    """Tokens that input and output may have together; None where the endpoint does not say."""
    max_tokens: int | None = None
    """Tokens that one answer may have; None where the endpoint does not say."""
    display_name: str = ""
    """What the endpoint calls it for people; may be empty."""


class ModelClient(Protocol):
    """An endpoint of the Messages protocol."""

    @property
    def name(self) -> str:
        """Where requests go, for display: host, port and path."""
        ...

    def stream(self, body: JsonObject) -> AsyncIterator[JsonObject]:
        """Send a body and yield the raw events of the answer, pings and unknown ones too.

        Raises ModelFailure. Cancelling the reading task, or closing the iterator, drops the connection.
        """
        ...

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the endpoint offers, in its own order. Raises ModelFailure."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
