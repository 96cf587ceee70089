"""The fold from records to messages, and S-08: what is sent is always valid."""

from __future__ import annotations

import random
from typing import Any

from mcode import jsontext
from mcode.agent.history import INTERRUPTED, NO_ANSWER, History, normalise

Record = tuple[str, dict[str, Any]]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(identifier: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": "Read", "input": {"file_path": "/a"}}


def said(*blocks: dict[str, Any], complete: bool = True) -> Record:
    return "assistant", {"message": {"role": "assistant", "content": list(blocks)}, "complete": complete}


def asked(words: str, turn: int = 1) -> Record:
    return "user", {"turn": turn, "content": [text(words)], "text": words}


def finished(identifier: str, words: str, status: str = "ok") -> Record:
    return "call_finished", {"id": identifier, "status": status, "text": words}


def folded(*records: Record) -> History:
    history = History()
    for kind, body in records:
        history.apply(kind, body)
    return history


def check_valid(messages: tuple[dict[str, Any], ...]) -> None:
    """What every Messages endpoint demands of a conversation."""
    assert messages[0]["role"] == "user"
    open_uses: list[str] = []
    for index, message in enumerate(messages):
        assert message["role"] == ("user" if index % 2 == 0 else "assistant")
        assert message["content"]
        kinds = [block["type"] for block in message["content"]]
        if message["role"] == "user":
            results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
            assert results == open_uses
            assert kinds[: len(results)] == ["tool_result"] * len(results)
        open_uses = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    assert not open_uses


def test_results_stand_in_the_order_of_the_calls_whatever_order_they_came_in() -> None:
    history = folded(asked("go"), said(use("a"), use("b")), finished("b", "second"), finished("a", "first"))
    results = history.messages[-1]["content"]
    assert [block["content"] for block in results] == ["first", "second"]
    check_valid(history.messages)


def test_s_08_a_call_without_a_recorded_result_is_answered_as_interrupted() -> None:
    history = folded(asked("go"), said(use("a"), use("b")), finished("a", "first"))
    assert history.unfinished == ("b",)
    last = history.messages[-1]["content"]
    assert last[1] == {"type": "tool_result", "tool_use_id": "b", "content": INTERRUPTED, "is_error": True}
    check_valid(history.messages)


def test_s_08_the_stored_history_is_not_rewritten_by_looking_at_it() -> None:
    history = folded(asked("go"), said(use("a"), use("b")), finished("a", "first"))
    _ = history.messages
    history.apply(*finished("b", "late"))
    assert history.messages[-1]["content"][1]["content"] == "late"


def test_what_the_user_types_after_an_interrupt_stands_behind_the_results() -> None:
    history = folded(
        asked("go"), said(use("a")), finished("a", "interrupted: …", "cancelled"), asked("stop that", 2)
    )
    assert [block["type"] for block in history.messages[-1]["content"]] == ["tool_result", "text"]
    assert history.messages[-1]["content"][0]["is_error"] is True
    check_valid(history.messages)


def test_s_02_an_incomplete_answer_keeps_its_words_and_loses_its_calls_and_unsigned_thinking() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": ""}
    history = folded(asked("go"), said(thinking, text("I will"), use("a"), complete=False), asked("and?", 2))
    kept = history.messages[1]["content"]
    assert kept[0] == text("I will")
    assert "incomplete" in kept[1]["text"]
    assert len(kept) == 2
    check_valid(history.messages)


def test_a_request_that_brought_nothing_still_leaves_alternating_roles() -> None:
    history = folded(asked("go"), said(complete=False), asked("again", 2))
    assert [message["role"] for message in history.messages] == ["user", "assistant", "user"]
    check_valid(history.messages)


def test_an_answer_without_words_is_not_empty() -> None:
    assert folded(asked("go"), said()).messages[1]["content"] == [text(NO_ANSWER)]


def test_a_result_of_an_inner_call_never_reaches_the_model() -> None:
    history = folded(asked("go"), said(use("a")), finished("inner", "secret"), finished("a", "outer"))
    assert "secret" not in jsontext.dump(list(history.messages))


def test_a_rewind_forgets_a_turn_and_everything_after_it() -> None:
    history = folded(asked("one"), said(text("1")), asked("two", 2), said(text("2")), ("rewind", {"turn": 2}))
    assert [block["text"] for message in history.messages for block in message["content"]] == ["one", "1"]


def test_unknown_records_say_nothing_to_the_model() -> None:
    assert len(folded(asked("go"), ("from_a_newer_version", {"x": 1})).messages) == 1


def test_each_record_only_ever_appends_to_what_was_sent() -> None:
    randomness = random.Random(20261129)
    for _ in range(80):
        history = History()
        previous = ""
        for turn in range(1, 13):
            history.apply(*asked(f"message {turn}", turn))
            for number in range(randomness.randrange(4)):
                sent = jsontext.dump(list(history.messages))
                assert sent.startswith(previous[:-1])
                previous = sent
                uses = [use(f"t{turn}.{number}.{index}") for index in range(randomness.randrange(3))]
                history.apply(*said(text("so"), *uses, complete=randomness.random() > 0.2))
                for block in randomness.sample(uses, len(uses)):
                    history.apply(*finished(block["id"], "done"))
            if randomness.random() < 0.3:
                history.apply(*said(complete=False))
            check_valid(history.messages)
            assert normalise(history.messages) == history.messages


def test_records_that_were_lost_leave_a_conversation_that_can_be_sent() -> None:
    history = folded(said(text("no question before me")), said(use("a")), said(text("nor between us")))
    check_valid(history.messages)


def random_message(randomness: random.Random) -> dict[str, Any]:
    kinds = [text("words"), text(""), use(f"t{randomness.randrange(6)}")]
    kinds.append({"type": "tool_result", "tool_use_id": f"t{randomness.randrange(6)}", "content": "r"})
    content = [randomness.choice(kinds) for _ in range(randomness.randrange(4))]
    return {"role": randomness.choice(["user", "assistant"]), "content": content}


def test_s_08_normalising_makes_any_heap_of_messages_valid_and_leaves_valid_ones_alone() -> None:
    randomness = random.Random(8)
    for _ in range(2_000):
        heap = [random_message(randomness) for _ in range(randomness.randrange(1, 8))]
        messages = normalise(heap)
        if not messages:
            assert not any(block.get("text") for message in heap for block in message["content"])
            continue
        repeated = [block["id"] for m in messages for block in m["content"] if block["type"] == "tool_use"]
        if len(repeated) == len(set(repeated)):
            check_valid(messages)
        assert normalise(messages) == messages


def test_a_summary_of_a_part_cuts_inside_a_message_that_two_turns_share() -> None:
    """An interrupt leaves results without an answer, and the next message joins them."""
    shared = (asked("go"), said(use("a")), finished("a", "done"), asked("no, so", 2), said(text("Yes.")))
    later = folded(*shared, ("compaction", {"content": [text("SUMMARY")], "part": "from", "turn": 2}))
    assert later.messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "done"},
        text("SUMMARY"),
    ]
    check_valid(later.messages)
    earlier = folded(*shared, ("compaction", {"content": [text("SUMMARY")], "part": "before", "turn": 2}))
    assert earlier.messages[0]["content"] == [text("SUMMARY"), text("no, so")]
    check_valid(earlier.messages)
    for history in (later, earlier):
        history.apply("rewind", {"turn": 2})
        check_valid(history.messages)
        assert "no, so" not in str(history.messages)
    assert earlier.messages == ({"role": "user", "content": [text("SUMMARY")]},)
    later.apply("rewind", {"turn": 1})
    assert later.messages == ()


