"""One HTTP/1.1 connection, byte by byte: reads requests, writes responses, breaks off where it should."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from tools.messages_server.response import End, Pause, Response, Send

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER_LIMIT = 64 * 1024
BODY_LIMIT = 32 * 1024 * 1024
"""Bytes of a body, as Anthropic's endpoint takes them."""

_SETTLE = 0.03
"""Seconds between the last byte and a reset, so that the client's system has taken the bytes in."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request as it came."""

    method: str
    target: str
    """Path with query."""
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes
    received: float
    """Monotonic time of the last byte."""


class BadRequestError(Exception):
    """The bytes are no HTTP request that we take; the connection is closed after the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class ClientLeftError(Exception):
    """The client closed the connection."""


class Connection:
    """Reads ahead all the time, so that a client that leaves is noticed at once. A half-close counts too."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.number = number
        self._reader = reader
        self._writer = writer
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._left = asyncio.Event()
        self._pump = asyncio.create_task(self._read_ahead())
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def read_request(self) -> HttpRequest | None:
        """The next request, or None where the client is done. Raises BadRequestError, ClientLeftError."""
        try:
            head = await self._take_head()
        except ClientLeftError:
            if self._buffer:
                raise
            return None
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise BadRequestError(f"not an HTTP/1.1 request line: {lines[0][:80]!r}")
        headers = _headers(lines[1:])
        if headers.get("expect", "").lower() == "100-continue":
            await self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await self._take_body(headers)
        return HttpRequest(words[0], words[1], headers, body, time.monotonic())

    async def send(self, response: Response) -> None:
        """Write a response to its end. Raises ClientLeftError where the client leaves before."""
        if response.delay:
            await self._pause(Pause(response.delay), response)
        if not response.headless:
            await self._write(_head(response), response.packet)
            if response.steps is None:
                await self._write(response.body, response.packet)
            else:
                await self._send_steps(response)
        await self._finish(response.end)

    async def wait_for_byte(self) -> None:
        """Wait until another request begins or the client leaves."""
        while not self._buffer and not self._left.is_set():
            await self._wait()

    def reset(self) -> None:
        """End the connection with a reset: whatever is on its way is lost."""
        raw = self._writer.get_extra_info("socket")
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def close(self) -> None:
        """End the connection, once what was written is sent."""
        self._pump.cancel()
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._pump
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _send_steps(self, response: Response) -> None:
        for step in response.steps or ():
            if isinstance(step, Send):
                await self._write(_chunk(step.data), response.packet)
            else:
                await self._pause(step, response)
        if response.end not in (End.CUT, End.RESET):
            await self._write(b"0\r\n\r\n", response.packet)

    async def _finish(self, end: End) -> None:
        match end:
            case End.RESET:
                await asyncio.sleep(_SETTLE)
                self.reset()
            case End.CUT | End.CLOSE:
                await self.close()
            case End.CLEAN | End.RESET_NEXT:
                pass

    async def _pause(self, pause: Pause, response: Response) -> None:
        deadline = time.monotonic() + pause.seconds
        while (left := deadline - time.monotonic()) > 0:
            if pause.ping:
                left = min(left, pause.ping_every)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), left)
            if self._left.is_set():
                raise ClientLeftError
            if pause.ping:
                await self._write(_chunk(pause.ping), response.packet)

    async def _write(self, data: bytes, packet: int | None = None) -> None:
        if self._left.is_set():
            raise ClientLeftError
        try:
            for at in range(0, len(data), packet or max(1, len(data))):
                self._writer.write(data[at : at + (packet or len(data))])
                await self._writer.drain()
                if packet:
                    await asyncio.sleep(0)
        except OSError:
            raise ClientLeftError from None

    async def _read_ahead(self) -> None:
        try:
            while data := await self._reader.read(256 * 1024):
                self._buffer += data
                self._arrived.set()
        except OSError:
            pass
        finally:
            self._left.set()
            self._arrived.set()

    async def _wait(self) -> None:
        self._arrived.clear()
        if not self._left.is_set():
            await self._arrived.wait()

    async def _take_head(self) -> bytes:
        while (at := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > HEADER_LIMIT:
                raise BadRequestError(f"request headers larger than {HEADER_LIMIT} bytes", 431)
            if self._left.is_set():
                raise ClientLeftError
            await self._wait()
        return self._take_now(at + 4)[:-4]

    async def _take_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._take_chunks()
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            raise BadRequestError(f"content-length is no number: {length[:20]!r}")
        if int(length) > BODY_LIMIT:
            raise BadRequestError(f"Request exceeds the maximum size of {BODY_LIMIT} bytes", 413)
        return await self._take(int(length))

    async def _take_chunks(self) -> bytes:
        body = bytearray()
        while True:
            size = (await self._take_line()).split(b";")[0].strip()
            try:
                count = int(size, 16)
            except ValueError:
                raise BadRequestError(f"not a chunk size: {size[:20]!r}") from None
            if count == 0:
                while await self._take_line():
                    pass
                return bytes(body)
            body += await self._take(count)
            await self._take(2)
            if len(body) > BODY_LIMIT:
                raise BadRequestError(f"Request exceeds the maximum size of {BODY_LIMIT} bytes", 413)

    async def _take_line(self) -> bytes:
        while (at := self._buffer.find(b"\r\n")) < 0:
            if self._left.is_set():
                raise ClientLeftError
            await self._wait()
        return self._take_now(at + 2)[:-2]

    async def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if self._left.is_set():
                raise ClientLeftError
            await self._wait()
        return self._take_now(count)

    def _take_now(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise BadRequestError(f"not a header line: {line[:80]!r}")
        headers[name.lower()] = value.strip()
    return headers


def _head(response: Response) -> bytes:
    try:
        words = HTTPStatus(response.status).phrase
    except ValueError:
        words = "Overloaded" if response.status == 529 else "Status"
    framing = (
        f"content-length: {len(response.body)}" if response.steps is None else "transfer-encoding: chunked"
    )
    lines = [
        f"HTTP/1.1 {response.status} {words}",
        *(f"{name}: {value}" for name, value in response.headers.items()),
        framing,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
