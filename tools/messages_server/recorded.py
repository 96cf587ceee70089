"""What the server keeps of a request, for assertions and logs. Never the credential itself."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.jsontext import JsonError, JsonObject, dump, parse_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.messages_server.connection import HttpRequest

HIDDEN = "[hidden]"
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "proxy-authorization", "cookie"})


@dataclass(slots=True)
class Recorded:
    """One request, and how it was answered."""

    method: str
    path: str
    """Without the query."""
    query: str
    headers: Mapping[str, str]
    """Names in small letters; the value of a credential is replaced, its scheme stays."""
    credential: str
    """`bearer`, `x-api-key`, `both`, or `none`."""
    key_matches: bool | None
    """Whether the credential was the server's key; None where the server has none to compare."""
    body: bytes
    parsed: JsonObject | None
    """The body, where it is a JSON object."""
    fault: str
    """Why the body is no JSON object; empty where it is one."""
    received: float
    """Seconds of the monotonic clock when the last byte of the request had come."""
    connection: int
    """Number of the connection, from 1: equal numbers mean a connection that was kept alive."""
    status: int | None = None
    """HTTP status of the answer; None while it is worked out, or where none was sent."""
    turn: str = ""
    """Name of the script's turn that was given."""
    answered: float | None = field(default=None)
    """Monotonic time when the answer had been sent, or the client had left."""
    client_left: bool = False
    """True where the client closed the connection before the answer had ended."""

    @property
    def json(self) -> JsonObject:
        """The parsed body; raises AssertionError where it is none."""
        if self.parsed is None:
            raise AssertionError(
                f"{self.method} {self.path}: the body is no JSON object: {self.body[:200]!r}"
            )
        return self.parsed

    def log_line(self) -> str:
        """The request as one line of JSON."""
        return dump(
            {
                "received": self.received,
                "method": self.method,
                "path": self.path,
                "query": self.query,
                "headers": dict(self.headers),
                "credential": self.credential,
                "connection": self.connection,
                "bytes": len(self.body),
                "body": self.parsed if self.parsed is not None else self.body.decode("utf-8", "replace"),
            }
        )


def record(request: HttpRequest, connection: int, key: str | None) -> Recorded:
    """Keep a request without its credential."""
    path, _, query = request.target.partition("?")
    parsed, fault = None, ""
    try:
        parsed = parse_object(request.body.decode("utf-8"))
    except (UnicodeDecodeError, JsonError) as error:
        fault = str(error)
    return Recorded(
        method=request.method,
        path=path,
        query=query,
        headers={name: _shown(name, value) for name, value in request.headers.items()},
        credential=_style(request.headers),
        key_matches=None if key is None else _matches(request.headers, key),
        body=request.body,
        parsed=parsed,
        fault=fault,
        received=request.received,
        connection=connection,
    )


def _shown(name: str, value: str) -> str:
    if name not in _SECRET_HEADERS:
        return value
    scheme, blank, _ = value.partition(" ")
    return f"{scheme} {HIDDEN}" if blank and name == "authorization" else HIDDEN


def _style(headers: Mapping[str, str]) -> str:
    bearer = _bearer(headers) is not None
    plain = bool(headers.get("x-api-key"))
    return {(True, True): "both", (True, False): "bearer", (False, True): "x-api-key"}.get(
        (bearer, plain), "none"
    )


def _matches(headers: Mapping[str, str], key: str) -> bool:
    sent = [value for value in (_bearer(headers), headers.get("x-api-key")) if value]
    return bool(sent) and all(hmac.compare_digest(value.encode(), key.encode()) for value in sent)


def _bearer(headers: Mapping[str, str]) -> str | None:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() or None if scheme.lower() == "bearer" else None
