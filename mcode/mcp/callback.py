"""The local address that the browser is redirected to after a sign-in: it serves one visit and is gone."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from types import TracebackType

PATH = "/callback"

HEAD_LIMIT = 16 * 1024
"""Bytes of a request's head that are read."""

READ_TIME = 10.0
"""Seconds for a visitor to send it."""

DONE = "Signed in. You can close this window and go back to mcode."
NOT_DONE = "Not signed in: the server said no. mcode says why."
NOTHING = "There is nothing here."


class CallbackError(OSError):
    """No answer came from the browser; the message says why."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What the browser brought."""

    code: str
    state: str
    issuer: str | None


@dataclass(slots=True)
class Callback:
    """Listens on this machine alone while the block runs."""

    wanted_port: int = 0
    """0 for any that is free."""
    port: int = 0
    _servers: list[asyncio.Server] = field(default_factory=list[asyncio.Server])
    _visit: asyncio.Future[Visit] = field(init=False)

    @property
    def address(self) -> str:
        """What the authorization server is told to send the browser to."""
        return f"http://localhost:{self.port}{PATH}"

    async def __aenter__(self) -> Callback:
        """Raises CallbackError where the port cannot be had."""
        self._visit = asyncio.get_running_loop().create_future()
        try:
            first = await asyncio.start_server(self._serve, "127.0.0.1", self.wanted_port, limit=HEAD_LIMIT)
        except OSError as error:
            raise CallbackError(
                f"port {self.wanted_port}, to which the browser is to come back, cannot be had "
                f"({error.strerror or error})"
            ) from None
        self.port = first.sockets[0].getsockname()[1]
        self._servers = [first]
        with contextlib.suppress(OSError):  # a machine without IPv6, where localhost is the other one
            self._servers.append(await asyncio.start_server(self._serve, "::1", self.port, limit=HEAD_LIMIT))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        self._visit.cancel()

    async def visit(self, seconds: float) -> Visit:
        """Wait for the browser; raises CallbackError."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._visit)
        except TimeoutError:
            raise CallbackError(f"nobody signed in within {seconds / 60:g} minutes") from None

    def bring(self, address: str) -> bool:
        """Take the address that the browser was sent to, as the user read it there; False where it is none of ours."""
        parts = urlsplit(address.strip())
        if parts.path != PATH or self._visit.done():
            return False
        return self._take(parts.query) is not None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_TIME):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status, said = self._answer(head)
            body = f"<!doctype html><meta charset=utf-8><title>mcode</title><p>{said}</p>".encode()
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
                "cache-control: no-store\r\nreferrer-policy: no-referrer\r\n"
                "content-security-policy: default-src 'none'\r\nconnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever it was did not speak HTTP, or has gone
        finally:
            writer.close()

    def _answer(self, head: str) -> tuple[str, str]:
        first, *lines = head.split("\r\n")
        words = first.split(" ")
        hosts = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")]
        known = {f"localhost:{self.port}", f"127.0.0.1:{self.port}", f"[::1]:{self.port}"}
        if len(words) != 3 or words[0] != "GET" or len(hosts) != 1 or hosts[0] not in known:
            return "400 Bad Request", NOTHING
        parts = urlsplit(words[1])
        if parts.path != PATH or self._visit.done():
            return "404 Not Found", NOTHING
        good = self._take(parts.query)
        if good is None:
            return "400 Bad Request", NOTHING
        return "200 OK", DONE if good else NOT_DONE

    def _take(self, query: str) -> bool | None:
        """Note what came: True for a code, False for a refusal, None where it is neither."""
        fields = {name: values[0] for name, values in parse_qs(query).items() if len(values) == 1}
        if "error" in fields:
            said = " ".join(fields.get("error_description", fields["error"]).split())[:200]
            self._visit.set_exception(CallbackError(f"the server refused the sign-in: {said}"))
            return False
        if not fields.get("code") or not fields.get("state"):
            return None
        self._visit.set_result(Visit(fields["code"], fields["state"], fields.get("iss")))
        return True
