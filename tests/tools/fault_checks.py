"""For each named fault, what must be seen in its answer, compared with the sound answer of the same reply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.tools.raw_client import BARE_LINE_FEED, Answer, all_objects, tool_json

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = "Grüße! A text that is long enough to come in several deltas."
"""The text of the reply that all faults are tried on; two calls follow it."""


def without(events: list[dict[str, object]], kind: str) -> list[dict[str, object]]:
    return [event for event in events if event["type"] != kind]


def error_first(got: Answer, _: Answer) -> None:
    assert [event["error"]["type"] for event in got.events] == ["overloaded_error"]
    assert got.status == 200


def error_after_text(got: Answer, sound: Answer) -> None:
    assert got.events[:-1] == sound.events[: len(got.events) - 1]
    assert got.kinds[-2:] == ["content_block_delta", "error"]
    assert "content_block_stop" not in got.kinds


def two_message_starts(got: Answer, sound: Answer) -> None:
    starts = [event["message"]["id"] for event in got.events if event["type"] == "message_start"]
    assert len(set(starts)) == 2
    assert without(got.events, "message_start") == without(sound.events, "message_start")


def orphan_delta(got: Answer, _: Answer) -> None:
    started = {event["index"] for event in got.events if event["type"] == "content_block_start"}
    deltas = {event["index"] for event in got.events if event["type"] == "content_block_delta"}
    assert len(deltas - started) == 1


def block_never_closed(got: Answer, _: Answer) -> None:
    assert got.kinds.count("content_block_start") == got.kinds.count("content_block_stop") + 1
    assert got.kinds[-1] == "message_stop"


def unknown_event(got: Answer, sound: Answer) -> None:
    assert without(got.events, "future_event") == sound.events
    assert got.kinds.count("future_event") == 2


def unknown_block(got: Answer, sound: Answer) -> None:
    starts = [event for event in got.events if event["type"] == "content_block_start"]
    assert [(start["index"], start["content_block"]["type"]) for start in starts] == [
        (0, "future_block"),
        (1, "text"),
        (2, "tool_use"),
        (3, "tool_use"),
    ]
    assert tool_json(got.events, 2) == tool_json(sound.events, 1)


def unknown_delta(got: Answer, _: Answer) -> None:
    deltas = [event["delta"]["type"] for event in got.events if event["type"] == "content_block_delta"]
    assert deltas.count("future_delta") == 1


def stop_reason(expected: str | None) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, _: Answer) -> None:
        ends = [event["delta"]["stop_reason"] for event in got.events if event["type"] == "message_delta"]
        assert ends == [expected]

    return check


def missing_usage(got: Answer, sound: Answer) -> None:
    assert b'"usage"' in sound.body
    assert b'"usage"' not in got.body


def extra_fields(got: Answer, sound: Answer) -> None:
    assert all(found["future_field"] == "x" for event in got.events for found in all_objects(event))
    assert tool_json(got.events, 1) == tool_json(sound.events, 1)


def large_event(got: Answer, sound: Answer) -> None:
    assert max(len(frame) for frame in got.frames) > 200_000
    assert got.kinds == sound.kinds


def first_input(expected: str) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, sound: Answer) -> None:
        assert tool_json(got.events, 1) == expected
        assert tool_json(got.events, 2) == tool_json(sound.events, 2)
        assert got.kinds[-1] == "message_stop"

    return check


def deep_input(got: Answer, _: Answer) -> None:
    assert tool_json(got.events, 1).startswith('{"a":' * 101)
    json.loads(tool_json(got.events, 1))


def tool_ids(got: Answer) -> list[str]:
    starts = [event["content_block"] for event in got.events if event["type"] == "content_block_start"]
    return [block["id"] for block in starts if block["type"] == "tool_use"]


def equal_ids(got: Answer, sound: Answer) -> None:
    assert len(set(tool_ids(sound))) == 2
    assert tool_ids(got) == [tool_ids(sound)[0]] * 2


def empty_ids(got: Answer, _: Answer) -> None:
    assert tool_ids(got) == ["", ""]


def crlf(got: Answer, sound: Answer) -> None:
    assert got.events == sound.events
    assert b"\r\n\r\n" in got.body
    assert not BARE_LINE_FEED.search(got.body)


def carriage_return(got: Answer, sound: Answer) -> None:
    assert got.events == sound.events
    assert b"\r\r" in got.body
    assert b"\n" not in got.body


def split_data(got: Answer, sound: Answer) -> None:
    assert got.events == sound.events
    assert all(frame.count("\ndata: ") > 1 for frame in got.frames)


def no_event_lines(got: Answer, sound: Answer) -> None:
    assert got.events == sound.events
    assert not any(line.startswith("event:") for frame in got.frames for line in frame.split("\n"))


def comments(got: Answer, sound: Answer) -> None:
    assert got.events == sound.events
    assert all(frame.startswith(": ") for frame in got.frames)


def not_json(got: Answer, _: Answer) -> None:
    broken = 0
    for frame in got.frames:
        try:
            json.loads(frame.partition("data: ")[2])
        except json.JSONDecodeError:
            broken += 1
    assert broken == 1


def done_line(got: Answer, sound: Answer) -> None:
    assert got.body == sound.body + b"data: [DONE]\n\n"


def one_byte(got: Answer, sound: Answer) -> None:
    assert got.body == sound.body
    # The loop hands over one write and one read in turn; a few may fall together under load.
    assert len(got.packets) > len(got.body) / 2


def one_write(got: Answer, sound: Answer) -> None:
    assert got.chunks == [sound.body]
    assert len(sound.chunks) == len(sound.events)


def split_character(got: Answer, sound: Answer) -> None:
    assert got.body == sound.body
    assert sum(not decodes(chunk) for chunk in got.chunks) == 2


def cut_in_character(got: Answer, sound: Answer) -> None:
    assert got.ended == "closed"
    assert sound.body.startswith(got.body)
    assert not decodes(got.body)


def decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def after_first(ended: str) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, sound: Answer) -> None:
        assert got.events == sound.events[:1]
        assert got.ended == ended

    return check


def shortened(by: int) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, sound: Answer) -> None:
        assert got.events == sound.events[:-by]
        assert got.ended == "clean"

    return check


def reset_after_start(got: Answer, sound: Answer) -> None:
    assert got.kinds == ["message_start", "ping", "content_block_start"]
    assert got.ended == "reset"
    assert sound.events[:3] == got.events


def cut_in_json(got: Answer, sound: Answer) -> None:
    assert got.ended == "closed"
    whole, part = tool_json(sound.events, 1), tool_json(got.events, 1)
    assert part
    assert whole.startswith(part)
    assert len(part) < len(whole)


def html(status: int) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, _: Answer) -> None:
        assert got.status == status
        assert got.headers["content-type"] == "text/html"
        assert got.body.startswith(b"<html>")

    return check


def empty_503(got: Answer, _: Answer) -> None:
    assert (got.status, got.body) == (503, b"")


def llama_overflow(got: Answer, _: Answer) -> None:
    assert got.status == 400
    assert got.json["error"]["type"] == "exceed_context_size_error"
    assert got.json["error"]["n_prompt_tokens"] > got.json["error"]["n_ctx"]
    assert "type" not in got.json


def llama_image(got: Answer, _: Answer) -> None:
    assert (got.status, got.json["error"]["type"]) == (500, "server_error")


def json_200(got: Answer, _: Answer) -> None:
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert got.json["content"][0]["text"] == WORDS


def empty_body(got: Answer, sound: Answer) -> None:
    assert (got.status, got.body, got.ended) == (200, b"", "clean")
    assert got.headers["content-type"] == sound.headers["content-type"]


def no_answer(ended: str) -> Callable[[Answer, Answer], None]:
    def check(got: Answer, _: Answer) -> None:
        assert (got.status, got.packets, got.ended) == (None, [], ended)

    return check


def whole(got: Answer, sound: Answer) -> None:
    """What follows the answer has a test of its own."""
    assert got.body == sound.body
    assert got.ended == "clean"


def with_pings(got: Answer, sound: Answer) -> None:
    assert without(got.events, "ping") == without(sound.events, "ping")
    assert got.kinds.count("ping") > sound.kinds.count("ping")


CHECKS: dict[str, Callable[[Answer, Answer], None]] = {
    "error-first": error_first,
    "error-after-text": error_after_text,
    "no-message-start": lambda got, sound: _equal(got.events, sound.events[1:]),
    "two-message-starts": two_message_starts,
    "no-ping": lambda got, sound: _equal(got.events, without(sound.events, "ping")),
    "orphan-delta": orphan_delta,
    "block-never-closed": block_never_closed,
    "end-before-message-delta": shortened(2),
    "end-before-message-stop": shortened(1),
    "unknown-event": unknown_event,
    "unknown-block": unknown_block,
    "unknown-delta": unknown_delta,
    "unknown-stop-reason": stop_reason("future_reason"),
    "no-stop-reason": stop_reason(None),
    "missing-usage": missing_usage,
    "extra-fields": extra_fields,
    "large-event": large_event,
    "tool-input": first_input("{"),
    "broken-tool-input": first_input('{"cmd": "touch a", "x": '),
    "array-tool-input": first_input("[1]"),
    "nan-tool-input": first_input('{"a": NaN}'),
    "doubled-key-tool-input": first_input('{"a": 1, "a": 2}'),
    "deep-tool-input": deep_input,
    "equal-tool-ids": equal_ids,
    "empty-tool-ids": empty_ids,
    "crlf": crlf,
    "cr": carriage_return,
    "split-data": split_data,
    "no-event-lines": no_event_lines,
    "comments": comments,
    "not-json": not_json,
    "done-line": done_line,
    "one-byte-per-packet": one_byte,
    "one-write": one_write,
    "split-character": split_character,
    "cut-in-character": cut_in_character,
    "cut-after-event": after_first("closed"),
    "reset-after-event": after_first("reset"),
    "end-after-event": after_first("clean"),
    "reset-after-block-start": reset_after_start,
    "cut-in-tool-json": cut_in_json,
    "stall": whole,
    "stall-with-pings": with_pings,
    "stall-first": whole,
    "stall-first-with-pings": with_pings,
    "html-502": html(502),
    "html-200": html(200),
    "empty-503": empty_503,
    "llama-overflow": llama_overflow,
    "llama-image": llama_image,
    "json-200": json_200,
    "empty-body": empty_body,
    "close-before-answer": no_answer("closed"),
    "reset-before-answer": no_answer("reset"),
    "keep-alive-closed": whole,
    "keep-alive-reset": whole,
    "refuse-next": whole,
}


def _equal(got: object, expected: object) -> None:
    assert got == expected
