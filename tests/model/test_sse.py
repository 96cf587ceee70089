"""Bytes of a response, in whatever pieces they come."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from mcode import jsontext
from mcode.model import sse
from mcode.model.messages import MessageAssembler
from mcode.model.sse import BrokenStreamError, EventDecoder
from tests.model.conftest import call, stream_of, words

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

EVENTS = stream_of(words("Grüße, 你好 🙂"), call(command="ls"))


def encoded(events: list[JsonObject], end: str = "\n", *, named: bool = True) -> bytes:
    frames = [
        f"event: {event['type']}{end}" * named + f"data: {jsontext.dump(event)}{end}{end}" for event in events
    ]
    return "".join(frames).encode()


def decoded(data: bytes, size: int | None = None) -> list[JsonObject]:
    decoder = EventDecoder()
    chunks = [data] if size is None else [data[at : at + size] for at in range(0, len(data), size)]
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [None, 1, 2, 3, 7, 64])
def test_s_05_pieces_of_any_size_and_any_line_end_give_the_same_events(end: str, size: int | None) -> None:
    assert decoded(encoded(EVENTS, end), size) == EVENTS


def test_s_05_an_event_is_there_as_soon_as_its_last_byte_is() -> None:
    decoder = EventDecoder()
    data = encoded(EVENTS[:1], "\r\n")
    assert decoder.feed(data[:-1]) == [EVENTS[0]], "the CR of the empty line ends it; the LF belongs to it"
    assert decoder.feed(data[-1:]) == []


def test_s_05_events_without_a_name_count_by_their_type() -> None:
    assert decoded(encoded(EVENTS, named=False)) == EVENTS


def test_s_05_a_type_that_is_missing_is_taken_from_the_name() -> None:
    assert decoded(b'event: message_stop\ndata: {"x":1}\n\n') == [{"x": 1, "type": "message_stop"}]


def test_s_05_data_in_several_lines_is_one_event() -> None:
    assert decoded(b'event: ping\ndata: {"type":\ndata:  "ping",\ndata: "n": 1}\n\n') == [
        {"type": "ping", "n": 1}
    ]


def test_s_05_comments_other_fields_marks_and_blank_lines_are_passed_over() -> None:
    data = (
        b"\xef\xbb\xbf: hello\nid: 7\nretry: 10\n\n\n: PROCESSING\n\n" + encoded(EVENTS) + b"data: [DONE]\n\n"
    )
    assert decoded(data) == EVENTS
    assert decoded(data, 1) == EVENTS


def test_s_05_pings_come_through_even_without_data() -> None:
    assert decoded(b"event: ping\ndata: \n\nevent: ping\ndata: not json\n\n") == [{"type": "ping"}] * 2


def test_s_05_200_kb_in_one_event() -> None:
    grown = {"type": "text_delta", "text": "y" * 200_000}
    events: list[JsonObject] = [{"type": "content_block_delta", "index": 0, "delta": grown}]
    assert decoded(encoded(events)) == events
    assert decoded(encoded(events), 16) == events


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'event: error\ndata: {"type":"error","error":{"type":"t"}}\n\n', {"type": "t"}),
        (b'event: error\ndata: {"message":"no"}\n\n', {"message": "no"}),
        (b"event: error\ndata: plain words\n\n", {"message": "plain words"}),
        (b'data: {"error":{"code":500,"message":"m"}}\n\n', {"code": 500, "message": "m"}),
        (b'error: {"code":500,"message":"m"}\n\n', {"code": 500, "message": "m"}),
    ],
    ids=["anthropic", "bare", "words", "openai", "field"],
)
def test_s_06_errors_are_found_in_every_shape(data: bytes, error: JsonObject) -> None:
    assert decoded(data) == [{"type": "error", "error": error}]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'data: {"type": "message_st\n\n', "not JSON"),
        (b"data: <html>\n\n", "not JSON"),
        (b'data: {"type": NaN}\n\n', "NaN"),
        (b"data: \xff\xfe\n\n", "not UTF-8"),
    ],
)
def test_s_05_what_is_no_event_is_a_broken_stream(data: bytes, says: str) -> None:
    with pytest.raises(BrokenStreamError, match=says):
        decoded(data)


def test_s_05_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "EVENT_LIMIT", 3_000_000)
    decoder = EventDecoder()
    for _ in range(3):
        assert decoder.feed(b"x" * 1_000_000) == []
    with pytest.raises(BrokenStreamError, match="more than 2 MB"):
        decoder.feed(b"x")


def test_s_02_an_event_that_the_end_cuts_is_dropped() -> None:
    data = encoded(EVENTS)
    for length in range(0, len(data), 5):
        assert decoded(data[:length]) == EVENTS[: len(decoded(data[:length]))]


def test_s_02_no_mutated_bytes_crash_or_complete_a_message_that_was_cut() -> None:
    data = encoded(EVENTS)
    for seed in range(1200):
        chance = random.Random(seed)
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(damaged))
            match chance.randrange(4):
                case 0:
                    damaged[at] = chance.randrange(256)
                case 1:
                    del damaged[at : at + chance.randrange(1, 60)]
                case 2:
                    damaged[at:at] = damaged[at : at + chance.randrange(1, 60)]
                case _:
                    damaged[at:at] = bytes(chance.choices(b'\r\n"{}:,\\\xff', k=3))
        assembler = MessageAssembler()
        decoder = EventDecoder()
        try:
            for at in range(0, len(damaged), 97):
                for event in decoder.feed(bytes(damaged[at : at + 97])):
                    assembler.feed(event)
        except BrokenStreamError:
            pass
        got = assembler.finish()
        jsontext.dump(got.message).encode()
        assert not got.complete or b"message_stop" in damaged, f"seed {seed}"
