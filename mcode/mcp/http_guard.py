"""What every request to a server over HTTP goes through: where it may go, how much comes back, how faults look.

A fault of the network becomes the answer to the one request it belongs to; to the library it would be the end of
everything.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcode import jsontext
from mcode.mcp.parts import Parts, is_own

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcode.jsontext import JsonObject

BODY_LIMIT = 16 * 1024 * 1024
"""Bytes of one answer, or of one event of a stream, that are read."""

CONNECT_TIME = 10.0
"""Seconds to connect."""

ANSWER_TIME = 660.0
"""Seconds until an answer begins; the limits of calls are shorter and kept elsewhere."""

FAREWELL_TIME = 1.0
"""Seconds to tell the server that its session ends."""

TRIES_AGAIN = 2
"""Further tries of a connection that could not be made, half a second and more apart."""

LOST = -32603
"""JSON-RPC: internal error, as the library has it for answers of HTTP that are errors."""

SESSION = "mcp-session-id"


@dataclass(slots=True)
class Guard:
    """Stands where the HTTP library has its transport; one a connection."""

    url: str
    """The server's own address: the only origin that gets what was configured for it."""
    secret_headers: frozenset[str]
    """Lower-case names of headers that were configured for it."""
    on_fault: Callable[[str], None] = lambda _: None
    """Told that the connection is of no use any more, and why."""
    events_only: bool = False
    """Answers come on a stream of their own: a message that was not taken ends the library's writing for good."""
    needs_sign_in: bool = False
    """The server refused the last request for want of a sign-in."""
    _inner: Any = field(init=False, default=None)
    _parts: Parts = field(default_factory=Parts)

    async def __aenter__(self) -> Guard:
        # Certificates are read for it, which takes a while.
        self._inner = await asyncio.to_thread(_network, self.url)
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *ending: Any) -> None:
        await self._inner.__aexit__(*ending)

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        """Send one request; raises nothing but cancellation for requests to the server itself."""
        import httpx2

        own = same_origin(str(request.url), self.url)
        listing = await _listing_of(request) if own else None
        if listing is not None and is_own(listing):
            return httpx2.Response(200, json=self._parts.answer(listing))
        if not own:
            self._check_foreign(request)
        self._set_times(request)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            return self._no_answer(request, error)
        if own:
            self._look_at(request, response)
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", ""):
            await response.aclose()
            fault = httpx2.DecodingError(
                f"its answer is packed as {encoding[:40]!r}, which was not asked for"
            )
            return self._no_answer(request, fault)
        if response.status_code >= 400 and own and _is_message(request):
            return await self._say_status(request, response)
        return self._bounded(request, response, in_parts=listing is not None)

    def _check_foreign(self, request: Any) -> None:
        """Signing in may ask another host: over TLS, or on this machine where the server is on it too."""
        import httpx2

        for name in self.secret_headers:
            request.headers.pop(name, None)
        safe = request.url.scheme == "https" or (
            is_loopback(request.url.host) and is_loopback(host_of(self.url))
        )
        if not safe:
            raise httpx2.UnsupportedProtocol(f"{request.url.host} would be asked without encryption")

    def _set_times(self, request: Any) -> None:
        times: dict[str, float | None] = {
            "connect": CONNECT_TIME,
            "write": 30.0,
            "pool": 30.0,
            "read": ANSWER_TIME,
        }
        if request.method == "GET" and _wants_events(request):
            times["read"] = None  # a stream of events may be silent for hours
        elif request.method == "DELETE":
            times = dict.fromkeys(times, FAREWELL_TIME)
        request.extensions["timeout"] = times
        request.headers["accept-encoding"] = "identity"  # a small answer could unpack to a large one

    def _look_at(self, request: Any, response: Any) -> None:
        if response.status_code == 401:
            self.needs_sign_in = True
        elif response.status_code < 400 and _is_message(request):
            self.needs_sign_in = False
        if self.events_only and response.status_code >= 400:
            self.on_fault(status_text(response.status_code))
        if response.status_code == 404 and SESSION in request.headers and request.method == "POST":
            self.on_fault("it no longer knows the session")

    def _no_answer(self, request: Any, error: Exception) -> Any:
        import httpx2

        why = _what_failed(error)
        if self.events_only or isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            self.on_fault(why)
        if not _is_message(request):
            raise error
        return _error_response(502, why, httpx2.Headers())

    async def _say_status(self, request: Any, response: Any) -> Any:
        """An answer that names its status, where the server has not written an error of the protocol itself."""
        import httpx2

        kind = response.headers.get("content-type", "").lower()
        unknown = response.status_code == 404 and SESSION not in request.headers
        if kind.startswith("application/json") or unknown:  # which means to the library: an older server
            return self._bounded(request, response)
        await response.aclose()
        headers = httpx2.Headers(
            [(name, value) for name, value in response.headers.multi_items() if name == "www-authenticate"]
        )
        return _error_response(response.status_code, status_text(response.status_code), headers)

    def _bounded(self, request: Any, response: Any, *, in_parts: bool = False) -> Any:
        import httpx2

        events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if events:
            request.extensions["timeout"]["read"] = None
        stream = _bounded_stream(response.stream, None if events else BODY_LIMIT)
        if in_parts:
            response.headers.pop("content-length", None)  # it may become shorter
            stream = _stream_of(self._parts.cut(stream, BODY_LIMIT, events=events), stream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=stream,
            extensions=response.extensions,
        )


