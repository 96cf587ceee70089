"""The scripted Messages server: listens on the loopback interface and answers as the script says."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

from mcode.model.script import ErrorReply, ScriptError
from tools.messages_server.answers import Answerer
from tools.messages_server.capabilities import Capabilities
from tools.messages_server.connection import BadRequestError, ClientLeftError, Connection
from tools.messages_server.recorded import Recorded, record
from tools.messages_server.refusals import error_response
from tools.messages_server.response import End

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from mcode.jsontext import JsonObject
    from mcode.model.script import Script
    from tools.messages_server.response import Response

HOST = "127.0.0.1"


class MessagesServer:
    """`async with MessagesServer(script) as server:` serves at `server.url` until the block ends.

    Leaving the block raises ScriptError where the script failed (no turn fitted, a fault did not fit its
    reply, a reply function raised), unless the block itself raises or `strict` is False.
    """

    def __init__(
        self,
        script: Script,
        *,
        capabilities: Capabilities | None = None,
        models: Sequence[JsonObject] | None = None,
        key: str | None = None,
        port: int = 0,
        log: Path | None = None,
        keep: int | None = None,
        strict: bool = True,
    ) -> None:
        """`models`: what GET /v1/models lists; where given, other models are refused with 404.

        `key`: the credential to insist on. `port` 0: any free one. `log`: a file that gets one line of JSON
        a request. `keep`: how many requests are kept, the newest; None: all.
        """
        self.requests: list[Recorded] = []
        """All requests, in the order of their receipt."""
        self.problems: list[str] = []
        """Where the script failed."""
        self._answerer = Answerer(script, capabilities or Capabilities(), models)
        self._key = key
        self._port = port
        self._log = log
        self._keep = keep
        self._strict = strict
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._count = 0

    @property
    def url(self) -> str:
        """Base URL, as ANTHROPIC_BASE_URL takes it."""
        return f"http://{HOST}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def message_requests(self) -> list[Recorded]:
        """The requests for messages, without those for models and token counts."""
        return [request for request in self.requests if request.path.endswith("/v1/messages")]

    @property
    def bodies(self) -> list[JsonObject]:
        """The parsed bodies of `message_requests`."""
        return [request.json for request in self.message_requests]

    @property
    def unused_turns(self) -> tuple[str, ...]:
        """Names of the turns in order that were never given."""
        return self._answerer.player.unused()

    async def start(self) -> None:
        """Listen. Raises OSError where the port is taken."""
        await self._listen()

    async def stop(self) -> None:
        """Close all connections and stop listening."""
        await self.refuse_connections()
        tasks = [*self._background, *self._connections]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def refuse_connections(self) -> None:
        """Stop listening: new connections are refused, open ones go on."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            # Closing takes effect in the next round of the loop.
            await asyncio.sleep(0)

    async def accept_connections(self) -> None:
        """Listen again, at the same port."""
        if self._listener is None:
            await self._listen()

    async def wait_for(self, count: int, timeout: float = 60.0) -> list[Recorded]:
        """Wait until so many requests have come. Raises AssertionError after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while len(self.requests) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(self.requests)} of {count} requests came in {timeout} s")
            await asyncio.sleep(0.005)
        return self.requests

    def check(self) -> None:
        """Raise ScriptError where the script failed."""
        if self.problems:
            raise ScriptError("; ".join(self.problems))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if error is None and self._strict:
            self.check()

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._serve, HOST, self._port, backlog=256)
        self._port = self._listener.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self._count += 1
        connection = Connection(reader, writer, self._count)
        try:
            await self._converse(connection)
        except (ClientLeftError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            await connection.close()

    async def _converse(self, connection: Connection) -> None:
        """Answer the requests of one connection, one after the other."""
        while True:
            try:
                request = await connection.read_request()
            except BadRequestError as error:
                fault = ErrorReply(error.status, message=str(error))
                await connection.send(error_response(fault, ""))
                return
            if request is None:
                return
            kept = record(request, connection.number, self._key)
            self.requests.append(kept)
            if self._keep is not None:
                del self.requests[: max(0, len(self.requests) - self._keep)]
            if self._log is not None:
                self._write_log(self._log, kept)
            response = self._respond(kept)
            kept.status = None if response.headless else response.status
            if response.deaf is not None:
                await self._go_deaf(response.deaf)
            try:
                await connection.send(response)
            except ClientLeftError:
                kept.client_left = True
                raise
            finally:
                kept.answered = time.monotonic()
            if response.end is End.RESET_NEXT:
                await connection.wait_for_byte()
                connection.reset()
            if response.end is not End.CLEAN or request.headers.get("connection", "").lower() == "close":
                return

    def _respond(self, kept: Recorded) -> Response:
        try:
            return self._answerer.answer(kept)
        except Exception as error:  # noqa: BLE001 -- the script's own code may fail in any way
            text = str(error) if isinstance(error, ScriptError) else f"a reply function failed: {error!r}"
            self.problems.append(text)
            # A status that no client tries again, so that a broken test ends at once.
            return error_response(ErrorReply(400, "script_error", text, {"x-should-retry": "false"}), "")

    def _write_log(self, path: Path, kept: Recorded) -> None:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(kept.log_line() + "\n")

    async def _go_deaf(self, seconds: float) -> None:
        await self.refuse_connections()

        async def listen_later() -> None:
            await asyncio.sleep(seconds)
            await self.accept_connections()

        task = asyncio.create_task(listen_later())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
