"""The server in a thread of its own, for tests that drive the real program and are not asynchronous."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from tools.messages_server.server import MessagesServer

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcode.jsontext import JsonObject
    from mcode.model.script import Script
    from tools.messages_server.recorded import Recorded


class RunningServer:
    """What a test sees of a server that runs in another thread."""

    def __init__(self, server: MessagesServer) -> None:
        self._server = server

    @property
    def url(self) -> str:
        """Base URL, as ANTHROPIC_BASE_URL takes it."""
        return self._server.url

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def requests(self) -> list[Recorded]:
        """A copy of the requests so far, in the order of their receipt."""
        return list(self._server.requests)

    @property
    def message_requests(self) -> list[Recorded]:
        return self._server.message_requests

    @property
    def bodies(self) -> list[JsonObject]:
        return self._server.bodies

    @property
    def problems(self) -> list[str]:
        return list(self._server.problems)

    @property
    def unused_turns(self) -> tuple[str, ...]:
        return self._server.unused_turns

    def wait_for(self, count: int, timeout: float = 60.0) -> list[Recorded]:
        """Wait until so many requests have come. Raises AssertionError after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while len(self._server.requests) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(self.requests)} of {count} requests came in {timeout} s")
            time.sleep(0.01)
        return self.requests


@contextlib.contextmanager
def running_server(script: Script, *, strict: bool = True, **options: Any) -> Generator[RunningServer]:
    """Serve a script in a thread; options as for MessagesServer.

    Raises ScriptError at the end where the script failed, unless `strict` is False or the block raises.
    """
    server = MessagesServer(script, strict=strict, **options)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run_loop, args=(loop,), name="messages server", daemon=True)
    thread.start()
    try:
        _call(loop, server.start())
        try:
            yield RunningServer(server)
        finally:
            _call(loop, server.stop())
        if strict:
            server.check()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _call(loop: asyncio.AbstractEventLoop, work: Any) -> None:
    asyncio.run_coroutine_threadsafe(work, loop).result(timeout=10)
