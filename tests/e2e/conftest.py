"""Fixtures of the tests that drive the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.binary import Machine
from tests.prefixes import extends
from tools.messages_server import MessagesServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.fresh(tmp_path)


@pytest.fixture(autouse=True)
def every_request_extends_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Whatever a test here does: a request with a past begins with the bytes of a request that was sent before."""
    received: list[list[dict[str, Any]]] = []
    stop = MessagesServer.stop

    async def stop_and_keep(server: MessagesServer) -> None:
        await stop(server)
        received.append([request.parsed for request in server.message_requests if request.parsed is not None])

    monkeypatch.setattr(MessagesServer, "stop", stop_and_keep)
    yield
    earlier: list[dict[str, Any]] = []
    anew = 0
    for body in (body for bodies in received for body in bodies):
        anew += len(body["messages"]) > 1 and not any(extends(before, body) for before in earlier)
        earlier.append(body)
    marker = request.node.get_closest_marker("new_prefixes")
    assert anew == (marker.args[0] if marker else 0), "requests begin unlike all before them"