def test_a_summary_of_a_part_whose_turn_is_unknown_takes_nothing_away() -> None:
    records = (asked("go"), said(text("Yes.")))
    for part in ("from", "before"):
        lost = ("compaction", {"content": [text("SUMMARY")], "part": part, "turn": 9})
        messages = folded(*records, lost).messages
        assert "go" in str(messages)
        assert "Yes." in str(messages)
        assert "SUMMARY" in str(messages)
        check_valid(messages)


def test_the_image_of_a_failed_call_stands_behind_the_results_for_a_failed_one_may_hold_only_text() -> None:
    picture = {"type": "image", "id": "i1", "media_type": "image/png", "bytes": 3}
    failed: Record = (
        "call_finished",
        {"id": "a", "status": "failed", "text": "no page", "images": [picture]},
    )
    history = folded(asked("go"), said(use("a"), use("b")), failed, finished("b", "second"))
    first, second, third = history.messages[-1]["content"]
    assert first == {"type": "tool_result", "tool_use_id": "a", "content": "no page", "is_error": True}
    assert second["tool_use_id"] == "b"
    assert third == picture
    check_valid(history.messages)


def test_text_of_blanks_alone_is_not_sent_back_since_endpoints_refuse_it() -> None:
    history = folded(
        asked("go"),
        said(text("\n\n"), use("a")),
        finished("a", " \n"),
        ("context", {"content": "  "}),
        said(text(" ")),
        asked("on", 2),
    )
    assert [block["type"] for block in history.messages[1]["content"]] == ["tool_use"]
    assert history.messages[2]["content"][0]["content"] == "(no output)"
    assert len(history.messages[2]["content"]) == 1
    assert history.messages[3]["content"] == [text(NO_ANSWER)]
