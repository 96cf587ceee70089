"""Messages put together from raw events, sound and broken."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from mcode import jsontext
from mcode.model.messages import DeltaKind, MessageAssembler
from tests.model.conftest import assemble, call, message_of, raw_call, stream_of, words

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


def index_of(events: list[JsonObject], kind: str, nth: int = 0) -> int:
    return [at for at, event in enumerate(events) if event["type"] == kind][nth]


def without(events: list[JsonObject], kind: str, nth: int = 0) -> list[JsonObject]:
    at = index_of(events, kind, nth)
    return events[:at] + events[at + 1 :]


def delta(index: int, change: JsonObject) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": change}


def test_a_whole_message_becomes_the_blocks_that_were_meant() -> None:
    blocks = [
        {"type": "thinking", "thinking": "First look, then act.", "signature": "sig/+=="},
        words("I will look.\nÄ 你好 🙂"),
        call(command='echo "a\\n" \\ 🙂', nested={"list": [1, 2.5, None, True]}),
        call("Read", "toolu_2", file_path="/tmp/x"),
    ]
    got = assemble(stream_of(*blocks))
    assert got.complete
    assert got.problem == ""
    assert got.message == message_of(*blocks)
    assert [(use.id, use.name, use.fault) for use in got.uses] == [
        ("toolu_1", "Bash", None),
        ("toolu_2", "Read", None),
    ]
    assert got.uses[0].arguments == blocks[2]["input"]


def test_thinking_and_its_signature_are_kept_to_the_letter() -> None:
    signature = "EqQBCkYIARgCKkBx/+=" * 20
    blocks = [
        {"type": "thinking", "thinking": "", "signature": signature},
        {"type": "redacted_thinking", "data": "opaque=="},
        {"type": "thinking", "thinking": " leading and trailing \n", "signature": signature},
        words("Done."),
    ]
    assert assemble(stream_of(*blocks)).message["content"] == blocks


def test_a_call_without_arguments_has_an_empty_object() -> None:
    got = assemble(stream_of(call()))
    assert got.complete
    assert got.uses[0].arguments == {}
    assert got.uses[0].fault is None


def test_an_input_that_came_with_the_start_counts_where_no_fragment_follows() -> None:
    events = stream_of(call())
    events[index_of(events, "content_block_start")]["content_block"]["input"] = {"command": "ls"}
    got = assemble(events)
    assert got.uses[0].arguments == {"command": "ls"}
    assert got.complete


def test_deltas_show_text_thinking_and_the_growing_input_of_a_call() -> None:
    assembler = MessageAssembler()
    shown = [
        piece
        for event in stream_of(
            {"type": "thinking", "thinking": "hm", "signature": "s"}, words("Hello there"), call(a=1)
        )
        for piece in assembler.feed(event)
    ]
    assert "".join(piece.text for piece in shown if piece.kind is DeltaKind.THINKING) == "hm"
    assert "".join(piece.text for piece in shown if piece.kind is DeltaKind.TEXT) == "Hello there"
    inputs = [piece for piece in shown if piece.kind is DeltaKind.INPUT]
    assert "".join(piece.text for piece in inputs) == '{"a":1}'
    assert {(piece.tool, piece.block) for piece in inputs} == {("Bash", 2)}


def test_the_fields_of_the_last_message_delta_stand_in_the_message() -> None:
    details = {"category": "cyber", "explanation": None}
    got = assemble(stream_of(words("No."), stop_reason="refusal", stop_details=details))
    assert got.message["stop_details"] == details
    assert got.message["stop_reason"] == "refusal"
    assert not got.complete
    assert got.ended


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"cmd": "touch a", "x": ', "at character 24"),
        ("[1]", "expected an object, got an array"),
        ('"text"', "expected an object, got text"),
        ("null", "expected an object, got null"),
        ('{"a": NaN}', "NaN is not JSON at character 6"),
        ('{"s": "NaN", "a": -Infinity}', "-Infinity is not JSON at character 18"),
        ('{"a": 1e999}', "out of range"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a":' * 120 + "1" + "}" * 120, "deeper than 100 levels"),
        ('{"a": "\\ud83d"}', "half of a surrogate pair"),
        ("{'a': 1}", "at character 1"),
        ('{"a": 1} {"b": 2}', "Extra data at character 9"),
        ('{"a": "line\nbreak"}', "at character 11"),
    ],
)
def test_s_01_an_input_that_is_not_strict_json_is_a_fault_of_that_call(raw: str, says: str) -> None:
    got = assemble(stream_of(raw_call(raw), call("Read", "toolu_2", file_path="/x")))
    bad, good = got.uses
    assert got.complete, "the message itself is sound, so the other call runs"
    assert bad.fault is not None
    assert says in bad.fault
    assert "Bash" in bad.fault
    assert "was not run" in bad.fault
    assert bad.arguments == {}
    assert got.message["content"][0]["input"] == {}, "what is sent back must be valid"
    assert (good.arguments, good.fault) == ({"file_path": "/x"}, None)


def test_s_03_a_fault_shows_what_arrived_without_repeating_all_of_it() -> None:
    got = assemble(stream_of(raw_call('{"content": "' + "x" * 50_000)))
    assert got.uses[0].fault is not None
    assert '{"content": "xxx' in got.uses[0].fault
    assert len(got.uses[0].fault) < 600


@pytest.mark.parametrize("raw", ["", "  ", "\n"])
def test_s_03_an_empty_input_is_an_empty_object(raw: str) -> None:
    use = assemble(stream_of(raw_call(raw))).uses[0]
    assert (use.arguments, use.fault) == ({}, None)


def test_s_03_a_call_without_a_name_is_a_fault_and_can_be_stored() -> None:
    for name in (None, "", 7):
        got = assemble(stream_of(call(name, command="ls")))  # pyright: ignore[reportArgumentType] -- the point
        assert got.uses[0].fault is not None
        assert got.uses[0].name
        assert got.message["content"][0]["name"] == "unnamed"


SOUND = stream_of(
    {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
    words("Looking."),
    call(command="ls"),
    call("Read", "toolu_2", file_path="/x"),
)


@pytest.mark.parametrize("length", range(len(SOUND)))
def test_s_02_a_stream_cut_after_any_event_is_not_complete(length: int) -> None:
    got = assemble(SOUND[:length])
    assert not got.complete
    assert not got.ended
    assert got.problem
    assert jsontext.parse(jsontext.dump(got.message))["content"] == got.message["content"]
    shown = "".join(block.get("text", "") for block in got.message["content"])
    assert "Looking.".startswith(shown), "text so far is kept"


def test_s_02_the_whole_stream_is_complete() -> None:
    assert assemble(SOUND).complete


@pytest.mark.parametrize("nth", range(4))
def test_s_02_a_block_that_is_never_closed_stops_every_call(nth: int) -> None:
    got = assemble(without(SOUND, "content_block_stop", nth))
    assert not got.complete
    assert f"block {nth} never ended" in got.problem


@pytest.mark.parametrize(
    ("stop_reason", "runs"),
    [
        ("tool_use", True),
        ("end_turn", False),
        ("max_tokens", False),
        ("refusal", False),
        ("pause_turn", False),
        ("stop_sequence", False),
        ("model_context_window_exceeded", False),
        ("a_new_reason", False),
    ],
)
def test_s_02_calls_run_only_from_a_message_that_stopped_for_them(stop_reason: str, runs: bool) -> None:
    got = assemble(stream_of(words("Look:"), call(command="ls"), stop_reason=stop_reason))
    assert got.complete is runs
    assert got.ended
    assert runs or stop_reason in got.problem


def test_s_02_calls_with_end_turn_count_where_the_profile_says_so() -> None:
    events = stream_of(call(command="ls"), stop_reason="end_turn")
    assert assemble(events, calls_on_end_turn=True).complete
    assert not assemble(events, calls_on_end_turn=False).complete
    assert not assemble(without(events, "content_block_stop"), calls_on_end_turn=True).complete
    cut = stream_of(call(command="ls"), stop_reason="max_tokens")
    assert not assemble(cut, calls_on_end_turn=True).complete


@pytest.mark.parametrize(
    ("stop_reason", "whole"),
    [("end_turn", True), ("stop_sequence", True), ("max_tokens", False), ("tool_use", False), ("new", False)],
)
def test_s_02_text_alone_is_whole_only_where_it_was_not_cut(stop_reason: str, whole: bool) -> None:
    got = assemble(stream_of(words("Hello."), stop_reason=stop_reason))
    assert got.complete is whole
    assert got.message["content"] == [words("Hello.")]


def test_s_02_a_missing_stop_reason_is_not_complete() -> None:
    events = copy.deepcopy(SOUND)
    events[index_of(events, "message_delta")]["delta"]["stop_reason"] = None
    got = assemble(events)
    assert not got.complete
    assert "without a stop reason" in got.problem


def test_s_02_an_error_event_stops_every_call() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    for at in range(len(SOUND)):
        assert not assemble([*SOUND[:at], error, *SOUND[at:]]).complete


def test_s_02_a_thought_that_broke_off_is_not_stored() -> None:
    got = assemble(SOUND[: index_of(SOUND, "content_block_stop")])
    assert got.message["content"] == []


def test_s_02_no_message_start_and_two_of_them_are_not_complete() -> None:
    assert "without a start" in assemble(without(SOUND, "message_start")).problem
    start = SOUND[index_of(SOUND, "message_start")]
    for at in range(1, len(SOUND)):
        got = assemble([*SOUND[:at], start, *SOUND[at:]])
        assert not got.complete
        assert "second message" in got.problem


def test_s_02_a_piece_for_a_block_that_is_not_open_stops_every_call() -> None:
    stray = delta(99, {"type": "text_delta", "text": "stray"})
    got = assemble([SOUND[0], stray, *SOUND[1:]])
    assert not got.complete
    assert "block 99" in got.problem
    late = delta(2, {"type": "input_json_delta", "partial_json": "x"})
    at = index_of(SOUND, "content_block_stop", 2) + 1
    assert not assemble([*SOUND[:at], late, *SOUND[at:]]).complete


def test_s_02_a_piece_of_input_that_went_to_a_text_block_stops_every_call() -> None:
    at = index_of(SOUND, "content_block_stop", 1)
    misled = delta(1, {"type": "input_json_delta", "partial_json": '"-rf"'})
    got = assemble([*SOUND[:at], misled, *SOUND[at:]])
    assert not got.complete
    assert "wrong kind" in got.problem


def test_s_02_what_comes_after_the_end_changes_nothing() -> None:
    late = stream_of(call("Write", "toolu_9", path="/etc/passwd"))
    assert assemble([*SOUND, *late]) == assemble(SOUND)


def test_an_index_that_is_used_again_after_its_end_is_a_block_of_its_own() -> None:
    events = [dict(event, index=0) if "index" in event else event for event in SOUND]
    got = assemble(events)
    assert got.complete
    assert got.message["content"] == assemble(SOUND).message["content"]


def test_s_04_empty_repeated_used_and_unusable_ids_are_replaced_consistently() -> None:
    given_ids: list[Any] = [
        "",
        "same",
        "same",
        "old",
        None,
        7,
        "../../etc",
        "x" * 5000,
        "fine",
        "functions.Bash:0",
    ]
    blocks = [call(identifier=identifier, n=at) for at, identifier in enumerate(given_ids)]
    fresh = (f"new_{number}" for number in itertools.count())
    got = assemble(stream_of(*blocks), used_ids={"old", "new_0"}, fresh_id=lambda: next(fresh))
    ids = [use.id for use in got.uses]
    assert ids == [block["id"] for block in got.message["content"]]
    assert len(set(ids)) == len(ids)
    assert not {"old", "new_0", ""} & set(ids)
    assert [at for at, identifier in enumerate(ids) if identifier == given_ids[at]] == [1, 8, 9]
    assert [use.arguments["n"] for use in got.uses] == list(range(len(blocks)))
    assert got.complete


def test_s_04_fresh_ids_are_unlike_each_other() -> None:
    ids = {assemble(stream_of(call(identifier=""))).uses[0].id for _ in range(50)}
    assert len(ids) == 50


def test_s_05_unknown_events_blocks_deltas_and_fields_are_kept_and_change_nothing() -> None:
    unknown_block = {"type": "future_block", "content": {"a": [1]}, "future": True}
    events = [
        SOUND[0],
        {"type": "future_event", "x": 1},
        {"type": "content_block_start", "index": 0, "content_block": unknown_block},
        delta(0, {"type": "future_delta", "y": 2}),
        {"type": "content_block_stop", "index": 0, "future": 1},
        *[dict(event, index=event["index"] + 1) if "index" in event else event for event in SOUND[1:]],
    ]
    got = assemble(events)
    assert got.complete
    assert got.message["content"] == [unknown_block, *assemble(SOUND).message["content"]]
    assert [event["type"] for event in got.unknown] == ["future_event", "content_block_delta"]


def test_s_05_fields_that_we_do_not_know_stay_in_the_blocks() -> None:
    events = stream_of(
        {**call(command="ls"), "caller": {"type": "direct"}, "toolset_name": "t"},
        container={"id": "c1"},
    )
    got = assemble(events)
    assert got.message["content"][0]["caller"] == {"type": "direct"}
    assert got.message["container"] == {"id": "c1"}


def test_s_05_citations_are_gathered_in_their_block() -> None:
    events = stream_of(words("Cited."))
    at = index_of(events, "content_block_stop")
    events[at:at] = [delta(0, {"type": "citations_delta", "citation": {"n": n}}) for n in (1, 2)]
    assert assemble(events).message["content"][0]["citations"] == [{"n": 1}, {"n": 2}]


def test_usage_is_cumulative_and_may_come_late_or_not_at_all() -> None:
    events = stream_of(words("Hi"))
    events[0]["message"]["usage"] = {"input_tokens": 0, "output_tokens": 1, "cache_read_input_tokens": 900}
    events[index_of(events, "message_delta")]["usage"] = {
        "input_tokens": 50,
        "output_tokens": 7,
        "cache_read_input_tokens": None,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    assert assemble(events).message["usage"] == {
        "input_tokens": 50,
        "output_tokens": 7,
        "cache_read_input_tokens": 900,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    for event in events:
        event.pop("usage", None)
        event.get("message", {}).pop("usage", None)
    got = assemble(events)
    assert got.complete
    assert got.message["usage"] == {}


def test_a_surrogate_pair_in_two_pieces_is_one_character_and_half_of_one_cannot_break_storage() -> None:
    events = stream_of(words("x"))
    at = index_of(events, "content_block_stop")
    events[at:at] = [
        delta(0, {"type": "text_delta", "text": "\ud83d"}),
        delta(0, {"type": "text_delta", "text": "\ude42 \ud83d."}),
    ]
    got = assemble(events)
    assert got.message["content"] == [words("x🙂 \ufffd.")]
    jsontext.dump(got.message).encode()


def test_the_events_themselves_are_never_changed() -> None:
    before = copy.deepcopy(SOUND)
    assemble(SOUND)
    assert before == SOUND


def test_many_small_deltas_cost_time_in_proportion() -> None:
    count = 60_000
    pieces = [delta(0, {"type": "input_json_delta", "partial_json": "abcdefgh"})] * count
    events = stream_of(raw_call('{"content": ""}'))
    start = index_of(events, "content_block_start")
    opening = delta(0, {"type": "input_json_delta", "partial_json": '{"content": "'})
    closing = delta(0, {"type": "input_json_delta", "partial_json": '"}'})
    got = assemble([*events[: start + 1], opening, *pieces, closing, *events[-3:]])
    assert got.complete
    assert len(got.uses[0].arguments["content"]) == 8 * count
