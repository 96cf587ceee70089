"""Servers over HTTP, well-behaved and hostile: where requests may go, how much comes back, what a fault costs."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from mcode.mcp import http_guard, library
from mcode.mcp.entries import ServerEntry
from mcode.mcp.http import HttpTransport
from mcode.mcp.http_guard import is_loopback, same_origin
from tests.mcp.http_server import TOOL, Answer, Asked, Faulty, event, result_of, send_chunked, serving
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

TOKEN = "configured-token-" + "0123456789"


def entry_for(url: str, kind: Any = "http", **fields: Any) -> ServerEntry:
    written = {"type": kind, "url": url}
    return ServerEntry("remote", kind, "user", None, url=url, written=written, **fields)


def transport_to(url: str, tmp_path: Path, kind: Any = "http", **fields: Any) -> HttpTransport:
    return HttpTransport(entry_for(url, kind, **fields), tmp_path, {"PATH": "/usr/bin:/bin"})


@contextlib.asynccontextmanager
async def connected(transport: HttpTransport) -> AsyncGenerator[Any]:
    """The library's client on a transport."""
    await library.loaded()
    protocol: Any = importlib.import_module(
        "mcp"
    )  # by its name alone: for the type checker this package is `mcp`
    async with protocol.Client(transport, cache=None) as client:
        yield client


async def call(client: Any, **arguments: object) -> str:
    result = await client.call_tool("echo", arguments, read_timeout_seconds=10)
    return result.content[0].text


async def fault_of(client: Any) -> str:
    """Call the tool, which must fail, and return the error's words."""
    with pytest.raises(library.failures()) as caught:
        await call(client, a=1)
    return library.explain(caught.value)


async def test_a_server_is_connected_listed_called_and_told_of_the_end(tmp_path: Path) -> None:
    async with serving(Faulty()) as server:
        transport = transport_to(f"{server.url}/mcp", tmp_path, headers={"X-Team": "a"})
        async with connected(transport) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            assert json.loads(await call(client, a=1)) == {"a": 1}
        assert {asked.headers.get("x-team") for asked in server.asked} == {"a"}
        assert "DELETE" in [asked.method for asked in server.asked]
        assert (
            next(asked for asked in server.asked if asked.method == "DELETE").headers["mcp-session-id"]
            == "session-1"
        )
        assert transport.fault == ""
        await until(lambda: server.open == 0)


async def test_answers_may_come_as_events(tmp_path: Path) -> None:
    async with serving(Faulty("events")) as server, connected(transport_to(server.url, tmp_path)) as client:
        assert json.loads(await call(client, a=1)) == {"a": 1}


async def test_calls_run_side_by_side(tmp_path: Path) -> None:
    gate = asyncio.Event()
    well = Faulty()

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> Answer | None:
        if asked.rpc == "tools/call" and asked.message["params"]["arguments"]["wait"]:
            await gate.wait()
        return await well(asked, writer)

    async with serving(handler) as server, connected(transport_to(server.url, tmp_path)) as client:
        slow = asyncio.ensure_future(call(client, wait=True))
        assert json.loads(await call(client, wait=False)) == {"wait": False}
        gate.set()
        assert json.loads(await slow) == {"wait": True}


@pytest.mark.parametrize("fault", ["redirect-away", "redirect-as-get", "redirect-for-ever"])
async def test_m_11_no_redirect_leads_to_another_origin_or_loses_the_message(
    tmp_path: Path, fault: str
) -> None:
    async with serving(Faulty()) as thief, serving(Faulty(fault, elsewhere=thief.url)) as server:
        transport = transport_to(server.url, tmp_path, headers={"Authorization": f"Bearer {TOKEN}"})
        async with connected(transport) as client:
            said = await fault_of(client)
            assert "not followed" in said
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"], "it goes on"
        assert thief.asked == []
        assert TOKEN not in said


async def test_m_11_a_redirect_within_the_origin_is_followed_with_the_headers(tmp_path: Path) -> None:
    async with serving(Faulty("redirect-here")) as server:
        transport = transport_to(server.url, tmp_path, headers={"Authorization": f"Bearer {TOKEN}"})
        async with connected(transport) as client:
            assert json.loads(await call(client, a=1)) == {"a": 1}
        moved = [asked for asked in server.asked if asked.path == "/moved"]
        assert moved[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("huge", "over 16,777,216 bytes"),
        ("huge-event", "exceeded the 16777216 byte limit"),
        ("packed", "packed as 'gzip'"),
        ("cut", "no HTTP"),
        ("cut-events", "ended without a response"),
        ("no-http", "its answer is no HTTP"),
        ("page", "Unexpected content type: text/html"),
        ("no-json", "Failed to parse JSON"),
        ("unavailable", "HTTP 503 Service Unavailable"),
        ("accepted", "202 Accepted"),
    ],
)
async def test_m_11_a_fault_is_the_answer_to_its_own_call_and_the_connection_goes_on(
    tmp_path: Path, fault: str, said: str
) -> None:
    async with serving(Faulty(fault)) as server:
        transport = transport_to(server.url, tmp_path)
        async with connected(transport) as client:
            assert said in await fault_of(client)
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        assert transport.fault == ""


