"""Usage figures of the cache model, and the switches that make the server behave like third parties."""

from __future__ import annotations

from typing import Any

from mcode.model.script import (
    Script,
    reply,
    script_of,
    use,
)
from tests.tools.raw_client import TOOLS, Answer, ask, request
from tools.messages_server import LLAMA_CPP, Capabilities, MessagesServer

HELLO = Script(fallback=reply("Hello there."), name="hello")


def usage(got: Answer) -> tuple[int, int, int]:
    found = got.events[0]["message"]["usage"]
    return found["cache_read_input_tokens"], found["cache_creation_input_tokens"], found["input_tokens"]


def conversation(*words: str, tools: list[dict[str, Any]] = TOOLS) -> dict[str, Any]:
    """A conversation whose last message carries the cache mark."""
    messages: list[dict[str, Any]] = [
        {"role": "assistant" if at % 2 else "user", "content": [{"type": "text", "text": text}]}
        for at, text in enumerate(words)
    ]
    messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    return request(messages=messages, tools=tools)


async def test_what_was_sent_before_is_read_from_the_cache_and_the_rest_is_written() -> None:
    async with MessagesServer(HELLO) as server:
        first = usage(await ask(server, conversation("one " * 200)))
        second = usage(await ask(server, conversation("one " * 200, "two", "three " * 50)))
    assert first[0] == first[2] == 0
    assert second[0] == first[1]
    assert 0 < second[1] < first[1]


async def test_a_grown_tool_list_shows_in_the_usage() -> None:
    grown = [*TOOLS, {"name": "Late", "input_schema": {"type": "object"}}]
    async with MessagesServer(HELLO) as server:
        whole = sum(usage(await ask(server, conversation("one " * 500))))
        read, written, _ = usage(await ask(server, conversation("one " * 500, tools=grown)))
    assert read < whole / 4
    assert written > whole / 2


async def test_a_deferred_tool_does_not_touch_the_cached_prefix() -> None:
    deferred = [*TOOLS, {"name": "Late", "input_schema": {"type": "object"}, "defer_loading": True}]
    async with MessagesServer(HELLO) as server:
        first = usage(await ask(server, conversation("one " * 100)))
        second = usage(await ask(server, conversation("one " * 100, tools=deferred)))
    assert second == (first[1], 0, 0)


async def test_without_cache_marks_nothing_is_cached_unless_the_endpoint_caches_by_itself() -> None:
    async with MessagesServer(HELLO) as server:
        await ask(server)
        assert usage(await ask(server))[:2] == (0, 0)
    async with MessagesServer(HELLO, capabilities=Capabilities(cache="automatic")) as server:
        first = usage(await ask(server))
        assert usage(await ask(server)) == (first[1], 0, 0)
    async with MessagesServer(HELLO, capabilities=Capabilities(cache="unreported")) as server:
        figures = (await ask(server)).events[0]["message"]["usage"]
        assert figures == {"input_tokens": sum(first), "output_tokens": 1}


async def test_a_scripts_own_figures_replace_the_computed_ones() -> None:
    turn = reply("a", usage={"input_tokens": 150_000, "cache_read_input_tokens": None})
    async with MessagesServer(script_of(turn)) as server:
        found = (await ask(server)).events[0]["message"]["usage"]
    assert found["input_tokens"] == 150_000
    assert "cache_read_input_tokens" not in found


async def test_a_request_over_the_window_is_refused_with_its_size() -> None:
    async with MessagesServer(HELLO, capabilities=Capabilities(window=500)) as server:
        got = await ask(server, request("word " * 1000))
        assert got.status == 400
        assert "prompt is too long: " in got.json["error"]["message"]
        assert got.json["error"]["message"].endswith("tokens > 500 maximum")
        assert (await ask(server)).status == 200


async def test_a_llama_cpp_server_takes_more_and_tells_less() -> None:
    strange = request(messages=[{"role": "assistant", "content": "first"}], tools=[{"name": "x"}])
    script = Script(fallback=reply(use("x")))
    async with MessagesServer(script, capabilities=LLAMA_CPP) as server:
        got = await ask(server, strange, headers={})
    assert got.status == 200
    assert "request-id" not in got.headers
    assert "ping" not in got.kinds
    assert not got.events[1]["content_block"]["id"].startswith("toolu_")


async def test_a_forced_call_may_come_behind_a_text() -> None:
    forced = request(tool_choice={"type": "any"})
    async with MessagesServer(
        Script(fallback=reply(use("Bash"))), capabilities=Capabilities(forced_call="text-first")
    ) as server:
        starts = [
            e["content_block"]["type"] for e in (await ask(server, forced)).events if "content_block" in e
        ]
        assert starts == ["text", "tool_use"]
        starts = [e["content_block"]["type"] for e in (await ask(server)).events if "content_block" in e]
        assert starts == ["tool_use"]
