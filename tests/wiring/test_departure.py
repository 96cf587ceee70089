"""Servers and the search's index stay out of the way until the first request has gone out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from mcode.events import AssistantMessage, EventBus, RequestStarted, RetryScheduled, TurnFinished
from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from mcode.wiring import catalogue, servers
from mcode.wiring.departure import Departure
from tests.mcp.test_in_sessions import configure
from tests.stage import turns
from tests.waiting import until
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from mcode.events import Event
    from mcode.jsontext import JsonObject

MOMENTS = 20
"""Turns of the loop in which whatever does not wait would have come to pass."""


class SlowWire(ScriptedClient):
    """A model behind a wire that carries nothing until it is opened."""

    def __init__(self) -> None:
        super().__init__(parse_script(turns("hello"), "test"))
        self.opened = asyncio.Event()

    @override
    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        await self.opened.wait()
        async for event in super().stream(body):
            yield event


async def moments() -> None:
    for _ in range(MOMENTS):
        await asyncio.sleep(0)


@pytest.mark.parametrize("interactive", [False, True])
async def test_no_server_is_connected_and_no_index_built_while_the_first_request_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interactive: bool
) -> None:
    for module, name in ((servers, "AFTER_REQUEST"), (servers, "AFTER_START"), (catalogue, "WARM_AFTER")):
        monkeypatch.setattr(module, name, 0.0)
    configure(tmp_path, h={"args": ["hang"]})
    client = SlowWire()
    bench = local_workbench(tmp_path, client)
    bench.interactive = interactive
    agent = await bench.open_agent("startup")
    try:
        said = asyncio.ensure_future(agent.submit("hi"))
        started: list[Event] = []
        agent.events.subscribe(started.append)
        await until(lambda: any(isinstance(event, RequestStarted) for event in started))
        await agent.start("startup")  # behind the request, as late as it can be
        await moments()
        server = bench.pool.get("h")
        assert server is not None
        assert server.connection.state == "off"
        assert agent.builder.shelf.finder._index is None
        client.opened.set()
        await said
        await until(lambda: server.connection.state == "connecting")
        await until(lambda: agent.builder.shelf.finder._index is not None)
    finally:
        await agent.close("other")
        await bench.close()


async def waits(departure: Departure, events: EventBus, emitted: Sequence[Event]) -> AsyncIterator[bool]:
    """After each event: whether the first request is still waited for."""
    waiting = asyncio.ensure_future(departure.request())
    for event in emitted:
        events.emit(event)
        await moments()
        yield not waiting.done()
    waiting.cancel()


@pytest.mark.parametrize(
    "end",
    [
        AssistantMessage({"role": "assistant", "content": []}, complete=True),
        TurnFinished(1, "error", "no route"),
        RetryScheduled(attempt=2, limit=5, delay=1.0, reason="busy", status=529, kind="overloaded"),
    ],
)
async def test_an_answer_a_failure_and_a_wait_for_another_try_end_the_waiting(end: Event) -> None:
    events = EventBus()
    departure = Departure.of(events, asyncio.Event())
    seen = [each async for each in waits(departure, events, [end, RequestStarted(1), end])]
    assert seen == [True, True, False]


async def test_the_client_says_that_the_request_is_out_before_any_answer() -> None:
    events, sent = EventBus(), asyncio.Event()
    departure = Departure.of(events, sent)
    await asyncio.wait_for(departure.clear(), 30)  # nothing is under way: nothing to wait for
    waiting = asyncio.ensure_future(departure.request())
    events.emit(RequestStarted(1))
    await moments()
    assert not waiting.done()
    sent.set()
    await asyncio.wait_for(waiting, 30)
