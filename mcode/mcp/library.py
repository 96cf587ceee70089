"""The MCP library: loaded late, in a thread, with its own logging silenced, and the exceptions that it raises."""

from __future__ import annotations

import importlib
import logging
import threading
from typing import Any, cast

from mcode.threads import in_own_thread

LOGGERS = ("mcp", "mcp_types", "httpx2", "anyio")

MODULES = (
    "mcp",
    "mcp.client.sse",
    "mcp.client.streamable_http",
    "anyio._backends._asyncio",
    "mcode.mcp.stdio",
    "mcode.mcp.remote",
)
"""What a connection needs: loaded together, so that none of it is loaded by the loop's own thread."""

_ready = threading.Event()
"""Set when the library has been imported once."""


def load() -> None:
    """Import it: about a second of CPU. What it logs goes where mcode's log goes, and never to the screen."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.addHandler(logging.NullHandler())  # without any handler logging would print to standard error
    for name in MODULES:
        importlib.import_module(name)
    _ready.set()


async def loaded() -> None:
    """Load it without holding up the loop, nor the end of mcode: nobody waits for the thread then."""
    if not _ready.is_set():
        await in_own_thread(load)


def failures() -> tuple[type[Exception], ...]:
    """What talking to a server can raise, beside cancellation: its errors, broken streams, unreadable answers."""
    import anyio
    import httpx2
    from mcp import MCPError

    return (
        MCPError,
        OSError,  # a program that cannot be started, a pipe that nobody reads, a time limit
        ValueError,  # an answer that does not fit the protocol
        RuntimeError,  # a version that we do not speak, too many rounds of questions
        ExceptionGroup,
        EOFError,
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
        anyio.EndOfStream,
        httpx2.HTTPError,
    )


def innermost(error: BaseException) -> BaseException:
    """The first cause within groups of exceptions."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return error


def explain(error: BaseException) -> str:
    """An error in one sentence, without a traceback."""
    cause = innermost(error)
    if isinstance(cause, FileNotFoundError):
        return f"there is no program {cause.filename}"
    if isinstance(cause, PermissionError):
        return f"{cause.filename} may not be run"
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    text = str(getattr(cause, "message", cause)).strip().splitlines()
    said = text[0] if text else type(cause).__name__
    return (
        f"its answer does not fit the protocol: {said}" if type(cause).__name__ == "ValidationError" else said
    )


def is_closed(error: BaseException) -> bool:
    """Whether an error means that the connection is gone."""
    code: Any = getattr(innermost(error), "code", None)
    return code == CONNECTION_CLOSED


CONNECTION_CLOSED = -32000
