"""Each named fault produces the bytes that it names, seen through a raw socket."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from mcode.model.script import Reply, Script, ScriptError, reply, script_of, use
from tests.tools.fault_checks import CHECKS, WORDS, whole, without
from tests.tools.raw_client import BARE_LINE_FEED, Answer, ask, connected, request
from tests.waiting import let_pass, until
from tools.messages_server import FAULTS, MessagesServer
from tools.messages_server.faults import parse_faults

COMMAND = use("Bash", {"command": 'printf "a\\tb\\n"', "description": "Ünïcode"})
READING = use("Read", {"file_path": "notes.txt"})

STALLS = ("stall", "stall-with-pings", "stall-first", "stall-first-with-pings")
SILENCE = 0.25
"""Seconds that a stall lasts here."""


def script(*faults: str) -> Script:
    return Script(fallback=reply(WORDS, COMMAND, READING, faults=faults))


async def answer_with(*faults: str) -> Answer:
    async with MessagesServer(script(*faults)) as server:
        return await ask(server)


@pytest.fixture(scope="module")
def sound() -> Answer:
    """The answer without any fault."""
    return asyncio.run(answer_with())


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_does_to_the_bytes_what_its_name_says(name: str, sound: Answer) -> None:
    began = time.monotonic()
    got = await answer_with(f"{name}:{SILENCE}" if name in STALLS else name)
    CHECKS[name](got, sound)
    if name in STALLS:
        assert time.monotonic() - began >= SILENCE


@pytest.mark.parametrize("name", [name for name, check in CHECKS.items() if check is not whole])
def test_a_check_of_a_fault_fails_for_a_sound_answer(name: str, sound: Answer) -> None:
    with pytest.raises((AssertionError, KeyError, json.JSONDecodeError)):
        CHECKS[name](sound, sound)


def test_an_answer_without_faults_is_the_same_every_time(sound: Answer) -> None:
    again = asyncio.run(answer_with())
    assert again.body == sound.body
    assert again.headers.keys() == sound.headers.keys()


@pytest.mark.parametrize(("fault", "ended"), [("cut", "closed"), ("reset", "reset"), ("end", "clean")])
async def test_a_stream_can_end_after_each_of_its_events(fault: str, ended: str, sound: Answer) -> None:
    count = len(sound.events)
    places = (1, 2, 3, 4, count // 2, count - 1, count)
    turns = [reply(WORDS, COMMAND, READING, faults=(f"{fault}-after-event:{place}",)) for place in places]
    async with MessagesServer(script_of(*turns)) as server:
        for place in places:
            got = await ask(server)
            assert got.kinds == sound.kinds[:place]
            assert got.ended == ended


async def test_faults_of_different_stages_add_up(sound: Answer) -> None:
    got = await answer_with("crlf", "split-data", "one-byte-per-packet", "unknown-event")
    assert without(got.events, "future_event") == sound.events
    assert not BARE_LINE_FEED.search(got.body)
    assert len(got.packets) > len(got.body) / 2


async def test_a_stalled_answer_ends_when_the_client_leaves() -> None:
    async with MessagesServer(script("stall")) as server:
        async with connected(server) as client:
            waiting = asyncio.create_task(client.post(request()))
            await server.wait_for(1)
            await asyncio.sleep(0.05)
            client.leave()
            await waiting
        await until(lambda: server.requests[0].answered is not None)
        assert server.requests[0].client_left


async def test_a_connection_closes_unannounced_after_its_answer() -> None:
    async with MessagesServer(script("keep-alive-closed")) as server, connected(server) as client:
        got = await client.post(request())
        assert "connection" not in got.headers
        assert await client.is_closed()


async def test_a_kept_connection_is_reset_by_its_next_request() -> None:
    async with MessagesServer(script("keep-alive-reset")) as server, connected(server) as client:
        assert (await client.post(request())).ended == "clean"
        assert (await client.post(request())).ended == "reset"
        assert len(server.requests) == 1


async def test_a_connection_without_faults_is_kept_for_the_next_request() -> None:
    async with MessagesServer(script()) as server, connected(server) as client:
        assert [(await client.post(request())).status for _ in range(3)] == [200, 200, 200]
        assert {kept.connection for kept in server.requests} == {1}


async def test_new_connections_are_refused_for_a_while_and_then_taken_again() -> None:
    async with MessagesServer(script_of(reply("a", faults=("refuse-next:60",)), "b")) as server:
        assert (await ask(server)).status == 200
        with pytest.raises(ConnectionRefusedError):
            await ask(server)
        let_pass(60)
        async with asyncio.timeout(30):
            while True:
                try:
                    assert (await ask(server)).status == 200
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)
                else:
                    break


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("no-such-fault", "unknown; known: array-tool-input"),
        ("crlf:3", "takes no argument"),
        ("cut-after-event:soon", "takes a number"),
        ("stall:long", "takes seconds"),
    ],
)
def test_a_fault_that_is_not_in_the_table_is_an_error(given: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        parse_faults((given,))


@pytest.mark.parametrize(
    ("unfit", "words"),
    [
        (reply("no call", faults=("cut-in-tool-json",)), "no tool_use block"),
        (reply("ascii", faults=("split-character",)), "no character of several bytes"),
        (reply("short", faults=("cut-after-event:99",)), "nothing can happen after event 99"),
        (reply(use("Bash"), faults=("equal-tool-ids",)), "two tool_use blocks"),
        (reply(use("Bash"), faults=("cut-in-tool-json",)), "needs a call with arguments"),
    ],
)
async def test_a_fault_that_does_not_fit_its_reply_fails_loudly(unfit: Reply, words: str) -> None:
    async def serve() -> None:
        async with MessagesServer(Script(fallback=unfit, name="unfit")) as server:
            got = await ask(server)
            assert (got.status, got.json["error"]["type"]) == (400, "script_error")
            assert got.headers["x-should-retry"] == "false"

    with pytest.raises(ScriptError, match=words):
        await serve()