async def test_m_11_who_takes_no_connection_is_given_up_after_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert http_guard.CONNECT_TIME == 10.0
    monkeypatch.setattr(http_guard, "CONNECT_TIME", 0.2)
    monkeypatch.setattr(http_guard, "TRIES_AGAIN", 0)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:  # nobody takes them off the queue, so that the next one hangs
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        transport = transport_to(f"http://127.0.0.1:{full.getsockname()[1]}", tmp_path)
        with pytest.raises(library.failures()):
            async with connected(transport):
                pass
        for each in waiting:
            each.close()
    assert transport.fault == "it could not be reached within 0.2 s"


@pytest.mark.parametrize("events", [False, True], ids=["json", "events"])
async def test_m_05_a_list_of_very_many_tools_reaches_the_library_in_parts(
    tmp_path: Path, events: bool
) -> None:
    class Full(Faulty):
        @override
        async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer | None:
            if asked.rpc != "tools/list":
                return await Faulty.__call__(self, asked, writer)
            page = int(asked.message.get("params", {}).get("cursor", 0))
            tools = [{**TOOL, "name": f"t{page}_{n}", "description": "x" * 200} for n in range(1200)]
            more = {"nextCursor": "1"} if page == 0 else {}
            answer = {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"tools": tools, **more}}
            if not events:
                return Answer.json(answer)
            note = {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": ""},
            }
            whole = event(note) + event(answer)
            pieces = [whole[at : at + 50_000] for at in range(0, len(whole), 50_000)]
            return await send_chunked(writer, "text/event-stream", pieces)

    async with serving(Full()) as server, connected(transport_to(server.url, tmp_path)) as client:
        names: list[str] = []
        sizes: list[int] = []
        cursor = None
        while cursor or not sizes:
            listed = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in listed.tools]
            sizes.append(len(listed.tools))
            cursor = listed.next_cursor
        assert sizes == [500, 500, 200, 500, 500, 200]
        assert names == [f"t{page}_{n}" for page in (0, 1) for n in range(1200)]
        assert len(server.of("tools/list")) == 2, "the server is asked for its own pages only"


async def test_an_error_in_the_servers_own_words_has_none_of_our_secrets(tmp_path: Path) -> None:
    async with serving(Faulty("own-words")) as server:
        transport = transport_to(server.url, tmp_path, headers={"Authorization": f"Bearer {TOKEN}"})
        async with connected(transport) as client:
            said = await fault_of(client)
    assert said.startswith("bad token")
    assert TOKEN not in said


async def test_a_call_that_is_given_up_leaves_the_server_usable(tmp_path: Path) -> None:
    async with serving(Faulty("hang")) as server, connected(transport_to(server.url, tmp_path)) as client:
        with pytest.raises(library.failures()):
            await client.call_tool("echo", {}, read_timeout_seconds=0.2)
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        await until(lambda: server.of("notifications/cancelled"))
        assert all(asked.message["params"]["requestId"] for asked in server.of("notifications/cancelled"))


async def test_m_10_a_server_that_takes_no_farewell_holds_up_the_end_for_a_second(tmp_path: Path) -> None:
    async with serving(Faulty("no-farewell")) as server:
        transport = transport_to(server.url, tmp_path)
        async with asyncio.timeout(30):
            async with connected(transport) as client:
                await call(client)
        assert "DELETE" in [asked.method for asked in server.asked]


async def test_a_flood_of_notifications_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    async with serving(Faulty("flood")) as server, connected(transport_to(server.url, tmp_path)) as client:
        turns = 0

        async def watch() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        watching = asyncio.ensure_future(watch())
        assert json.loads(await call(client, a=1)) == {"a": 1}
        watching.cancel()
        assert turns > 500, "others had their turn while two thousand notes came in"


async def test_a_server_that_is_not_there_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_guard, "TRIES_AGAIN", 0)
    async with serving(Faulty()) as server:
        url = server.url
    transport = transport_to(f"{url}/path-with-{TOKEN}", tmp_path)
    with pytest.raises(library.failures()):
        async with connected(transport):
            raise AssertionError("it cannot be connected")
    assert transport.fault.startswith("it cannot be reached")
    assert TOKEN not in transport.fault


async def test_a_server_that_goes_away_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_guard, "TRIES_AGAIN", 0)
    async with serving(Faulty()) as server:
        transport = transport_to(server.url, tmp_path)
        async with connected(transport) as client:
            await server.stop()
            await fault_of(client)
    assert transport.fault.startswith("it cannot be reached")


async def test_a_session_that_the_server_forgot_ends_the_connection(tmp_path: Path) -> None:
    async with serving(Faulty("forgotten")) as server:
        transport = transport_to(server.url, tmp_path)
        async with connected(transport) as client:
            await fault_of(client)
    assert transport.fault == "it no longer knows the session"


