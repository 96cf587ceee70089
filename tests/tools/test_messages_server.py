"""The server as a client sees it: endpoints, headers, recording, errors, cache figures, capabilities."""

from __future__ import annotations

import asyncio
import json
import time
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from mcode.model.script import (
    ErrorReply,
    Reply,
    RequestView,
    Script,
    ScriptError,
    Turn,
    reply,
    script_of,
    text,
    thinking,
    use,
)
from tests.tools.raw_client import HEADERS, TOOLS, ask, connected, request
from tests.waiting import until
from tools.messages_server import Capabilities, MessagesServer

HELLO = Script(fallback=reply("Hello there."), name="hello")
KEY = "-".join(("sk", "test", "0123456789"))


async def test_a_stream_has_the_events_of_the_protocol_in_their_order() -> None:
    turn = reply(thinking("Hm."), "Hello.", use("Bash", {"command": "ls"}), use("Read"))
    async with MessagesServer(script_of(turn)) as server:
        got = await ask(server)
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert got.headers["transfer-encoding"] == "chunked"
    assert got.headers["request-id"].startswith("req_")
    start, ping, *_ = got.events
    assert ping == {"type": "ping"}
    message = start["message"]
    assert message["id"].startswith("msg_")
    assert message["model"] == "scripted-1"
    assert (message["content"], message["stop_reason"], message["stop_sequence"]) == ([], None, None)
    assert message["usage"]["output_tokens"] == 1
    starts = [event["content_block"] for event in got.events if event["type"] == "content_block_start"]
    assert starts[0] == {"type": "thinking", "thinking": "", "signature": ""}
    assert starts[1] == {"type": "text", "text": ""}
    assert starts[2] == {"type": "tool_use", "id": starts[2]["id"], "name": "Bash", "input": {}}
    assert starts[2]["id"].startswith("toolu_")
    inputs = [
        e["delta"]["partial_json"] for e in got.events if e.get("delta", {}).get("type") == "input_json_delta"
    ]
    assert inputs[0] == ""
    assert "".join(inputs) == '{"command":"ls"}'
    signatures = [e for e in got.events if e.get("delta", {}).get("type") == "signature_delta"]
    assert len(signatures) == 1
    assert got.events[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert got.events[-2]["usage"]["output_tokens"] > 1
    assert got.kinds[-1] == "message_stop"


async def test_without_stream_the_same_message_comes_whole() -> None:
    async with MessagesServer(Script(fallback=reply("Hello.", use("Bash", {"command": "ls"})))) as server:
        got = await ask(server, request(stream=False))
        assert got.headers["content-type"] == "application/json"
        assert got.json["content"][0] == text("Hello.")
        assert got.json["content"][1]["input"] == {"command": "ls"}
        assert got.json["stop_reason"] == "tool_use"


async def test_every_endpoint_answers_under_any_prefix_and_with_a_query() -> None:
    async with MessagesServer(HELLO) as server, connected(server) as client:
        streamed = await client.post(request(), "/some/prefix/v1/messages?beta=true")
        counted = await client.post(request(), "/anthropic/v1/messages/count_tokens")
        models = await client.get("/v1/models?limit=1000")
        unknown = await client.get("/v1/other")
        wrong = await client.get("/v1/messages")
    assert streamed.kinds[-1] == "message_stop"
    assert counted.json["input_tokens"] > 10
    assert models.json["data"][0]["type"] == "model"
    assert models.json["first_id"] == models.json["last_id"] == "scripted-1"
    assert (unknown.status, unknown.json["error"]["type"]) == (404, "not_found_error")
    assert wrong.status == 405
    assert server.message_requests[0].query == "beta=true"


async def test_a_body_in_chunks_and_an_expectation_are_understood() -> None:
    body = json.dumps(request()).encode()
    head = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
    half = len(body) // 2
    chunks = b"".join(b"%X\r\n%b\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))
    async with MessagesServer(HELLO) as server, connected(server) as client:
        got = await client.exchange(head + b"transfer-encoding: chunked\r\n\r\n" + chunks)
        assert got.kinds[-1] == "message_stop"
        assert server.requests[0].json == request()


@pytest.mark.parametrize(
    ("wire", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon here\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 33554433\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nlong: " + b"x" * 70_000, 431),
    ],
)
async def test_bytes_that_are_no_request_are_refused_and_the_connection_closed(
    wire: bytes, status: int
) -> None:
    async with MessagesServer(HELLO) as server, connected(server) as client:
        assert (await client.exchange(wire)).status == status
        assert await client.is_closed()
        assert server.requests == []


async def test_a_request_is_kept_whole_but_without_its_credential() -> None:
    headers = {**HEADERS, "authorization": f"Bearer {KEY}", "x-api-key": KEY, "anthropic-beta": "one,two"}
    before = time.monotonic()
    async with MessagesServer(HELLO, key=KEY) as server:
        await ask(server, headers=headers)
    kept = server.requests[0]
    assert (kept.method, kept.path, kept.status, kept.turn) == ("POST", "/v1/messages", 200, "fallback")
    assert kept.credential == "both"
    assert kept.key_matches
    assert kept.headers["authorization"] == "Bearer [hidden]"
    assert kept.headers["anthropic-beta"] == "one,two"
    assert kept.json == json.loads(kept.body) == request()
    assert before <= kept.received <= (kept.answered or 0) <= time.monotonic()
    assert KEY not in repr(kept)
    assert KEY not in kept.log_line()


@pytest.mark.parametrize(
    ("auth", "headers", "status"),
    [
        ("either", {"x-api-key": "k"}, 200),
        ("either", {"authorization": "Bearer k"}, 200),
        ("either", {}, 401),
        ("bearer", {"x-api-key": "k"}, 401),
        ("bearer", {"authorization": "Bearer k"}, 200),
        ("x-api-key", {"authorization": "Bearer k"}, 401),
        ("x-api-key", {"authorization": "Bearer k", "x-api-key": "k"}, 200),
        ("none", {}, 200),
    ],
)
async def test_the_credential_has_to_come_in_the_header_that_the_endpoint_reads(
    auth: Any, headers: dict[str, str], status: int
) -> None:
    async with MessagesServer(HELLO, capabilities=Capabilities(auth=auth)) as server:
        got = await ask(server, headers={"anthropic-version": "2023-06-01", **headers})
        assert got.status == status
        if status == 401:
            assert got.json["error"]["type"] == "authentication_error"


async def test_a_wrong_key_is_refused() -> None:
    async with MessagesServer(HELLO, key=KEY) as server:
        assert (await ask(server)).status == 401
        assert (await ask(server, headers={**HEADERS, "x-api-key": KEY})).status == 200


async def test_a_model_that_is_not_listed_is_not_found() -> None:
    models = [{"id": "small", "type": "model", "max_input_tokens": 1000, "max_tokens": 100}]
    async with MessagesServer(HELLO, models=models) as server:
        got = await ask(server)
        assert (got.status, got.json["error"]["message"]) == (404, "model: scripted-1")
        assert (await ask(server, request(model="small"))).status == 200


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
async def test_an_error_has_the_envelope_and_the_type_of_its_status(status: int, kind: str) -> None:
    async with MessagesServer(script_of(Reply(error=ErrorReply(status, message="no")))) as server:
        got = await ask(server)
        request_id = got.headers["request-id"]
        error = {"type": kind, "message": "no"}
        assert (got.status, got.json) == (status, {"type": "error", "error": error, "request_id": request_id})


async def test_retry_headers_are_sent_as_the_script_says() -> None:
    def limited(**fields: Any) -> Reply:
        return Reply(error=ErrorReply(429, **fields))

    turns = [
        limited(),
        limited(headers={"retry-after": "1"}),
        limited(headers={"retry-after": "86400", "x-should-retry": "false"}),
        limited(retry_date=30),
    ]
    async with MessagesServer(script_of(*turns)) as server:
        absent, second, day, date = [await ask(server) for _ in turns]
    assert "retry-after" not in absent.headers
    assert second.headers["retry-after"] == "1"
    assert (day.headers["retry-after"], day.headers["x-should-retry"]) == ("86400", "false")
    seconds = parsedate_to_datetime(date.headers["retry-after"]).timestamp() - time.time()
    assert 25 <= seconds <= 31


async def test_an_error_can_come_after_some_events_of_a_stream() -> None:
    failing = Reply((text("Some words."),), error=ErrorReply(529, message="busy", after_events=4))
    async with MessagesServer(script_of(failing)) as server:
        got = await ask(server)
    assert got.status == 200
    assert got.kinds == ["message_start", "ping", "content_block_start", "content_block_delta", "error"]
    assert got.events[-1]["error"] == {"type": "overloaded_error", "message": "busy"}


async def test_the_pace_of_a_reply_lies_between_its_deltas() -> None:
    async with MessagesServer(script_of(reply("abcdef", pace=0.05, chunk=2, delay=0.05))) as server:
        began = time.monotonic()
        got = await ask(server)
        assert got.kinds.count("content_block_delta") == 3
        assert time.monotonic() - began >= 0.15


async def test_missing_endpoints_answer_404() -> None:
    capabilities = Capabilities(count_tokens="404", models="404")
    async with MessagesServer(HELLO, capabilities=capabilities) as server, connected(server) as client:
        assert (await client.post(request(), "/v1/messages/count_tokens")).status == 404
        assert (await client.get("/v1/models")).status == 404


async def test_a_script_at_its_end_fails_the_test_that_uses_it() -> None:
    async def serve() -> None:
        async with MessagesServer(script_of("only one", name="short")) as server:
            assert (await ask(server)).status == 200
            got = await ask(server)
            assert (got.status, got.json["error"]["type"]) == (400, "script_error")

    with pytest.raises(ScriptError, match="no turn fits request 2"):
        await serve()


async def test_a_reply_function_that_fails_is_a_problem_of_the_script() -> None:
    def answer(view: RequestView) -> Reply:
        assert view.user_text == "something else"
        return reply("never said")

    async with MessagesServer(Script(fallback=answer), strict=False) as server:
        got = await ask(server)
        assert (got.status, got.json["error"]["type"]) == (400, "script_error")
        assert "a reply function failed: AssertionError" in server.problems[0]


async def test_a_reply_to_a_forced_call_must_call() -> None:
    async with MessagesServer(HELLO, strict=False) as server:
        got = await ask(server, request(tool_choice={"type": "any"}))
        assert got.json["error"]["type"] == "script_error"
        assert "forces a call" in server.problems[0]


async def test_a_deferred_tool_can_be_called_only_after_a_reference() -> None:
    tools = [TOOLS[0], {"name": "Late", "input_schema": {"type": "object"}, "defer_loading": True}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "tool_reference", "tool_name": "Late"}],
                }
            ],
        },
    ]
    script = Script(fallback=reply(use("Late")))
    async with MessagesServer(script, strict=False) as server:
        assert (await ask(server, request(tools=tools))).json["error"]["type"] == "script_error"
        assert (await ask(server, request(tools=tools, messages=messages))).status == 200
    async with MessagesServer(script, capabilities=Capabilities(defer_loading="ignore")) as server:
        assert (await ask(server, request(tools=tools))).status == 200