def same_origin(one: str, other: str) -> bool:
    """Same scheme, host and port; or an upgrade from http to https of the same host, both at their usual ports."""
    first, second = urlsplit(one), urlsplit(other)
    if _origin(one) == _origin(other):
        return True
    upgraded = (first.scheme, second.scheme) == ("https", "http") and first.hostname == second.hostname
    return upgraded and first.port is None and second.port is None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """The host of an address, lower-case; empty where it has none."""
    return urlsplit(url).hostname or ""


def status_text(status: int) -> str:
    """`HTTP 503 Service Unavailable`."""
    from http import HTTPStatus

    try:
        return f"the server answered HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"the server answered HTTP {status}"


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual


def _network(url: str) -> Any:
    """The library's own transport; the user's proxy is used but for this machine."""
    import socket
    from urllib.request import getproxies, proxy_bypass

    import httpx2

    host, scheme = host_of(url), urlsplit(url).scheme
    proxy = None if is_loopback(host) or proxy_bypass(host) else getproxies().get(scheme)
    return httpx2.AsyncHTTPTransport(
        retries=TRIES_AGAIN,
        proxy=proxy,
        socket_options=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)],
    )


def _is_message(request: Any) -> bool:
    """Whether it carries a message of the protocol, whose answer the library takes as an answer to that."""
    return request.method == "POST" and request.headers.get("content-type", "").startswith("application/json")


async def _listing_of(request: Any) -> JsonObject | None:
    """The message of a request for a list of tools; None for any other request."""
    if not _is_message(request) or b'"tools/list"' not in (content := await request.aread())[:1000]:
        return None
    message = jsontext.parse_object(content.decode())
    return message if message.get("method") == "tools/list" else None


def _wants_events(request: Any) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


def _error_response(status: int, why: str, headers: Any) -> Any:
    import httpx2

    error: JsonObject = {"jsonrpc": "2.0", "id": None, "error": {"code": LOST, "message": why}}
    headers["content-type"] = "application/json"
    return httpx2.Response(status, headers=headers, content=json.dumps(error).encode())


def _what_failed(error: Exception) -> str:
    """A fault of the network as a part of a sentence; its own words name no address of ours."""
    name = type(error).__name__
    known = {
        "ConnectTimeout": f"it could not be reached within {CONNECT_TIME:g} s",
        "ReadTimeout": "it did not answer in time",
        "WriteTimeout": "it took nothing more in time",
        "PoolTimeout": "too many requests to it wait for an answer",
        "ReadError": "it broke the connection off",
        "RemoteProtocolError": f"its answer is no HTTP: {error}",
    }
    if name == "ConnectError":
        return f"it cannot be reached: {error}"
    return known.get(name) or str(error) or name


def _stream_of(chunks: AsyncIterator[bytes], source: Any) -> Any:
    """A body of these chunks, which come from `source`."""
    import httpx2
    from typing_extensions import override

    class Made(httpx2.AsyncByteStream):
        @override
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in chunks:
                yield chunk

        @override
        async def aclose(self) -> None:
            await source.aclose()

    return Made()


def _bounded_stream(stream: Any, limit: int | None) -> Any:
    """The body of an answer up to `limit` bytes; what goes wrong is an error that the library ties to the request."""
    import httpx2
    from typing_extensions import override

    class Bounded(httpx2.AsyncByteStream):
        @override
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            try:
                async for chunk in stream:
                    size += len(chunk)
                    if limit is not None and size > limit:
                        raise httpx2.StreamError(
                            f"the answer has over {limit:,} bytes; the rest was not read"
                        )
                    yield chunk
            except httpx2.TransportError as error:
                raise httpx2.StreamError(_what_failed(error)) from None

        @override
        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
