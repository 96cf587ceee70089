"""Requests that the API would refuse are refused, each with 400 and a message that names the place."""

from __future__ import annotations

from typing import Any

import pytest

from mcode.model.script import Script, reply, script_of, signature_of, text, thinking, use
from tests.tools.raw_client import HEADERS, TOOLS, ask, connected, request
from tools.messages_server import Capabilities, MessagesServer

HELLO = Script(fallback=reply("Hello."))
MARK = {"type": "ephemeral"}
SEARCH = {"name": "tool_search", "input_schema": {"type": "object"}}
LATE = {"name": "Late", "input_schema": {"type": "object"}, "defer_loading": True}


def called(*ids: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": identifier, "name": "Bash", "input": {}} for identifier in ids
    ]
    return {"role": "assistant", "content": blocks}


def result(identifier: str, content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **fields}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def after_hello(*messages: dict[str, Any]) -> dict[str, Any]:
    return request(messages=[{"role": "user", "content": "hello"}, *messages])


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in request().items() if key != name}


REFUSED: dict[str, tuple[Any, str]] = {
    "not JSON": (b"{", "not valid JSON"),
    "a doubled key": (b'{"model": "a", "model": "b"}', "not valid JSON"),
    "no model": (without("model"), "model: Field required"),
    "no max_tokens": (without("max_tokens"), "max_tokens"),
    "a negative max_tokens": (request(max_tokens=-1), "max_tokens"),
    "no messages": (without("messages"), "messages: Field required"),
    "empty messages": (request(messages=[]), "at least one message"),
    "a stream that is no boolean": (request(stream="yes"), "stream"),
    "an unknown role": (request(messages=[{"role": "robot", "content": "x"}]), "messages.0.role"),
    "an assistant first": (request(messages=[{"role": "assistant", "content": "x"}]), "first message"),
    "an empty text": (request(messages=[{"role": "user", "content": " "}]), "must not be empty"),
    "an empty text block": (request(messages=[user(text(""))]), "must be non-empty"),
    "no content": (request(messages=[{"role": "user", "content": []}]), "messages.0.content"),
    "an unknown block of the user": (request(messages=[user({"type": "song"})]), "'song' is not expected"),
    "an empty system block": (request(system=[text("")]), "system.0"),
    "a call without a result": (after_hello(called("a")), "without `tool_result`"),
    "a call answered too late": (
        after_hello(called("a"), user(text("wait")), user(result("a"))),
        "without `tool_result`",
    ),
    "one of two calls unanswered": (after_hello(called("a", "b"), user(result("a"))), "immediately after: b"),
    "a result of nothing": (request(messages=[user(result("a"))]), "unexpected `tool_use_id`"),
    "two results of one call": (after_hello(called("a"), user(result("a"), result("a"))), "more than one"),
    "a text before a result": (
        after_hello(called("a"), user(text("x"), result("a"))),
        "before other content",
    ),
    "a doubled id in a message": (after_hello(called("a", "a"), user(result("a"))), "ids must be unique"),
    "a doubled id in a history": (
        after_hello(called("a"), user(result("a")), called("a"), user(result("a"))),
        "ids must be unique",
    ),
    "an id with blanks": (after_hello(called("a b"), user(result("a b"))), "match pattern"),
    "an empty error": (after_hello(called("a"), user(result("a", "", is_error=True))), "cannot be empty"),
    "an unknown block in a result": (
        after_hello(called("a"), user(result("a", [{"type": "song"}]))),
        "'song' is not expected",
    ),
    "a tool without a schema": (request(tools=[{"name": "x"}]), "tools.0.input_schema: Field required"),
    "a schema that is no object": (
        request(tools=[{"name": "x", "input_schema": {"type": "string"}}]),
        "should be 'object'",
    ),
    "a tool name with a dot": (request(tools=[{**TOOLS[0], "name": "a.b"}]), "tools.0.name"),
    "a doubled tool name": (request(tools=[TOOLS[0], TOOLS[0]]), "must be unique"),
    "all tools deferred": (request(tools=[LATE]), "All tools have defer_loading"),
    "a deferred tool with a cache mark": (
        request(tools=[SEARCH, {**LATE, "cache_control": MARK}]),
        "cannot have cache_control",
    ),
    "a reference to an undeclared tool": (
        after_hello(called("a"), user(result("a", [{"type": "tool_reference", "tool_name": "Nobody"}]))),
        "'Nobody' not found",
    ),
    "five cache marks": (
        request(messages=[user(*({**text("x"), "cache_control": MARK} for _ in range(5)))]),
        "maximum of 4",
    ),
    "a cache mark of another kind": (
        request(messages=[user({**text("x"), "cache_control": {"type": "eternal"}})]),
        "cache_control",
    ),
    "a choice without tools": (
        {**without("tools"), "tool_choice": {"type": "any"}},
        "while providing tools",
    ),
    "a choice of an undeclared tool": (
        request(tool_choice={"type": "tool", "name": "x"}),
        "'x' is not among",
    ),
    "a forced call with thinking": (
        request(tool_choice={"type": "any"}, thinking={"type": "adaptive"}),
        "forces tool use",
    ),
    "thinking without a signature": (
        after_hello({"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}),
        "Field required: signature",
    ),
    "changed thinking": (
        after_hello({"role": "assistant", "content": [thinking("x", signature_of("y"))]}),
        "Invalid `signature`",
    ),
    "an unknown block of the model that was never sent": (
        after_hello({"role": "assistant", "content": [{"type": "song"}]}),
        "'song' is not expected",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_request_is_refused_for(name: str) -> None:
    body, words = REFUSED[name]
    async with MessagesServer(HELLO) as server:
        got = await ask(server, body)
    assert got.status == 400
    assert got.json["error"]["type"] == "invalid_request_error"
    assert words in got.json["error"]["message"]


async def test_a_refused_request_takes_no_turn_of_the_script() -> None:
    async with MessagesServer(script_of("first")) as server:
        assert (await ask(server, without("model"))).status == 400
        assert (await ask(server)).status == 200


async def test_the_version_header_is_required() -> None:
    async with MessagesServer(HELLO) as server:
        got = await ask(server, headers={"x-api-key": "k"})
        assert (got.status, got.json["error"]["message"]) == (400, "anthropic-version: header is required")


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
async def test_sampling_parameters_are_refused_by_the_new_version_only(name: str) -> None:
    async with MessagesServer(HELLO) as server:
        assert (await ask(server, {**request(), name: 1})).status == 200
        got = await ask(
            server, {**request(), name: 1}, headers={**HEADERS, "anthropic-version": "2026-10-21"}
        )
        assert got.status == 400
        assert got.json["error"]["message"].startswith(name)


async def test_a_sound_history_with_everything_in_it_is_taken() -> None:
    calls = called("a", "b")["content"]
    messages = [
        {"role": "user", "content": [text("hello")]},
        {
            "role": "assistant",
            "content": [thinking("x", signature_of("x")), text("I look."), *calls],
        },
        user(
            result("b", [text("two"), {"type": "tool_reference", "tool_name": "Late"}]),
            result("a", "", is_error=False),
            text("and then"),
        ),
        {"role": "system", "content": "A fact has changed."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]
    body = request(
        messages=messages, tools=[SEARCH, LATE], system=[{**text("Be kind."), "cache_control": MARK}]
    )
    async with MessagesServer(HELLO) as server:
        got = await ask(server, {**body, "max_tokens": 0})
        assert got.status == 200, got.body


async def test_blocks_that_the_server_sent_come_back_unchanged_or_are_refused() -> None:
    song = {"type": "song", "verse": 3}
    turn = reply(
        thinking("Deep.", "own signature"), {"type": "redacted_thinking", "data": "xyz"}, song, use("Bash")
    )
    script = Script((), fallback=turn)
    async with MessagesServer(script) as server, connected(server) as client:
        sent = (await client.post(request(stream=False))).json["content"]
        answer = user(result(sent[-1]["id"]))

        async def status(content: list[Any]) -> int | None:
            return (await client.post(after_hello({"role": "assistant", "content": content}, answer))).status

        assert await status(sent) == 200
        assert await status([{**sent[0], "thinking": "Shallow."}, *sent[1:]]) == 400
        assert await status([{**sent[0], "signature": "another"}, *sent[1:]]) == 400
        assert await status([*sent[:2], {**song, "verse": 4}, sent[-1]]) == 400
        assert await status(sent[2:]) == 400  # the thinking before a call of this turn is left out


async def test_thinking_of_an_earlier_turn_may_be_left_out() -> None:
    async with MessagesServer(Script(fallback=reply(thinking("Deep."), use("Bash")))) as server:
        sent = (await ask(server, request(stream=False))).json["content"]
        done = user(result(sent[-1]["id"]), text("and now something else"))
        got = await ask(server, after_hello({"role": "assistant", "content": sent[1:]}, done))
        assert got.status == 200


@pytest.mark.parametrize(
    ("switch", "body", "words"),
    [
        ({"defer_loading": "400"}, request(tools=[SEARCH, LATE]), "tools.1.defer_loading: Extra inputs"),
        (
            {"tool_reference": "400"},
            after_hello(called("a"), user(result("a", [{"type": "tool_reference", "tool_name": "Bash"}]))),
            "Input tag 'tool_reference'",
        ),
        ({"system_role": "400"}, after_hello({"role": "system", "content": "x"}), "not 'system'"),
    ],
)
async def test_a_third_party_refuses_what_its_switch_says(switch: Any, body: Any, words: str) -> None:
    async with MessagesServer(HELLO, capabilities=Capabilities(**switch)) as server:
        got = await ask(server, body)
        assert got.status == 400
        assert words in got.json["error"]["message"]
    async with MessagesServer(HELLO) as server:
        assert (await ask(server, body)).status == 200


async def test_a_dropped_reference_may_name_anything() -> None:
    body = after_hello(called("a"), user(result("a", [{"type": "tool_reference", "tool_name": "Nobody"}])))
    async with MessagesServer(HELLO, capabilities=Capabilities(tool_reference="drop")) as server:
        assert (await ask(server, body)).status == 200


async def test_tokens_are_counted_without_max_tokens_but_with_all_other_checks() -> None:
    async with MessagesServer(HELLO) as server, connected(server) as client:
        counted = await client.post(without("max_tokens"), "/v1/messages/count_tokens")
        assert (counted.status, counted.json["input_tokens"] > 0) == (200, True)
        assert (await client.post(without("model"), "/v1/messages/count_tokens")).status == 400
