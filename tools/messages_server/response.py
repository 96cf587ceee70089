"""What the server sends back: a status, headers, and a body that is bytes or a list of steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from mcode.jsontext import JsonObject, dump


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes of the body, written at once as one chunk."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence, ended early where the client leaves."""

    seconds: float
    ping: bytes = b""
    """Sent again and again meanwhile; empty: nothing is."""
    ping_every: float = 0.1


class End(Enum):
    """How a response ends, and what becomes of its connection."""

    CLEAN = "the body ends as HTTP wants it; the connection stays open"
    CLOSE = "the body ends as HTTP wants it; the connection is closed at once, unannounced"
    CUT = "the connection is closed before the body has ended"
    RESET = "the connection is reset before the body has ended"
    RESET_NEXT = "the body ends as HTTP wants it; the connection is reset when the next request comes on it"


Step: TypeAlias = Send | Pause


@dataclass(frozen=True, slots=True)
class Response:
    """One answer of the server."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    """Sent whole with a content-length, where `steps` is None."""
    steps: tuple[Step, ...] | None = None
    """Sent as chunks, one after the other."""
    end: End = End.CLEAN
    packet: int | None = None
    """Bytes a write to the socket; None: as the steps fall."""
    headless: bool = False
    """True: not even the status line is sent; only `end` happens."""
    deaf: float | None = None
    """Seconds that the server refuses new connections after this answer."""
    delay: float = 0.0
    """Seconds before the first byte."""


def json_response(value: JsonObject, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A response of one JSON object."""
    return Response(
        status,
        {"content-type": "application/json", **(headers or {})},
        dump(value).encode("utf-8", "replace"),
    )