async def test_turns_that_were_never_given_are_named() -> None:
    script = script_of(Turn(reply("a"), name="first"), Turn(reply("b"), name="second"))
    async with MessagesServer(script) as server:
        await ask(server)
        assert server.unused_turns == ("second",)
        assert server.requests[0].turn == "first"


async def test_only_the_newest_requests_are_kept_where_a_number_is_given() -> None:
    async with MessagesServer(HELLO, keep=2) as server:
        for words in ("one", "two", "three"):
            await ask(server, request(words))
        assert [body["messages"][0]["content"] for body in server.bodies] == ["two", "three"]


async def test_many_connections_are_served_at_once() -> None:
    async with MessagesServer(Script(fallback=reply("slow", delay=60))) as server, asyncio.timeout(30):
        asked = [asyncio.ensure_future(ask(server)) for _ in range(20)]
        # one after another, the second would come after a minute
        await until(lambda: len(server.bodies) == 20, seconds=25)
        for each in asked:
            each.cancel()
        await asyncio.wait(asked)
    async with MessagesServer(HELLO) as server:
        answers = await asyncio.gather(*(ask(server) for _ in range(20)))
        assert all(got.kinds[-1] == "message_stop" for got in answers)


async def test_a_server_can_refuse_and_take_connections_again_at_the_same_port() -> None:
    async with MessagesServer(HELLO) as server:
        url = server.url
        await server.refuse_connections()
        with pytest.raises(ConnectionRefusedError):
            await ask(server)
        await server.accept_connections()
        assert server.url == url
        assert (await ask(server)).status == 200
