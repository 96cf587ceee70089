"""The scripted client: a model client in this process, by the same interface as the real one."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.client import FailureClass, ModelFailure, ModelInfo
from mcode.model.messages import MessageAssembler
from mcode.model.script import ErrorReply, Reply, Script, ScriptError, reply, script_of, text, use
from mcode.model.scripted import ScriptedClient

if TYPE_CHECKING:
    from mcode.model.client import ModelClient

BODY: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}


async def events_of(client: ModelClient, body: dict[str, Any] = BODY) -> list[dict[str, Any]]:
    return [event async for event in client.stream(body)]


async def test_the_events_of_a_turn_make_a_complete_message() -> None:
    client = ScriptedClient(script_of(reply("Hello.", use("Bash", {"command": "ls"}))))
    assembler = MessageAssembler()
    for event in await events_of(client):
        assembler.feed(event)
    assembled = assembler.finish()
    assert assembled.complete, assembled.problem
    assert assembled.message["content"][0] == text("Hello.")
    assert [(called.name, called.arguments) for called in assembled.uses] == [("Bash", {"command": "ls"})]
    assert assembled.message["usage"]["input_tokens"] > 0


async def test_requests_are_kept_as_they_were_sent() -> None:
    client = ScriptedClient(Script(fallback=reply("x")))
    body = {**BODY, "messages": [dict(BODY["messages"][0])]}
    await events_of(client, body)
    body["messages"][0]["content"] = "changed"
    assert client.requests == [BODY]
    silent = ScriptedClient(Script(fallback=reply("x")), record=False)
    await events_of(silent)
    assert silent.requests == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ErrorReply(401), FailureClass.STOP),
        (ErrorReply(429, headers={"Retry-After": "7"}), FailureClass.RETRY),
        (ErrorReply(529), FailureClass.RETRY),
        (ErrorReply(400, message="prompt is too long: 3 tokens > 2 maximum"), FailureClass.COMPACT),
        (ErrorReply(503, shape="empty"), FailureClass.RETRY),
    ],
)
async def test_a_scripted_error_is_a_failure_of_its_class(error: ErrorReply, kind: FailureClass) -> None:
    client = ScriptedClient(script_of(Reply(error=error)))
    with pytest.raises(ModelFailure) as caught:
        await events_of(client)
    failure = caught.value.failure
    assert (failure.kind, failure.status, failure.type) == (kind, error.status, error.kind)
    assert failure.retry_after == (7.0 if error.headers else None)


async def test_a_retry_date_is_a_time_to_wait() -> None:
    client = ScriptedClient(script_of(Reply(error=ErrorReply(429, retry_date=30))))
    with pytest.raises(ModelFailure) as caught:
        await events_of(client)
    assert 25 <= (caught.value.failure.retry_after or 0) <= 31


async def test_an_error_inside_the_stream_comes_after_its_events() -> None:
    client = ScriptedClient(script_of(Reply((text("Some words."),), error=ErrorReply(529, after_events=4))))
    seen: list[dict[str, Any]] = []

    async def read() -> None:
        async for event in client.stream(BODY):
            seen.append(event)  # noqa: PERF401 -- the list must hold what came before the failure

    with pytest.raises(ModelFailure) as caught:
        await read()
    assert [event["type"] for event in seen][-1] == "content_block_delta"
    assert len(seen) == 4
    assert (caught.value.failure.status, caught.value.failure.type) == (200, "overloaded_error")


async def test_a_fault_of_the_wire_cannot_be_played_without_a_wire() -> None:
    client = ScriptedClient(script_of(reply("x", faults=("crlf",)), name="demo"))
    with pytest.raises(ScriptError, match=r"demo: turn 1: the faults \('crlf',\) need the loopback server"):
        await events_of(client)


async def test_the_pace_lies_between_the_deltas() -> None:
    client = ScriptedClient(Script(fallback=reply("abcdef", chunk=2)), pace=0.05)
    began = time.monotonic()
    await events_of(client)
    assert time.monotonic() - began >= 0.1


async def test_a_reader_that_is_cancelled_stops_at_once() -> None:
    client = ScriptedClient(script_of(reply("slow", delay=3600)))
    task = asyncio.create_task(events_of(client))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)


async def test_a_long_stream_lets_others_run_between_its_events() -> None:
    client = ScriptedClient(script_of(reply("x" * 500, chunk=1)))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await events_of(client)
    counting.cancel()
    assert turns > 400


async def test_models_name_and_end() -> None:
    client = ScriptedClient(Script(), name="demo", models=[ModelInfo("a", 1000)])
    assert client.name == "demo"
    assert await client.list_models() == (ModelInfo("a", 1000),)
    await client.close()
    assert client.closed
