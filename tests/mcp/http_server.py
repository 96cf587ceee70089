"""A server of tools on the loopback that speaks raw HTTP, with named faults; and what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

TOOL = {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}
MEGABYTE = b"x" * 1_000_000


@dataclass(slots=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body.startswith(b"{") else {}

    @property
    def rpc(self) -> str:
        """The method of the protocol that it calls; empty where it carries no message."""
        return str(self.message.get("method", ""))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


@dataclass(slots=True)
class Answer:
    """One answer to send."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def json(cls, value: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
        return cls(
            status, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})}
        )


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[Answer | None]]


@dataclass(slots=True)
class HttpServer:
    """Answers each request by `handler`; None from it means that it has written, or will never write, itself."""

    handler: Handler
    asked: list[Asked] = field(default_factory=list[Asked])
    port: int = 0
    open: int = 0
    """Connections that are open now."""
    _server: Any = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def of(self, rpc: str) -> list[Asked]:
        """The requests that called one method."""
        return [asked for asked in self.asked if asked.rpc == rpc]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open += 1
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                answer = await self.handler(asked, writer)
                if answer is None:
                    break
                await send(writer, answer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the caller has gone, or the test is over
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, body)


async def send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    """Write a whole answer."""
    headers = {"content-length": str(len(answer.body)), **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} Status\r\n{lines}\r\n".encode() + answer.body)
    await writer.drain()


async def send_chunked(
    writer: asyncio.StreamWriter, kind: str, chunks: list[bytes], *, end: bool = True
) -> None:
    """Write an answer piece by piece, without saying how long it is; perhaps without its end."""
    writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
    for chunk in chunks:
        writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        await writer.drain()
    if end:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def event(message: object) -> bytes:
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()


def result_of(asked: Asked) -> dict[str, Any] | None:
    """What a well-behaved server of 2025-06-18 answers; None to a notification."""
    message = asked.message
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "loopback", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": {
            "content": [{"type": "text", "text": json.dumps(message.get("params", {}).get("arguments"))}]
        },
        "ping": {},
    }
    if "id" not in message:
        return None
    if asked.rpc not in results:
        return _reply(message, "error", {"code": -32601, "message": "unknown method"})
    return _reply(message, "result", results[asked.rpc])


def _reply(message: dict[str, Any], kind: str, value: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], kind: value}


@dataclass(slots=True)
class Faulty:
    """The handler of a server that behaves well but for one named fault, which concerns calls of tools."""

    fault: str = ""
    elsewhere: str = ""
    """Where `redirect-away` sends the caller."""
    session: str = "session-1"

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer | None:
        if asked.method == "GET":
            return Answer(405)
        if asked.method == "DELETE":
            return await self._hang(asked, writer) if self.fault == "no-farewell" else Answer(200)
        if self.fault == "every-denied":
            return await self._denied(asked, writer)
        if self.fault not in ("", "no-farewell") and asked.rpc == "tools/call":
            return await getattr(self, f"_{self.fault.replace('-', '_')}")(asked, writer)
        return self._well(asked)

    def _well(self, asked: Asked) -> Answer:
        result = result_of(asked)
        if result is None:
            return Answer(202)
        session = {"mcp-session-id": self.session} if asked.rpc == "initialize" else {}
        return Answer.json(result, headers=session)

    async def _events(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await send_chunked(writer, "text/event-stream", [event(result_of(asked))])

    async def _flood(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        note = event(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        )
        await send_chunked(writer, "text/event-stream", [note * 500] * 4 + [event(result_of(asked))])

    async def _redirect_away(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(307, headers={"location": f"{self.elsewhere}/stolen"})

    async def _redirect_as_get(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(302, headers={"location": "/other"})

    async def _redirect_here(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return self._well(asked) if asked.path == "/moved" else Answer(308, headers={"location": "/moved"})

    async def _redirect_for_ever(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(307, headers={"location": f"/again-{len(asked.path)}"})

    async def _huge(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await send_chunked(writer, "application/json", [b'"'] + [MEGABYTE] * 18)

    async def _huge_event(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await send_chunked(writer, "text/event-stream", [b"data: "] + [MEGABYTE] * 18)

    async def _packed(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(200, b"\x1f\x8b", {"content-type": "application/json", "content-encoding": "gzip"})

    async def _hang(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)

    async def _cut(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await send_chunked(writer, "application/json", [b'{"jsonrpc'], end=False)

    async def _cut_events(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await send_chunked(writer, "text/event-stream", [b"event: mess"], end=False)

    async def _no_http(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()

    async def _page(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(200, b"<html>Welcome</html>", {"content-type": "text/html"})

    async def _no_json(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(200, b"{oops", {"content-type": "application/json"})

    async def _unavailable(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(503, b"later", {"content-type": "text/plain"})

    async def _own_words(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        error = {"code": -32602, "message": f"bad token {asked.headers.get('authorization', '')}"}
        return Answer.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)

    async def _accepted(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(202)

    async def _forgotten(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(404)

    async def _denied(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer:
        return Answer(401, b"no", {"www-authenticate": "Bearer"})


@contextlib.asynccontextmanager
async def serving(handler: Handler) -> AsyncGenerator[HttpServer]:
    """A server that runs while the block does."""
    server = HttpServer(handler)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
