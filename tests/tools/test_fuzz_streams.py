"""Mutated streams by the hundred; `python -m tools.fuzz_streams` plays fifty thousand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mcode.model.messages import MessageAssembler
from tools.fuzz_streams import check_message, is_proper, mutated_bytes, run, sound_events


async def test_s_02_no_mutated_stream_crashes_or_lets_a_call_run_that_should_not() -> None:
    found = await run(300, first=1_000_000)
    assert found.faults == []
    assert found.whole > 20, "some stay sound, so that the check has calls to look at"
    assert found.answers > found.streams, "broken ones are asked for again"


def test_the_check_finds_a_call_of_a_message_that_did_not_end() -> None:
    events = sound_events()
    assembler = MessageAssembler()
    for event in events:
        assembler.feed(event)
    whole = assembler.finish()
    assert check_message(whole, events)
    assert is_proper(events)
    with pytest.raises(ValueError, match="improper stream"):
        check_message(whole, events[:-1])
    with pytest.raises(ValueError, match="what is stored"):
        check_message(replace(whole, uses=whole.uses[:1]), events)


def test_the_same_seed_gives_the_same_bytes() -> None:

    data = b"event: x\n" * 50
    assert mutated_bytes(data, random.Random(5)) == mutated_bytes(data, random.Random(5)) != data
