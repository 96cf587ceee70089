"""An HTTP client of bytes: sees packets, chunks and how a connection ends, as no library shows them."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode.model.script.view import list_of, object_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from tools.messages_server import MessagesServer

from contextlib import asynccontextmanager

HEADERS = {"x-api-key": "placeholder", "anthropic-version": "2023-06-01", "content-type": "application/json"}

TOOLS = [
    {"name": name, "description": name, "input_schema": {"type": "object"}}
    for name in ("Bash", "Read", "Grep")
]


def request(text: str = "hello", **fields: Any) -> dict[str, Any]:
    """A streaming request for a message."""
    messages = [{"role": "user", "content": text}]
    return {
        "model": "scripted-1",
        "max_tokens": 100,
        "stream": True,
        "messages": messages,
        "tools": TOOLS,
        **fields,
    }


@dataclass
class Answer:
    """What came back."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: list[bytes] = field(default_factory=list[bytes])
    """The body, as the chunks (or reads) that it came in."""
    packets: list[int] = field(default_factory=list[int])
    """Sizes of all reads from the socket."""
    ended: str = "clean"
    """`clean` as HTTP wants it, `closed` before that, or `reset`."""

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def frames(self) -> list[str]:
        """The complete events as text, split at blank lines of any line end."""
        text = self.body.decode("utf-8", "replace")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.split("\n\n")[:-1]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The data of all complete events; each must have a name equal to its type, where it has one."""
        found: list[dict[str, Any]] = []
        for frame in self.frames:
            lines = frame.split("\n")
            data = "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
            found.append(json.loads(data))
            names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
            assert names in ([], [found[-1]["type"]])
        return found

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = b""
        self._answer = Answer()

    async def post(
        self, body: object, path: str = "/v1/messages", headers: Mapping[str, str] = HEADERS
    ) -> Answer:
        """Send a POST with a JSON body (or bytes) and read the answer to its end."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.send("POST", path, headers, data)

    async def get(self, path: str, headers: Mapping[str, str] = HEADERS) -> Answer:
        return await self.send("GET", path, headers, b"")

    async def send(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> Answer:
        lines = [f"{method} {path} HTTP/1.1", "host: loopback", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return await self.exchange(("\r\n".join(lines) + "\r\n\r\n").encode() + data)

    async def exchange(self, wire: bytes) -> Answer:
        """Send these bytes and read one answer to its end."""
        self._answer = Answer()
        try:
            self._writer.write(wire)
            await self._writer.drain()
            await self._read_head()
            await self._read_body()
        except asyncio.IncompleteReadError:
            self._answer.ended = "closed"
        except ConnectionResetError:
            self._answer.ended = "reset"
        return self._answer

    async def is_closed(self) -> bool:
        """True where the server closes the connection without another byte."""
        async with asyncio.timeout(30):
            return await self._reader.read(1) == b""

    def leave(self) -> None:
        self._writer.close()

    async def _read_head(self) -> None:
        head = await self._until(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        self._answer.status = int(first.split(" ")[1])
        self._answer.headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)
        }

    async def _read_body(self) -> None:
        if self._answer.headers.get("transfer-encoding") != "chunked":
            self._answer.chunks.append(await self._exactly(int(self._answer.headers["content-length"])))
            return
        while True:
            size = int(await self._until(b"\r\n"), 16)
            if size == 0:
                assert await self._exactly(2) == b"\r\n"
                return
            self._answer.chunks.append(await self._exactly(size))
            assert await self._exactly(2) == b"\r\n"

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            await self._more()
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    async def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            await self._more()
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found

    async def _more(self) -> None:
        data = await self._reader.read(1 << 20)
        if not data:
            raise asyncio.IncompleteReadError(self._buffer, None)
        self._answer.packets.append(len(data))
        self._buffer += data


@asynccontextmanager
async def connected(server: MessagesServer) -> AsyncGenerator[RawClient]:
    """A connection to the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield RawClient(reader, writer)
    finally:
        writer.close()


async def ask(server: MessagesServer, body: object | None = None, **options: Any) -> Answer:
    """One request on a connection of its own."""
    async with connected(server) as client:
        return await client.post(request() if body is None else body, **options)


def tool_json(events: list[dict[str, Any]], index: int) -> str:
    """The joined input deltas of one block."""
    return "".join(
        event["delta"]["partial_json"]
        for event in events
        if event["type"] == "content_block_delta" and event["index"] == index
    )


def all_objects(value: object) -> list[dict[str, Any]]:
    """Every object inside a value, but not inside the arguments of a call."""
    if isinstance(value, list):
        return [inner for entry in list_of(value) for inner in all_objects(entry)]
    if not isinstance(value, dict):
        return []
    found = object_of(value)
    inside = [inner for key, entry in found.items() if key != "input" for inner in all_objects(entry)]
    return [found, *inside]


BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
