"""One round trip over scripted endpoints that fail in every way S-06 names."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.client import Failure, FailureClass, ModelFailure
from mcode.model.retry import Listeners, RetryPolicy, complete
from mcode.model.script import ErrorReply, Reply, reply, script_of, text, use
from mcode.model.scripted import ScriptedClient
from tests.model.conftest import BODY, FakeTime

if TYPE_CHECKING:
    from mcode.events import RetryScheduled
    from mcode.jsontext import JsonObject
    from mcode.model.messages import AssembledMessage, Delta

OVERLOADED = Reply(error=ErrorReply(529, message="busy"))
GOOD = reply("All is well.")


def limited(**headers: str) -> Reply:
    return Reply(
        error=ErrorReply(429, headers={name.replace("_", "-"): value for name, value in headers.items()})
    )


def broken_after_text(words: str = "Half a") -> Reply:
    """An answer that shows something and then reports an error inside the stream."""
    return Reply(blocks=(text(words),), error=ErrorReply(529, message="busy", after_events=4), chunk=99)


@dataclass
class Watch:
    """Everything that the caller of a round trip is told, in order."""

    told: list[Any] = field(default_factory=list[Any])

    def delta(self, delta: Delta) -> None:
        self.told.append(("shown", delta.text))

    def superseded(self, message: AssembledMessage) -> None:
        self.told.append(("void", message.message["content"]))

    def retry(self, scheduled: RetryScheduled) -> None:
        self.told.append(("retry", scheduled.attempt, scheduled.limit, scheduled.kind))

    @property
    def callbacks(self) -> dict[str, Any]:
        return {
            "on_delta": self.delta,
            "on_superseded": self.superseded,
            "on_retry": self.retry,
        }


async def test_a_good_answer_is_returned_at_once(fake_time: FakeTime) -> None:
    seen: list[JsonObject] = []
    client = ScriptedClient(script_of(reply("Looking.", use("Bash", {"command": "ls"}))))
    got = await complete(client, BODY, Listeners(on_event=seen.append), surroundings=fake_time.surroundings)
    assert got.complete
    assert got.failure is None
    assert [use.name for use in got.uses] == ["Bash"]
    assert [event["type"] for event in seen][:2] == ["message_start", "ping"]
    assert seen[-1]["type"] == "message_stop"
    assert fake_time.waits == []
    assert client.requests == [BODY]


async def test_s_06_529_three_times_and_then_good(fake_time: FakeTime) -> None:
    scheduled: list[RetryScheduled] = []
    client = ScriptedClient(script_of(OVERLOADED, OVERLOADED, OVERLOADED, GOOD))
    got = await complete(
        client, BODY, Listeners(on_retry=scheduled.append), surroundings=fake_time.surroundings
    )
    assert got.complete
    assert fake_time.waits == [1, 2, 4]
    assert [(entry.attempt, entry.limit, entry.delay) for entry in scheduled] == [
        (2, 5, 1),
        (3, 5, 2),
        (4, 5, 4),
    ]
    assert {(entry.status, entry.kind) for entry in scheduled} == {(529, "overloaded_error")}
    assert scheduled[0].reason == "scripted model is overloaded (529 overloaded_error): busy."
    assert client.requests == [BODY] * 4, "the same bytes each time"


async def test_s_06_jitter_lengthens_a_wait_by_up_to_a_quarter() -> None:
    time = FakeTime(chance=1.0)
    await complete(
        ScriptedClient(script_of(OVERLOADED, OVERLOADED, GOOD)), BODY, surroundings=time.surroundings
    )
    assert time.waits == [1.25, 2.5]


async def test_s_06_after_five_tries_it_ends_and_says_so(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(fallback=OVERLOADED))
    with pytest.raises(ModelFailure) as failed:
        await complete(client, BODY, surroundings=fake_time.surroundings)
    assert len(client.requests) == 5
    assert fake_time.waits == [1, 2, 4, 8]
    assert "tried 5 times" in str(failed.value)
    assert failed.value.failure.kind is FailureClass.RETRY


async def test_s_06_after_three_minutes_it_ends(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(fallback=limited(retry_after="59")))
    with pytest.raises(ModelFailure):
        await complete(client, BODY, surroundings=fake_time.surroundings, policy=RetryPolicy(tries=50))
    assert fake_time.waits == [59, 59, 59]


async def test_s_06_429_with_retry_after_waits_as_long_as_asked(fake_time: FakeTime) -> None:
    replies = (limited(retry_after="7"), limited(), limited(retry_after="0"), GOOD)
    got = await complete(ScriptedClient(script_of(*replies)), BODY, surroundings=fake_time.surroundings)
    assert got.complete
    assert fake_time.waits == [7, 2, 4], "without a figure, or with 0, it backs off by itself"


async def test_s_06_a_retry_after_of_a_day_is_told_not_waited(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(limited(retry_after="86400")))
    with pytest.raises(ModelFailure) as failed:
        await complete(client, BODY, surroundings=fake_time.surroundings)
    assert fake_time.waits == []
    assert "asks to wait 24 h; mcode waits at most 60 s by itself" in str(failed.value)
    assert failed.value.failure.kind is FailureClass.STOP
    assert failed.value.failure.retry_after == 86400


async def test_s_06_a_retry_after_of_just_a_minute_is_waited(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(limited(retry_after="60"), GOOD))
    assert (await complete(client, BODY, surroundings=fake_time.surroundings)).complete
    assert fake_time.waits == [60]


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "bad key", FailureClass.STOP),
        (403, "not allowed", FailureClass.STOP),
        (404, "no such model", FailureClass.STOP),
        (400, "something", FailureClass.STOP),
        (413, "too large", FailureClass.COMPACT),
        (400, "prompt is too long", FailureClass.COMPACT),
        (400, "tools.0.x: Extra inputs are not permitted", FailureClass.REPAIR),
    ],
)
async def test_s_06_what_retrying_cannot_mend_is_not_retried(
    fake_time: FakeTime, status: int, message: str, kind: FailureClass
) -> None:
    client = ScriptedClient(script_of(Reply(error=ErrorReply(status, message=message))))
    with pytest.raises(ModelFailure) as failed:
        await complete(client, BODY, surroundings=fake_time.surroundings)
    assert failed.value.failure.kind is kind
    assert len(client.requests) == 1


async def test_s_06_an_error_inside_the_stream_before_content_is_retried_like_any_other(
    fake_time: FakeTime,
) -> None:
    early = Reply(blocks=(text("never shown"),), error=ErrorReply(529, after_events=2))
    watch = Watch()
    client = ScriptedClient(script_of(early, early, GOOD))
    got = await complete(client, BODY, Listeners(**watch.callbacks), surroundings=fake_time.surroundings)
    assert got.complete
    assert [entry[0] for entry in watch.told[:2]] == ["retry", "retry"]
    assert "void" not in [entry[0] for entry in watch.told], "nothing had been shown"


async def test_s_06_what_a_broken_try_had_shown_is_withdrawn_before_the_next_one(fake_time: FakeTime) -> None:
    watch = Watch()
    client = ScriptedClient(script_of(broken_after_text(), Reply(blocks=(text("Whole."),), chunk=99)))
    got = await complete(client, BODY, Listeners(**watch.callbacks), surroundings=fake_time.surroundings)
    assert watch.told == [
        ("shown", "Half a"),
        ("void", [text("Half a")]),
        ("retry", 2, 5, "overloaded_error"),
        ("shown", "Whole."),
    ]
    assert got.complete
    assert got.message["content"] == [text("Whole.")]


async def test_s_06_after_content_it_is_repeated_once_and_then_kept_marked(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(broken_after_text("First"), broken_after_text("Second"), GOOD))
    got = await complete(client, BODY, surroundings=fake_time.surroundings)
    assert len(client.requests) == 2
    assert got.message["content"] == [text("Second")]
    assert (got.complete, got.ended) == (False, False)
    assert "overloaded_error" in got.problem
    assert got.failure is not None
    assert got.failure.kind is FailureClass.RETRY
    assert "tried 2 times" in got.failure.message


async def test_s_06_what_was_shown_is_kept_where_the_repeated_try_brings_nothing(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(broken_after_text(), Reply(error=ErrorReply(401, message="expired"))))
    got = await complete(client, BODY, surroundings=fake_time.surroundings)
    assert got.message["content"] == [text("Half a")]
    assert not got.complete
    assert got.failure is not None
    assert "expired" in got.failure.message


async def test_s_02_a_call_of_a_broken_try_never_comes_back(fake_time: FakeTime) -> None:
    half = Reply(
        blocks=(use("Bash", {"command": "rm -r build"}),),
        error=ErrorReply(500, message="gone", after_events=6),
    )
    got = await complete(ScriptedClient(script_of(half, half)), BODY, surroundings=fake_time.surroundings)
    assert not got.complete
    assert got.uses[0].arguments == {}
    assert got.uses[0].fault is not None


async def test_s_06_a_proper_end_that_is_no_success_is_not_retried(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(reply("Cut he", stop_reason="max_tokens"), GOOD))
    got = await complete(client, BODY, surroundings=fake_time.surroundings)
    assert (got.complete, got.ended, got.failure) == (False, True, None)
    assert len(client.requests) == 1


async def test_s_06_a_refused_field_is_taken_out_and_the_request_sent_once_more(fake_time: FakeTime) -> None:
    refused = Reply(error=ErrorReply(400, message="tools.0.defer_loading: Extra inputs are not permitted"))
    subjects: list[str] = []

    def repair(failure: Failure, body: JsonObject) -> JsonObject:
        subjects.append(failure.subject)
        return {**body, "repaired": True}

    client = ScriptedClient(script_of(refused, GOOD))
    got = await complete(client, BODY, repair=repair, surroundings=fake_time.surroundings)
    assert got.complete
    assert subjects == ["loading"]
    assert client.requests == [BODY, {**BODY, "repaired": True}]

    client = ScriptedClient(script_of(refused, refused, GOOD))
    with pytest.raises(ModelFailure):
        await complete(client, BODY, repair=repair, surroundings=fake_time.surroundings)
    assert len(client.requests) == 2, "once only"

    client = ScriptedClient(script_of(refused))
    with pytest.raises(ModelFailure):
        await complete(client, BODY, repair=lambda _failure, _body: None, surroundings=fake_time.surroundings)


async def test_s_04_ids_that_the_session_has_used_are_replaced(fake_time: FakeTime) -> None:
    client = ScriptedClient(script_of(reply(use("Bash", {"command": "ls"}, "toolu_old"))))
    got = await complete(client, BODY, used_ids={"toolu_old"}, surroundings=fake_time.surroundings)
    assert got.uses[0].id != "toolu_old"
    assert got.message["content"][0]["id"] == got.uses[0].id


async def test_s_02_a_profile_may_accept_calls_with_end_turn(fake_time: FakeTime) -> None:
    odd = reply(use("Bash", {"command": "ls"}), stop_reason="end_turn")
    client = ScriptedClient(script_of(odd, odd))
    assert not (await complete(client, BODY, surroundings=fake_time.surroundings)).complete
    got = await complete(client, BODY, calls_on_end_turn=True, surroundings=fake_time.surroundings)
    assert got.complete


async def test_s_07_a_cancelled_answer_leaves_what_had_come() -> None:
    kept: list[AssembledMessage] = []
    shown = asyncio.Event()
    slow = Reply(blocks=(text("one two three four"),), chunk=4, pace=60)
    task = asyncio.create_task(
        complete(
            ScriptedClient(script_of(slow)),
            BODY,
            Listeners(on_delta=lambda _: shown.set(), on_cancelled=kept.append),
        )
    )
    await shown.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    assert kept[0].message["content"] == [text("one ")]
    assert not kept[0].complete


async def test_s_06_a_wait_can_be_cancelled() -> None:
    kept: list[AssembledMessage] = []
    waiting = asyncio.Event()
    task = asyncio.create_task(
        complete(
            ScriptedClient(script_of(broken_after_text(), GOOD)),
            BODY,
            Listeners(on_retry=lambda _: waiting.set(), on_cancelled=kept.append),
            policy=RetryPolicy(first_delay=60),
        )
    )
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    assert kept[0].message["content"] == [text("Half a")], "the words that stood on the screen are kept"


async def test_s_07_a_cancelled_request_that_had_shown_nothing_leaves_nothing() -> None:
    kept: list[AssembledMessage] = []
    client = ScriptedClient(script_of(Reply(blocks=(text("late"),), delay=30)))
    task = asyncio.create_task(complete(client, BODY, Listeners(on_cancelled=kept.append)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept == []
