"""The real SDK against the loopback server: headers, bytes, time limits, and the model list."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcode import jsontext
from mcode.model.anthropic import AnthropicClient, preload
from mcode.model.client import FailureClass, ModelFailure, ModelInfo
from mcode.model.profiles import HeaderStyle, choose_profile
from mcode.model.retry import RetryPolicy, complete
from mcode.model.script import Reply, reply, script_of, text, use
from tests.model.conftest import BODY, client_for, events_of, stream_of
from tests.waiting import until
from tools.messages_server import LLAMA_CPP, Capabilities, MessagesServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcode.jsontext import JsonObject

GOOD = reply("All is well. Grüße 🙂", use("Bash", {"command": "ls"}))


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction] -- autouse
    """Seconds of import that no time limit of a test should meet."""
    preload()


@asynccontextmanager
async def raw_server(answer: bytes, *, hold: bool = False) -> AsyncGenerator[str]:
    """A server that sends these bytes to whoever connects, and perhaps then nothing more."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if hold:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def failure_of(client: AnthropicClient, body: JsonObject = BODY) -> ModelFailure:
    with pytest.raises(ModelFailure) as failed:
        await events_of(client, body)
    return failed.value


async def test_the_body_on_the_wire_is_the_body_that_was_built(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD)) as server:
        await events_of(client_for(clients, server.url))
        assert server.requests[0].body == jsontext.dump(BODY).encode()
        assert server.requests[0].path == "/v1/messages"
        assert server.requests[0].headers["content-type"] == "application/json"


async def test_it_says_when_the_request_is_out_which_is_before_the_answer_begins() -> None:
    seen: list[str] = []
    async with raw_server(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", hold=True) as url:
        profile = replace(choose_profile(url), first_event_limit=30.0)
        client = AnthropicClient(profile, "key-of-the-test", on_sent=lambda: seen.append("sent"))
        asking = asyncio.ensure_future(events_of(client))
        await until(lambda: seen)
        assert seen == ["sent"]
        assert not asking.done()
        asking.cancel()
        await asyncio.wait({asking})
        await client.close()


async def test_events_are_plain_objects_pings_among_them(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD)) as server:
        events = await events_of(client_for(clients, server.url))
    assert [event["type"] for event in events[:3]] == ["message_start", "ping", "content_block_start"]
    assert events[-1] == {"type": "message_stop"}
    assert all(type(event) is dict for event in events)


async def test_a_connection_serves_one_request_after_the_other(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD, GOOD, GOOD)) as server:
        client = client_for(clients, server.url)
        for _ in range(3):
            await events_of(client)
        assert {request.connection for request in server.requests} == {1}


