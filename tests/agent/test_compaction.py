"""Making room: what is folded from its records is always valid, and a rewind goes back across it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mcode.agent.compaction import (
    last_words_of_user,
    note_for,
    old_results,
    opening,
    plan_room,
    recent_messages,
    summary_request,
)
from mcode.agent.conversation import history_before
from mcode.agent.history import History
from mcode.model.usage import count_tokens
from mcode.session.records import Record as JournalRecord
from tests.agent.test_history import asked, check_valid, finished, folded, said, text, use

if TYPE_CHECKING:
    from pathlib import Path

LONG = "the quick brown fox jumps over the lazy dog " * 200

Record = tuple[str, dict[str, Any]]


def compacted(kept: int, *words: str) -> Record:
    return "compaction", {"content": [text(word) for word in words or ("what came before",)], "kept": kept}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "s"}


def conversation(turns: int) -> list[Record]:
    records: list[Record] = []
    for turn in range(1, turns + 1):
        records += [
            asked(f"question {turn}", turn),
            said(thinking("hm"), use(f"c{turn}")),
            finished(f"c{turn}", f"result {turn} {LONG}"),
            said(text(f"answer {turn}")),
        ]
    return records


def test_a_summary_stands_before_what_stays_and_roles_alternate() -> None:
    history = folded(*conversation(3), compacted(4, "summary"), asked("next", 4))
    check_valid(history.messages)
    first = history.messages[0]["content"]
    assert [block["text"] for block in first] == ["summary", "question 3"]
    assert str(history.messages).count("'tool_result'") == 1


def test_what_stays_may_begin_with_the_model() -> None:
    history = folded(*conversation(3), compacted(3), asked("next", 4))
    check_valid(history.messages)
    assert history.messages[0]["content"] == [text("what came before")]
    assert history.messages[1]["content"][0]["type"] == "tool_use"


def test_thinking_of_what_stays_is_gone_because_its_signature_no_longer_holds() -> None:
    history = folded(*conversation(3), compacted(4))
    assert "thinking" not in str(history.messages)


def test_nothing_need_stay() -> None:
    history = folded(*conversation(2), compacted(0), asked("next", 3))
    check_valid(history.messages)
    assert len(history.messages) == 1


def test_a_rewind_to_a_turn_that_stayed_keeps_the_summary() -> None:
    history = folded(
        *conversation(3), compacted(4, "summary"), *conversation(0), ("rewind", {"turn": 3, "reason": "user"})
    )
    assert history.messages == ({"role": "user", "content": [text("summary")]},)
    again = folded(
        *conversation(3), compacted(4, "summary"), ("rewind", {"turn": 3, "reason": "user"}), asked("new", 4)
    )
    check_valid(again.messages)


def test_a_rewind_goes_back_across_compactions() -> None:
    records = [*conversation(4), compacted(4, "one"), asked("five", 5), said(text("a")), compacted(1, "two")]
    history = folded(*records, ("rewind", {"turn": 2, "reason": "user"}))
    assert history.messages == folded(*conversation(1)).messages


def test_dropped_results_are_notes_and_everything_else_is_as_it_was() -> None:
    history = folded(*conversation(2), ("results_dropped", {"notes": {"c1": "[kept in a file]"}}))
    check_valid(history.messages)
    assert history.messages[2]["content"][0]["content"] == "[kept in a file]"
    assert history.messages[3:] == folded(*conversation(2)).messages[3:]


def test_a_call_and_its_result_are_never_parted() -> None:
    messages = folded(*conversation(3)).messages
    one_turn = sum(count_tokens(str(message)) for message in messages[-4:])
    assert 4 <= recent_messages(messages, one_turn * 2) < len(messages)
    for budget in range(0, one_turn * 3, 50):
        kept = recent_messages(messages, budget)
        if kept:
            content = messages[-kept]["content"]
            assert all(block["type"] != "tool_result" for block in content)


def test_old_large_results_are_dropped_before_anything_is_summarised() -> None:
    messages = folded(*conversation(6)).messages
    plan = plan_room(messages, 10_000, lambda tokens: tokens, by_hand=False)
    assert not plan.summarise
    assert [result.use_id for result in plan.drop][:2] == ["c1", "c2"]
    assert plan_room(messages, 10_000, lambda tokens: tokens, by_hand=True).summarise


def test_small_results_are_no_way_to_make_room() -> None:
    records = [record for record in conversation(40) if record[0] != "call_finished"]
    messages = folded(*records).messages
    plan = plan_room(messages, 2_000, lambda tokens: tokens, by_hand=False)
    assert plan.drop == ()
    assert plan.summarise


def test_a_note_says_what_was_there_and_where_it_is(tmp_path: Path) -> None:
    (result, *_) = old_results(folded(*conversation(1)).messages, 0)
    note = note_for(result, tmp_path / "kept.txt")
    assert str(tmp_path / "kept.txt") in note
    assert str(result.tokens) in note


def test_the_request_for_a_summary_fits_whatever_is_summarised() -> None:
    messages = folded(*conversation(60)).messages
    whole = summary_request(messages, "mind the parser", 100_000)
    assert "question 1\n" in whole
    assert "mind the parser" in whole
    small = summary_request(messages, "", 2_000)
    assert count_tokens(small) < 2_600


def test_the_users_last_words_are_given_where_they_would_be_lost() -> None:
    messages = folded(asked("the wish"), said(use("a")), finished("a", "x"), said(use("b"))).messages
    assert last_words_of_user(messages, 2) == "the wish"
    assert last_words_of_user(messages, 0) == ""
    blocks = opening(" the summary ", "the wish", ("todos",))
    assert [block["type"] for block in blocks] == ["text"] * 3
    assert "<summary>\nthe summary\n</summary>" in blocks[0]["text"]


def test_random_sequences_of_records_fold_into_valid_conversations() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        records: list[Record] = []
        turn = 0
        for _ in range(chance.randrange(1, 25)):
            step = chance.randrange(6)
            if step <= 3:
                turn += 1
                records += [asked(f"q{turn}", turn), said(thinking("t"), use(f"c{turn}"), use(f"d{turn}"))]
                records += [finished(f"c{turn}", "x"), finished(f"d{turn}", "y")][: chance.randrange(3)]
                records.append(said(text(f"a{turn}")))
            elif step == 4:
                messages = folded(*records).messages
                records.append(compacted(recent_messages(messages, chance.randrange(200))))
            elif turn:
                records.append(("rewind", {"turn": chance.randrange(1, turn + 1), "reason": "user"}))
        turn += 1
        check_valid(folded(*records, asked("last", turn)).messages)


def test_a_result_that_holds_the_definition_of_a_loaded_tool_stays() -> None:
    messages = folded(*conversation(3)).messages
    assert [result.use_id for result in old_results(messages, 0, frozenset({"c2"}))] == ["c1", "c3"]


def test_what_stood_before_compactions_is_in_the_journal_alone_and_read_back_for_a_rewind() -> None:
    for seed in range(80):
        check_reading_back(random.Random(seed))


def check_reading_back(chance: random.Random) -> None:
    records: list[Record] = []
    frugal, turn = History(), 0
    frugal.keep_in_journal(lambda number: history_before(numbered(records), number))
    for _ in range(chance.randrange(5, 25)):
        step = chance.randrange(6)
        if step <= 2 or not turn:
            turn += 1
            new = [asked(f"q{turn}", turn), said(use(f"c{turn}")), finished(f"c{turn}", "x"), said(text("a"))]
        elif step <= 4:
            new = [compacted(recent_messages(folded(*records).messages, chance.randrange(200)))]
        else:
            new = [("rewind", {"turn": chance.randrange(1, turn + 1), "reason": "user"})]
        for record in new:
            frugal.apply(*record)
            records.append(record)
        assert frugal.messages == folded(*records).messages


def numbered(records: list[Record]) -> list[JournalRecord]:
    return [JournalRecord(number, kind, body, "") for number, (kind, body) in enumerate(records, 1)]
