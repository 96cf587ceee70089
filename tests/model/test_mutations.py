"""Streams that nobody meant: whatever comes, nothing crashes and no call runs that should not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from mcode import jsontext
from tests.model.conftest import assemble, call, stream_of, words
from tools.fuzz_streams import is_proper, mutated

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.messages import AssembledMessage

SOUND = stream_of(
    {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
    words("Looking."),
    call(command="ls"),
    call("Read", "toolu_2", file_path="/x"),
)


def check_invariants(events: list[JsonObject], got: AssembledMessage) -> None:
    assert got.complete is (got.problem == "")
    if got.uses and got.complete:
        assert is_proper(events), "calls would run from an improper stream"
    wire = jsontext.dump(got.message).encode()
    assert jsontext.parse(wire.decode())["role"] == "assistant"
    ids = [use.id for use in got.uses]
    assert len(set(ids)) == len(ids)
    calls = [block for block in got.message["content"] if block.get("type") == "tool_use"]
    assert [block["id"] for block in calls] == ids
    assert all(isinstance(block["input"], dict) for block in calls)
    assert [block["input"] for block in calls] == [use.arguments for use in got.uses]


def test_s_02_no_mutated_stream_crashes_or_lets_a_call_run_that_should_not() -> None:
    for seed in range(2000):
        events = mutated(SOUND, random.Random(seed))
        try:
            check_invariants(events, assemble(events))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {events}") from error


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
kinds = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
block_kinds = ["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use", "compaction", "new"]
delta_kinds = [
    "text_delta",
    "thinking_delta",
    "input_json_delta",
    "signature_delta",
    "citations_delta",
    "new",
]
field_names = ("text", "thinking", "partial_json", "signature", "id", "name", "input", "usage", "stop_reason")
inner_objects = st.fixed_dictionaries(
    {"type": st.sampled_from(block_kinds + delta_kinds) | json_values},
    optional=dict.fromkeys(field_names, json_values),
)
wild_events = st.fixed_dictionaries(
    {"type": st.sampled_from([*kinds, "message_stop", "error", "ping"]) | json_values},
    optional={
        "index": st.integers(0, 2) | json_values,
        "delta": inner_objects | json_values,
        "content_block": inner_objects | json_values,
        "message": inner_objects | json_values,
        "usage": json_values,
    },
)


@settings(max_examples=50, deadline=None, database=None)
@given(st.lists(wild_events, max_size=12))
def test_s_05_no_sequence_of_objects_is_a_crash(events: list[JsonObject]) -> None:
    check_invariants(events, assemble(events))
