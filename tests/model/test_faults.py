"""Every named fault of the loopback server, through the real SDK: a named final state, and the next prompt works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from mcode import jsontext
from mcode.model.anthropic import AnthropicClient, preload
from mcode.model.client import FailureClass, ModelFailure
from mcode.model.retry import Listeners, RetryPolicy, complete
from mcode.model.script import ErrorReply, Reply, render_events, reply, script_of, text, thinking, use
from tests.model.conftest import BODY, client_for, message_of
from tests.waiting import let_pass
from tools.messages_server import FAULTS, MessagesServer

if TYPE_CHECKING:
    from mcode.events import RetryScheduled
    from mcode.model.messages import AssembledMessage

WORDS = "Ich prüfe das: 你好 🙂, one moment."
BLOCKS = (
    thinking("Hm."),
    text(WORDS),
    use("Bash", {"command": 'echo "ä" > PWN'}),
    use("Read", {"file_path": "/x"}),
)
NAMED = [{"id": "toolu_1", "signature": "s", **block} for block in BLOCKS]
NEXT = reply("The next prompt works.")
ONCE = RetryPolicy(tries=1)
QUICK = RetryPolicy(first_delay=0.01, longest_delay=0.01)


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction] -- autouse
    preload()


def faulty(*faults: str, **options: Any) -> Reply:
    return Reply(blocks=BLOCKS, faults=faults, **options)


async def state_after(client: AnthropicClient, policy: RetryPolicy = ONCE) -> AssembledMessage | ModelFailure:
    """What one request came to; whatever it is, the next prompt must work."""
    outcome: AssembledMessage | ModelFailure
    try:
        outcome = await complete(client, BODY, policy=policy)
    except ModelFailure as failed:
        outcome = failed
    else:
        assert jsontext.parse(jsontext.dump(outcome.message))["role"] == "assistant"
    following = await complete(client, BODY, policy=QUICK)
    assert following.complete
    assert following.message["content"] == list(NEXT.blocks)
    return outcome


def check_incomplete(got: AssembledMessage | ModelFailure) -> AssembledMessage:
    """Nothing may run, what was shown is kept."""
    assert not isinstance(got, ModelFailure), got
    assert not got.complete
    assert got.problem
    return got


async def outcome_of(
    faults: tuple[str, ...], clients: list[AnthropicClient], **limits: Any
) -> AssembledMessage | ModelFailure:
    async with MessagesServer(script_of(faulty(*faults), NEXT)) as server:
        return await state_after(client_for(clients, server.url, **limits))


@pytest.mark.parametrize("how", ["cut", "reset", "end"])
async def test_s_02_cut_after_each_event(how: str, clients: list[AnthropicClient]) -> None:
    count = len(list(render_events(message_of(*NAMED), chunk=40)))
    cuts = [faulty(f"{how}-after-event:{number}", chunk=40) for number in range(1, count)]
    async with MessagesServer(script_of(*(turn for cut in cuts for turn in (cut, NEXT)))) as server:
        client = client_for(clients, server.url)
        for number in range(1, count):
            got = await state_after(client)
            if isinstance(got, ModelFailure):
                assert number <= 3, f"after event {number} something had been shown"
                assert got.failure.kind is FailureClass.CUT
            else:
                assert not got.complete, f"after event {number}"
                assert not got.ended


@pytest.mark.parametrize(
    "fault",
    [
        "cut-in-character",
        "reset-after-block-start",
        "cut-in-tool-json",
        "end-before-message-delta",
        "end-before-message-stop",
        "no-message-start",
        "two-message-starts",
        "orphan-delta",
        "block-never-closed",
        "no-stop-reason",
        "error-after-text",
        "not-json",
        "stall",
    ],
)
async def test_s_02_no_call_runs_from_a_stream_that_was(fault: str, clients: list[AnthropicClient]) -> None:
    got = await outcome_of((fault,), clients, idle_limit=1.0 if fault == "stall" else 60.0)
    if isinstance(got, ModelFailure):
        assert fault == "reset-after-block-start", "all others had shown something"
        assert got.failure.kind is FailureClass.CUT
    else:
        check_incomplete(got)
        assert not got.ended
        assert got.failure is not None
        assert got.message["content"] or fault in ("not-json", "stall"), "half a thought is not stored"


async def test_s_02_an_unknown_stop_reason_runs_nothing(clients: list[AnthropicClient]) -> None:
    got = check_incomplete(await outcome_of(("unknown-stop-reason",), clients))
    assert got.ended, "the stream was sound, so it is not sent again"
    assert "future_reason" in got.problem


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "pause_turn", "end_turn"])
async def test_s_02_no_call_runs_from_a_message_that_ended_with(
    reason: str, clients: list[AnthropicClient]
) -> None:
    async with MessagesServer(script_of(Reply(blocks=BLOCKS, stop_reason=reason), NEXT)) as server:
        check_incomplete(await state_after(client_for(clients, server.url)))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("broken-tool-input", "at character 24"),
        ("array-tool-input", "got an array"),
        ("nan-tool-input", "NaN is not JSON at character 6"),
        ("doubled-key-tool-input", "stands twice"),
        ("deep-tool-input", "deeper than 100"),
        ("tool-input:", ""),
    ],
)
async def test_s_03_a_bad_input_ends_that_call_only(
    fault: str, says: str, clients: list[AnthropicClient]
) -> None:
    got = await outcome_of((fault,), clients)
    assert not isinstance(got, ModelFailure)
    assert got.complete
    bad, good = got.uses
    assert (bad.fault is not None and says in bad.fault) if says else bad.fault is None
    assert bad.arguments == {}
    assert good.arguments == {"file_path": "/x"}


@pytest.mark.parametrize("fault", ["equal-tool-ids", "empty-tool-ids"])
async def test_s_04_two_calls_never_share_an_id(fault: str, clients: list[AnthropicClient]) -> None:
    got = await outcome_of((fault,), clients)
    assert not isinstance(got, ModelFailure)
    assert got.complete
    first, second = got.uses
    assert first.id != second.id
    assert [block["id"] for block in got.message["content"][2:]] == [first.id, second.id]


@pytest.mark.parametrize(
    "fault",
    [
        "unknown-event",
        "unknown-block",
        "unknown-delta",
        "extra-fields",
        "missing-usage",
        "large-event",
        "large-event:2000000",
        "crlf",
        "cr",
        "split-data",
        "no-event-lines",
        "comments",
        "done-line",
        "no-ping",
        "one-write",
        "split-character",
        "one-byte-per-packet",
        "keep-alive-closed",
    ],
)
async def test_s_05_the_message_is_whole_in_spite_of(fault: str, clients: list[AnthropicClient]) -> None:
    got = await outcome_of((fault,), clients)
    assert not isinstance(got, ModelFailure), got
    assert got.complete
    assert [use.arguments for use in got.uses] == [BLOCKS[2]["input"], BLOCKS[3]["input"]]
    shown = next(block["text"] for block in got.message["content"] if block["type"] == "text")
    assert shown.startswith(WORDS[:3])
    if not fault.startswith("large-event"):
        assert shown == WORDS


async def test_s_05_line_ends_may_come_byte_by_byte(clients: list[AnthropicClient]) -> None:
    got = await outcome_of(("crlf", "one-byte-per-packet"), clients)
    assert not isinstance(got, ModelFailure)
    assert got.complete


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("error-first", FailureClass.RETRY, "overloaded_error"),
        ("error-first:invalid_request_error", FailureClass.STOP, "invalid_request_error"),
        ("html-502", FailureClass.RETRY, "502"),
        ("html-200", FailureClass.RETRY, "text/html"),
        ("empty-503", FailureClass.RETRY, "503"),
        ("empty-body", FailureClass.RETRY, "an empty answer"),
        ("json-200", FailureClass.RETRY, "application/json"),
        ("llama-overflow", FailureClass.COMPACT, "begin anew with /clear"),
        ("llama-image", FailureClass.REPAIR, "image input"),
        ("close-before-answer", FailureClass.RETRY, "could not be reached"),
        ("reset-before-answer", FailureClass.RETRY, "could not be reached"),
        ("stall-first", FailureClass.RETRY, "did not begin to answer"),
    ],
)
async def test_s_06_the_class_of_a_failure_without_content(
    fault: str, kind: FailureClass, says: str, clients: list[AnthropicClient]
) -> None:
    got = await outcome_of((fault,), clients, first_event_limit=1.0 if fault == "stall-first" else 60.0)
    assert isinstance(got, ModelFailure)
    assert got.failure.kind is kind
    assert says in got.failure.message
    assert got.failure.message.isprintable()


@pytest.mark.parametrize(
    "fault", ["error-first", "html-502", "empty-503", "empty-body", "close-before-answer"]
)
async def test_s_06_and_the_same_request_sent_again_succeeds(
    fault: str, clients: list[AnthropicClient]
) -> None:
    scheduled: list[RetryScheduled] = []
    async with MessagesServer(script_of(faulty(fault), faulty(fault), NEXT)) as server:
        got = await complete(
            client_for(clients, server.url), BODY, Listeners(on_retry=scheduled.append), policy=QUICK
        )
        assert got.complete
        assert [entry.attempt for entry in scheduled] == [2, 3]
        assert len({request.body for request in server.requests}) == 1


async def test_s_06_after_content_the_answer_is_repeated_once_and_what_was_shown_is_void(
    clients: list[AnthropicClient],
) -> None:
    void: list[AssembledMessage] = []
    script = script_of(faulty("cut-in-tool-json"), Reply(blocks=BLOCKS), NEXT)
    async with MessagesServer(script) as server:
        client = client_for(clients, server.url)
        got = await complete(client, BODY, Listeners(on_superseded=void.append), policy=QUICK)
        assert got.complete
        assert len(got.uses) == 2
        assert [block["type"] for block in void[0].message["content"]] == ["thinking", "text", "tool_use"]
        assert (await complete(client, BODY)).complete


@pytest.mark.parametrize(
    ("headers", "waited"), [({}, 1.0), ({"retry-after": "3"}, 3.0), ({"retry-after-ms": "250"}, 0.25)]
)
async def test_s_06_429_with_and_without_retry_after(
    headers: dict[str, str], waited: float, clients: list[AnthropicClient], fake_time: Any
) -> None:
    limited = Reply(error=ErrorReply(429, headers=headers))
    async with MessagesServer(script_of(limited, NEXT)) as server:
        client = client_for(clients, server.url)
        assert (await complete(client, BODY, surroundings=fake_time.surroundings)).complete
    assert fake_time.waits == [waited]


@pytest.mark.parametrize(("verdict", "tries"), [("true", 2), ("false", 1)])
async def test_s_06_x_should_retry_is_obeyed(
    verdict: str, tries: int, clients: list[AnthropicClient]
) -> None:
    error = Reply(error=ErrorReply(400 if verdict == "true" else 500, headers={"x-should-retry": verdict}))
    async with MessagesServer(script_of(error, NEXT)) as server:
        got = await state_after_one(client_for(clients, server.url))
        assert len(server.requests) == tries
        assert isinstance(got, ModelFailure) is (verdict == "false")


async def state_after_one(client: AnthropicClient) -> AssembledMessage | ModelFailure:
    try:
        return await complete(client, BODY, policy=QUICK)
    except ModelFailure as failed:
        return failed


@pytest.mark.parametrize("status", [401, 402, 403, 404, 413, 500, 504, 529])
async def test_texts_hold_no_credential_even_where_the_endpoint_repeats_it(
    status: int, clients: list[AnthropicClient]
) -> None:
    key = "sk-" + "test-" + os.urandom(8).hex()
    error = Reply(error=ErrorReply(status, message=f"the key {key} is no good\x1b[31m"))
    async with MessagesServer(script_of(error)) as server:
        with pytest.raises(ModelFailure) as failed:
            await complete(client_for(clients, server.url, credential=key), BODY, policy=ONCE)
    assert key not in str(failed.value)
    assert "\x1b" not in str(failed.value)
    assert "Request id for its support: req_" in str(failed.value)
    assert failed.value.failure.status == status


async def test_a_connection_that_the_server_reset_between_requests_is_made_anew(
    clients: list[AnthropicClient],
) -> None:
    async with MessagesServer(script_of(faulty("keep-alive-reset"), NEXT, NEXT)) as server:
        client = client_for(clients, server.url)
        assert (await complete(client, BODY)).complete
        assert (await complete(client, BODY, policy=QUICK)).complete


async def test_a_server_that_is_restarted_is_found_again(clients: list[AnthropicClient]) -> None:
    async with MessagesServer(script_of(faulty("refuse-next:60"), NEXT)) as server:
        client = client_for(clients, server.url)
        assert (await complete(client, BODY)).complete
        scheduled: list[RetryScheduled] = []

        def retries(entry: RetryScheduled) -> None:
            scheduled.append(entry)
            let_pass(60)

        patient = RetryPolicy(tries=20, first_delay=0.1, longest_delay=0.1)
        assert (await complete(client, BODY, Listeners(on_retry=retries), policy=patient)).complete
        assert scheduled
        assert {entry.kind for entry in scheduled} == {"connection"}


def test_no_named_fault_was_forgotten() -> None:
    with open(__file__, encoding="utf-8") as file:
        source = file.read()
    named = [name for name in FAULTS if f'"{name}"' not in source and f'"{name}:' not in source]
    elsewhere = {
        "stall-with-pings",
        "stall-first-with-pings",
        "cut-after-event",
        "reset-after-event",
        "end-after-event",
    }
    assert set(named) <= elsewhere