async def test_a_refusal_for_want_of_a_sign_in_says_so(tmp_path: Path) -> None:
    async with serving(Faulty("denied")) as server:
        transport = transport_to(server.url, tmp_path)
        async with connected(transport) as client:
            assert await fault_of(client) == "it wants you to sign in"
        assert transport.needs_sign_in
        assert not [asked for asked in server.asked if "well-known" in asked.path], (
            "nobody was asked for more"
        )


async def test_headers_of_a_helper_stand_over_those_of_the_entry(tmp_path: Path) -> None:
    helper = """printf '{"x-team": "%s", "X-Url": "%s"}' "$MCODE_MCP_SERVER_NAME" "$MCODE_MCP_SERVER_URL" """
    async with serving(Faulty()) as server:
        transport = transport_to(
            server.url, tmp_path, headers={"X-Team": "a", "Host": "evil.example"}, headers_helper=helper
        )
        async with connected(transport):
            pass
        first = server.asked[0].headers
    assert (first["x-team"], first["x-url"]) == ("remote", server.url)
    assert first["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("helper", "why"),
    [
        ("exit 3", "ended with exit code 3"),
        ("echo secret-words", "printed no JSON object"),
        ("""printf '{"A": 1}'""", "a header that no request can carry"),
        ("""printf '{"A": "b\\\\r\\\\nC: d"}'""", "a header that no request can carry"),
        ("no-such-program-here", "ended with exit code 127"),
    ],
)
async def test_a_helper_that_gives_no_headers_fails_the_connection(
    tmp_path: Path, helper: str, why: str
) -> None:
    async with serving(Faulty()) as server:
        transport = transport_to(server.url, tmp_path, headers_helper=helper)
        with pytest.raises(OSError, match=why) as caught:
            await transport.__aenter__()
        assert "secret-words" not in str(caught.value)
        assert server.asked == []


def legacy(endpoint: str) -> Any:
    """A server of events alone: a GET that names where to post, and answers on the same stream."""
    streams: list[asyncio.StreamWriter] = []

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> Answer | None:
        if asked.method == "GET":
            streams.append(writer)
            first = f"event: endpoint\ndata: {endpoint}\n\n".encode()
            await send_chunked(writer, "text/event-stream", [first], end=False)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            return None
        if not asked.path.startswith("/post"):
            return Answer(404)
        result = result_of(asked)
        if result is not None:
            data = event(result)
            streams[-1].write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        return Answer(202)

    return handler


async def test_a_server_of_events_alone_works_as_well(tmp_path: Path) -> None:
    async with serving(legacy("/post?session_id=1")) as server:
        async with connected(transport_to(f"{server.url}/sse", tmp_path, "sse")) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            assert json.loads(await call(client, a=1)) == {"a": 1}
        assert server.asked[0].method == "GET"
        assert server.of("server/discover") == []


async def test_a_message_that_a_server_of_events_refuses_ends_the_connection_at_once(tmp_path: Path) -> None:
    async with serving(legacy("/gone")) as server:
        transport = transport_to(f"{server.url}/sse", tmp_path, "sse")
        with pytest.raises(library.failures()):
            async with asyncio.timeout(30), connected(transport):
                raise AssertionError("it cannot be connected")
    assert "HTTP 404" in transport.fault


async def test_m_11_events_cannot_name_another_origin_to_post_to(tmp_path: Path) -> None:
    async with serving(Faulty()) as thief, serving(legacy(f"{thief.url}/post")) as server:
        transport = transport_to(f"{server.url}/sse", tmp_path, "sse", headers={"Authorization": TOKEN})
        with pytest.raises(library.failures()):
            async with asyncio.timeout(1), connected(transport):
                raise AssertionError("it cannot be connected")
        assert thief.asked == []


async def test_an_address_that_answers_no_events_is_told_without_the_address(tmp_path: Path) -> None:
    async with serving(Faulty()) as server:
        transport = transport_to(f"{server.url}/{TOKEN}", tmp_path, "sse")
        with pytest.raises(library.failures()):
            await transport.__aenter__()
    assert "HTTP 405" in transport.fault
    assert TOKEN not in transport.fault


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example/x", "https://a.example:443/y", True),
        ("https://A.example/x", "https://a.example/y", True),
        ("https://a.example", "http://a.example", True),
        ("http://a.example", "https://a.example", False),
        ("https://a.example:8443", "http://a.example:8443", False),
        ("https://a.example.evil.example", "https://a.example", False),
        ("https://a.example@evil.example", "https://a.example", False),
        ("http://127.0.0.1:1", "http://127.0.0.1:2", False),
    ],
)
def test_what_counts_as_the_same_origin(one: str, other: str, same: bool) -> None:
    assert same_origin(one, other) is same


def test_what_counts_as_this_machine() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(is_loopback, ("localhost.evil.example", "10.0.0.1", "", "127.example.com")))