@pytest.mark.parametrize(
    ("style", "seen"),
    [(HeaderStyle.BEARER, "bearer"), (HeaderStyle.KEY, "x-api-key"), (HeaderStyle.BOTH, "both")],
)
async def test_exactly_the_credential_of_the_profile_is_sent_in_its_style(
    style: HeaderStyle, seen: str, clients: list[AnthropicClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    async with MessagesServer(script_of(GOOD), key="key-of-the-test") as server:
        await events_of(client_for(clients, server.url, header_style=style))
        assert (server.requests[0].credential, server.requests[0].key_matches) == (seen, True)


async def test_a_keyless_endpoint_gets_a_placeholder_and_never_the_users_own_key(
    clients: list[AnthropicClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    async with MessagesServer(script_of(GOOD), key="none") as server:
        await events_of(client_for(clients, server.url, credential=None))
        assert server.requests[0].key_matches


@pytest.mark.parametrize(("given", "sent"), [("2023-06-01", "2023-06-01"), (None, "2026-10-21")])
async def test_the_api_version_is_the_profiles_else_the_sdks(
    given: str | None, sent: str, clients: list[AnthropicClient]
) -> None:
    async with MessagesServer(script_of(GOOD)) as server:
        await events_of(client_for(clients, server.url, api_version=given))
        assert server.requests[0].headers["anthropic-version"] == sent


async def test_custom_headers_of_the_user_are_sent_beside_the_one_credential(
    clients: list[AnthropicClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "X-Team: blue\nX-API-Key: other-key\nAuthorization: Basic abc\nanthropic-version: 1999-01-01"
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", lines)
    async with MessagesServer(script_of(GOOD, GOOD), key="key-of-the-test") as server:
        await events_of(client_for(clients, server.url, header_style=HeaderStyle.BEARER))
        first = server.requests[0]
        assert first.headers["x-team"] == "blue"
        assert first.headers["anthropic-version"] == "2023-06-01"
        assert (first.credential, first.key_matches) == ("bearer", True)


async def test_without_a_credential_the_users_custom_header_is_the_credential(
    clients: list[AnthropicClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: gateway-key")
    async with MessagesServer(script_of(GOOD), key="gateway-key") as server:
        await events_of(client_for(clients, server.url, credential=None, header_style=HeaderStyle.KEY))
        assert (server.requests[0].credential, server.requests[0].key_matches) == ("x-api-key", True)


async def test_a_base_url_with_a_path_keeps_it(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD)) as server:
        client = client_for(clients, server.url + "/anthropic/")
        await events_of(client)
        assert server.requests[0].path == "/anthropic/v1/messages"
        assert client.name == f"127.0.0.1:{server.port}/anthropic"


@pytest.mark.parametrize("credential", ["two words", "line\n", "ümlaut", "tab\tkey"])
async def test_a_credential_that_no_header_can_carry_is_named_but_not_shown(
    credential: str, clients: list[AnthropicClient]
) -> None:
    failure = (await failure_of(client_for(clients, "http://127.0.0.1:9", credential=credential))).failure
    assert failure.kind is FailureClass.STOP
    assert "credential from the test" in failure.message
    assert credential not in failure.message


async def test_a_body_that_is_no_json_is_refused_before_it_is_sent(clients: list[AnthropicClient]) -> None:
    client = client_for(clients, "http://127.0.0.1:9")
    for odd in (float("nan"), "\ud800"):
        failure = (await failure_of(client, {**BODY, "odd": odd})).failure
        assert failure.kind is FailureClass.STOP
        assert "Nothing was sent" in failure.message


async def test_a_redirect_is_not_followed_with_the_credential(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(fallback=GOOD)) as other:
        head = f"HTTP/1.1 307 Temporary\r\nlocation: {other.url}/v1/messages\r\ncontent-length: 0\r\n\r\n"
        async with raw_server(head.encode()) as url:
            failure = (await failure_of(client_for(clients, url))).failure
        assert other.requests == []
        assert failure.kind is FailureClass.STOP
        assert other.url in failure.message


async def test_a_proxy_of_the_environment_does_not_stand_before_this_machine(
    clients: list[AnthropicClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with MessagesServer(script_of(GOOD)) as server:
        assert await events_of(client_for(clients, server.url))


# -- Time limits --------------------------------------------------------------------------------------------------


async def test_s_07_silence_after_content_is_a_cut(clients: list[AnthropicClient]) -> None:
    script = script_of(Reply(blocks=(text("Half a sentence"),), faults=("stall",)))
    async with MessagesServer(script) as server:
        failure = (await failure_of(client_for(clients, server.url, idle_limit=1.0))).failure
    assert failure.kind is FailureClass.CUT
    assert "was silent for 1 s" in failure.message


async def test_s_07_silence_before_the_first_event_is_a_time_out_to_retry(
    clients: list[AnthropicClient],
) -> None:
    async with MessagesServer(script_of(Reply(blocks=(text("x"),), faults=("stall-first",)))) as server:
        client = client_for(clients, server.url, first_event_limit=0.3, idle_limit=30)
        failure = (await failure_of(client)).failure
    assert failure.kind is FailureClass.RETRY
    assert "did not begin to answer within 0.3 s" in failure.message


async def test_s_07_silence_before_the_headers_is_a_time_out_to_retry(clients: list[AnthropicClient]) -> None:
    async with raw_server(b"", hold=True) as url:
        failure = (await failure_of(client_for(clients, url, first_event_limit=0.3))).failure
    assert (failure.kind, failure.type) == (FailureClass.RETRY, "timeout")


async def test_s_07_a_long_silence_before_content_is_borne_where_nothing_is_known(
    clients: list[AnthropicClient],
) -> None:
    slow = Reply(blocks=(text("x"),), faults=("stall-first:2.0",))
    async with MessagesServer(script_of(slow)) as server:
        client = client_for(clients, server.url, first_event_limit=30, idle_limit=1.0)
        assert (await events_of(client))[-1] == {"type": "message_stop"}


async def test_s_07_pings_are_signs_of_life(clients: list[AnthropicClient]) -> None:
    slow = Reply(blocks=(text("Half a sentence"),), faults=("stall-with-pings:2.4",))
    async with MessagesServer(script_of(slow)) as server:
        client = client_for(clients, server.url, idle_limit=1.2)
        assert (await events_of(client))[-1] == {"type": "message_stop"}


async def test_s_07_endless_pings_end_at_the_total_limit_of_a_profile_that_pings(
    clients: list[AnthropicClient],
) -> None:
    slow = Reply(blocks=(text("Half a sentence"),), faults=("stall-with-pings",))
    async with MessagesServer(script_of(slow)) as server:
        client = client_for(clients, server.url, idle_limit=30, total_limit=1.0)
        failure = (await failure_of(client)).failure
    assert failure.kind is FailureClass.CUT
    assert "had not finished after 1 s" in failure.message


@pytest.mark.parametrize("fault", ["stall", "stall-first", "stall-with-pings"])
async def test_s_07_cancelling_closes_the_connection_within_a_second(
    fault: str, clients: list[AnthropicClient]
) -> None:
    async with MessagesServer(script_of(Reply(blocks=(text("Half a sentence"),), faults=(fault,)))) as server:
        task = asyncio.create_task(complete(client_for(clients, server.url), BODY))
        await until(lambda: server.requests)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # by itself, neither side would end it: the server is silent for good, and the client's patience is longer
        await until(lambda: server.requests[0].answered is not None, seconds=20)
        assert server.requests[0].client_left


async def test_s_07_cancelling_while_the_headers_are_awaited_closes_the_connection(
    clients: list[AnthropicClient],
) -> None:
    left = asyncio.Event()
    came = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        came.set()
        while await reader.read(65536):
            pass
        left.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        task = asyncio.create_task(events_of(client_for(clients, url)))
        await asyncio.wait_for(came.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(left.wait(), 30)


async def test_s_07_leaving_the_loop_early_closes_the_connection(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(
        script_of(Reply(blocks=(text("Half a sentence"),), faults=("stall",)))
    ) as server:
        stream = client_for(clients, server.url).stream(BODY)
        async for event in stream:
            if event["type"] == "content_block_delta":
                break
        await stream.aclose()
        await until(lambda: server.requests[0].client_left, seconds=20)


async def test_a_server_that_keeps_the_line_open_after_the_end_does_not_hold_the_message(
    clients: list[AnthropicClient],
) -> None:
    events = stream_of(text("Done."))
    frames = "".join(f"event: {event['type']}\ndata: {jsontext.dump(event)}\n\n" for event in events)
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    async with raw_server((head + frames).encode(), hold=True) as url, asyncio.timeout(30):
        got = await complete(client_for(clients, url, idle_limit=60), BODY)
    assert got.complete


# -- The model list -----------------------------------------------------------------------------------------------


async def test_models_are_listed_with_their_windows_in_every_dialect(clients: list[AnthropicClient]) -> None:
    listed: list[JsonObject] = [
        {"id": "a", "display_name": "Model A", "max_input_tokens": 200_000, "max_tokens": 64_000},
        {"id": "llama", "object": "model", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}},
        {"id": "vllm", "max_model_len": 4096},
        {"id": "router", "name": "Router", "context_length": 131_072},
        {"id": "plain", "max_input_tokens": None, "max_tokens": "many"},
        {"no": "id"},
    ]
    async with MessagesServer(script_of(), models=listed) as server:
        models = await client_for(clients, server.url).list_models()
    assert models == (
        ModelInfo("a", 200_000, 64_000, "Model A"),
        ModelInfo("llama", 8192),
        ModelInfo("vllm", 4096),
        ModelInfo("router", 131_072, None, "Router"),
        ModelInfo("plain"),
    )


async def test_a_model_list_that_is_missing_or_odd_is_a_failure_or_empty(
    clients: list[AnthropicClient],
) -> None:
    async with MessagesServer(script_of(), capabilities=Capabilities(models="404")) as server:
        with pytest.raises(ModelFailure, match="404"):
            await client_for(clients, server.url).list_models()
    for odd in (b"[]", b'{"data": null}', b"null", b"3"):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(odd)
        async with raw_server(head + odd) as url:
            assert await client_for(clients, url).list_models() == ()


async def test_a_llama_cpp_server_is_understood(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD), capabilities=LLAMA_CPP) as server:
        got = await complete(client_for(clients, server.url, credential=None), BODY)
    assert got.complete
    assert not got.uses[0].id.startswith("toolu_")


async def test_a_client_can_be_used_again_after_it_was_closed(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(GOOD, GOOD)) as server:
        client = client_for(clients, server.url)
        await events_of(client)
        await client.close()
        await client.close()
        assert await events_of(client)


async def test_a_refused_connection_is_retried_and_told_plainly(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of()) as server:
        url = server.url
    client = client_for(clients, url)
    with pytest.raises(ModelFailure) as failed:
        await complete(client, BODY, policy=RetryPolicy(tries=2, first_delay=0.01))
    assert failed.value.failure.kind is FailureClass.RETRY
    assert "could not be reached" in str(failed.value)
    assert "tried 2 times" in str(failed.value)


async def test_a_name_that_does_not_resolve_is_told_plainly(clients: list[AnthropicClient]) -> None:
    client = client_for(clients, "http://no-such-host.invalid")
    failure = (await failure_of(client)).failure
    assert (failure.kind, failure.type) == (FailureClass.RETRY, "connection")
    assert "no-such-host.invalid" in failure.message


def test_the_client_can_be_made_without_the_sdk_or_a_running_loop() -> None:
    assert AnthropicClient(choose_profile(), None).name == "api.anthropic.com"
