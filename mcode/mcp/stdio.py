"""A server on standard input and output, in the shape in which the library takes transports."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode.jsontext import dump
from mcode.mcp.child import ServerProcess, describe_end
from mcode.mcp.framing import (
    LINE_LIMIT,
    NOISE_LIMIT,
    LineSplitter,
    TooLong,
    messages_in,
    parse_line,
    told_id,
)
from mcode.model.reading import sound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.mcp.screen import Screen
    from mcode.mcp.server_log import ServerLog

THREAD_FROM = 64 * 1024
"""Bytes from which a line is read in a thread, so that the loop goes on."""

WAITING = 64
"""Messages that wait between the server and the library; then the server waits."""

PROBE = "server/discover"
"""The first question of the newest protocol."""

PROBE_TIME = 2.5
"""Seconds after which a server that is silent on it is taken for one of an older protocol."""

REST_TIME = 0.3
"""Seconds that output is waited for after the process has ended."""

_DEAF = "it no longer reads its standard input"
"""Why writing to a server failed, where no better reason is known: one that has ended says more by its end."""


@dataclass(frozen=True, slots=True, repr=False)
class Launch:
    """How a server is started. Has no `repr`: the environment may hold secrets."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]


@dataclass(slots=True)
class StdioTransport:
    """Starts the server on entering, and leaves no process of it on leaving."""

    launch: Launch
    screen: Screen
    log: ServerLog
    line_limit: int = LINE_LIMIT
    on_end: Callable[[], None] = lambda: None
    """Told when nothing more can come from the server."""
    fault: str = ""
    """Why the connection ended, where it was not mcode that ended it."""
    _said_all: bool = False
    """The server itself has ended its output."""
    _process: ServerProcess | None = None
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One message at a time goes down the pipe."""
    _tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _incoming: Any = None
    """The sending end of the stream that the library reads."""
    _outgoing: Any = None
    """The receiving end of the stream that the library writes."""

    async def __aenter__(self) -> tuple[Any, Any]:
        """Raises OSError where the program cannot be started."""
        import anyio

        self.log.open()
        self.screen.splits = True
        try:
            self._process = ServerProcess(self.launch.argv, self.launch.cwd, self.launch.environment)
        except OSError as error:
            self.log.note(f"could not be started: {error.strerror or error}")
            self.log.close()
            raise
        self.log.note(f"started as process {self._process.pid}")
        self._incoming, reading = anyio.create_memory_object_stream[Any](WAITING)
        writing, self._outgoing = anyio.create_memory_object_stream[Any](WAITING)
        reader = asyncio.create_task(self._read(self._process))
        self._tasks = [
            reader,
            asyncio.create_task(self._write(self._process)),
            asyncio.create_task(self._keep_errors(self._process)),
            asyncio.create_task(self._await_end(self._process, reader)),
        ]
        return reading, writing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        closing = asyncio.ensure_future(self._close())
        cancelled: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError as again:
                cancelled = again
        if cancelled is not None:
            raise cancelled

    async def _close(self) -> None:
        """End the process, reading what it still says, so that it does not hang in a full pipe."""
        if self._process is None:
            return
        await self._learn_why(self._process)
        process, self._process = self._process, None
        self._outgoing.close()
        ended = await process.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._incoming.close()
        self.log.note(ended)
        self.log.close()

    async def _learn_why(self, process: ServerProcess) -> None:
        """Where the server hung up first, its process ends in a moment as well, and says more than that."""
        deaf = self.fault == _DEAF
        if (self.fault and not deaf) or not (self._said_all or deaf):
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_TIME):
                await process.exited.wait()
        if process.exited.is_set():
            self.fault = describe_end(process.exit_code())

    async def _read(self, process: ServerProcess) -> None:
        import anyio

        splitter = LineSplitter(self.line_limit)
        try:
            while chunk := await process.stdout.read():
                for line in splitter.feed(chunk):
                    await self._take(line)
                    if self.screen.traffic.noise > NOISE_LIMIT:
                        self.fault = f"it wrote more than {NOISE_LIMIT} lines that are no messages"
                        return
            self._said_all = True
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            while await process.stdout.read():  # the library is gone; the server must not hang in a full pipe
                pass
        finally:
            self._incoming.close()
            self.on_end()

    async def _take(self, line: bytes | TooLong) -> None:
        traffic = self.screen.traffic
        if isinstance(line, TooLong):
            traffic.too_long += 1
            why = f"the answer is one line of {line.size:,} bytes; at most {self.line_limit:,} are read"
            await self._tell_unreadable(line.head, why, guess=True)
            return
        try:
            read = parse_line(line) if len(line) < THREAD_FROM else await asyncio.to_thread(parse_line, line)
            value, good = read
            traffic.bad_text += not good
            messages = messages_in(value)
        except ValueError as error:
            await self._tell_unreadable(line, str(error), guess=False)
            return
        for message in messages:
            sifted = self.screen.incoming(message)
            if sifted.reply is not None:
                await self._send(self._process, sifted.reply)
            if sifted.forward is not None:
                await self._forward(sifted.forward)

    async def _tell_unreadable(self, head: bytes, why: str, *, guess: bool) -> None:
        """End the request that the line was to answer; where none can be told, count the line as noise."""
        told = self.screen.unreadable(told_id(head), why, guess=guess)
        if told is None:
            self.screen.traffic.noise += 1
            self.log.note(f"a line on standard output was no message: {why}")
        else:
            await self._forward(told)

    async def _forward(self, message: JsonObject) -> None:
        wrapped = _wrapped(message)
        if wrapped is None:
            self.screen.traffic.noise += 1
        else:
            await self._incoming.send(wrapped)

    async def _write(self, process: ServerProcess) -> None:
        import anyio

        try:
            async for message in self._outgoing:
                value: JsonObject = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                own_answer = self.screen.outgoing(value)
                if own_answer is not None:
                    await self._forward(own_answer)
                    continue
                if value.get("method") == PROBE:
                    self._give_up_probe_later(value)
                await self._send(process, value)
        except (anyio.ClosedResourceError, OSError):
            # The library learns of it by the end of what it reads.
            self.fault = self.fault or _DEAF
            self._incoming.close()
            self.on_end()

    def _give_up_probe_later(self, probe: JsonObject) -> None:
        """Older servers may be silent on a method they do not know: then the probe counts as refused."""

        async def give_up() -> None:
            await asyncio.sleep(PROBE_TIME)
            if self.screen.waits(probe["id"]):
                why = f"{PROBE} was not answered in {PROBE_TIME:g} s"
                told = self.screen.unreadable(probe["id"], why, guess=False)
                if told is not None:
                    await self._forward(told)

        self._tasks.append(asyncio.create_task(give_up()))

    async def _send(self, process: ServerProcess | None, message: JsonValue) -> None:
        if process is not None:
            async with self._writing:
                await process.stdin.write(f"{dump(sound(message))}\n".encode())

    async def _keep_errors(self, process: ServerProcess) -> None:
        while chunk := await process.stderr.read():
            self.log.feed(chunk)

    async def _await_end(self, process: ServerProcess, reader: asyncio.Task[None]) -> None:
        """End the reading soon after the process has ended, whoever still holds its pipes."""
        await process.exited.wait()
        await asyncio.wait({reader}, timeout=REST_TIME)
        if self.fault in ("", _DEAF) and self._process is not None:
            self.fault = describe_end(process.exit_code())
        reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({reader})


def _wrapped(message: JsonObject) -> Any:
    """The message as the library passes it on; None where it is not one after all."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except ValueError:
        return None
