"""Folding events into blocks: live, and from the journal of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Call, Origin, Outcome, Status
from mcode.events import (
    AnswerSuperseded,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview
from mcode.ui.tui.block_rows import block_rows
from mcode.ui.tui.blocks import AnswerBlock, CallBlock, Fold, NoticeBlock, RemarkBlock, TodoBlock, UserBlock
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import Glyphs
from tests.ui.tui.stories import finish, program_at_work, start, work_done

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.events import Event


def folded(events: Iterable[Event]) -> Document:
    document = Document(lambda: 0.0)
    for event in events:
        document.apply(event)
    return document


def shown(document: Document, width: int = 90) -> list[str]:
    return [
        row.text for block in document.blocks for row in block_rows(block, width, Glyphs(), document.clock())
    ]


def test_text_that_came_live_and_text_of_the_journal_fold_alike() -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello\n\nworld"}]
    live = folded(
        [
            TurnStarted(1, "hi"),
            RequestStarted(1),
            ThinkingDelta("h"),
            ThinkingDelta("m"),
            TextDelta("Hel"),
            TextDelta("lo\n\nworld"),
            AssistantMessage({"content": content}),
            TurnFinished(1, "end"),
        ]
    )
    replayed = Document()
    replayed.replay([TurnStarted(1, "hi"), AssistantMessage({"content": content}), TurnFinished(1, "end")])
    assert shown(live) == shown(replayed)
    assert [type(block) for block in live.blocks] == [type(block) for block in replayed.blocks]


def test_calls_of_a_program_stand_under_it_and_nowhere_else() -> None:
    document = folded(program_at_work())
    cards = [block for block in document.blocks if isinstance(block, CallBlock)]
    assert len(cards) == 1
    assert [child.call.id for child in cards[0].node.children] == ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]
    assert document.running == (cards[0],)


def test_each_change_of_a_child_is_a_new_revision_of_its_programs_block() -> None:
    document = folded(program_at_work())
    (card,) = (block for block in document.blocks if isinstance(block, CallBlock))
    document.take_changes()
    before = card.revision
    document.apply(ToolProgress("c6", "page 2"))
    assert document.take_changes() == [card.number]
    assert card.revision == before + 1


def test_the_time_that_the_user_takes_is_not_the_programs_own() -> None:
    now = 0.0
    document = Document(lambda: now)
    program = start("p", "run_code", "x", code="x")
    inner = start("c", "Bash", "pytest", parent="p")
    document.apply(program)
    document.apply(inner)
    now = 2.0
    document.apply(ApprovalRequested("a", inner.call, inner.preview, "", ()))
    now = 62.0
    assert any("paused 1 min 0 s" in row for row in shown(document))
    document.apply(ApprovalResolved("a", "once", "user"))
    now = 63.0
    assert any("running 3 s" in row for row in shown(document))


def test_two_questions_at_once_both_have_to_be_answered() -> None:
    now = 0.0
    document = Document(lambda: now)
    first, second = (start(name, "Bash", name, parent="p") for name in "ab")
    for event in (start("p", "run_code", "x", code="x"), first, second):
        document.apply(event)
    for name, started in (("1", first), ("2", second)):
        document.apply(ApprovalRequested(name, started.call, started.preview, "", ()))
    now = 10.0
    document.apply(ApprovalResolved("1", "once", "user"))
    assert any("paused 10 s" in row for row in shown(document)) is False
    document.apply(ApprovalResolved("2", "deny", "user"))
    assert not any("ask" in row for row in shown(document))


def test_an_answer_that_is_asked_for_again_is_void() -> None:
    document = folded(
        [
            RequestStarted(1),
            TextDelta("half an ans"),
            AnswerSuperseded("the stream broke"),
            TextDelta("The answer."),
            AssistantMessage({"content": []}),
        ]
    )
    rows = shown(document)
    assert "half" not in "".join(rows)
    assert "the stream broke" in rows[0]
    assert rows[-1] == "  The answer."


def test_an_answer_that_is_cut_off_says_so() -> None:
    rows = shown(folded([TextDelta("half"), AssistantMessage({"content": []}, complete=False)]))
    assert rows == ["  half", "  cut off: the answer above is not complete"]


def test_the_users_own_command_is_not_repeated_by_the_turn_that_tells_of_it() -> None:
    call = Call("u", "Bash", {"command": "git status"}, Origin.USER)
    document = folded(
        [
            ToolStarted(call, Preview("git status")),
            ToolFinished(Outcome(call, Status.OK, "clean", full_text="clean", summary="exit 0")),
            TurnStarted(1, "!git status"),
        ]
    )
    assert [type(block) for block in document.blocks] == [CallBlock]
    rows = shown(document)
    assert rows[0] == "! git status"
    assert rows[1] == "  clean"


def test_calls_that_a_killed_session_left_open_are_settled() -> None:
    document = Document()
    document.replay([TurnStarted(1, "go"), start("b", "Bash", "sleep 100", command="sleep 100")])
    assert document.running == ()
    assert "stopped" in shown(document)[-1]


def test_of_the_lists_of_steps_of_one_turn_the_last_is_shown() -> None:
    one = ({"content": "first", "status": "pending"},)
    two = ({"content": "first", "status": "completed"},)
    document = folded([TurnStarted(1, "go"), TodosChanged(one), TodosChanged(one), TodosChanged(two)])
    assert [block.replaced for block in document.blocks if isinstance(block, TodoBlock)] == [True, False]
    assert shown(document)[-1] == "  [x] first"


def test_an_error_that_was_said_already_is_not_said_again() -> None:
    document = Document()
    document.say("no credit", "error")
    document.apply(TurnFinished(1, "error", "no credit"))
    assert [type(block) for block in document.blocks] == [NoticeBlock]


def test_a_card_keeps_the_end_of_a_large_output_only() -> None:
    started = start("b", "Bash", "yes", command="yes")
    text = "y\n" * 1_000_000
    document = folded([started, finish(started, "exit 0", "y", data={"stdout": text, "exit_code": 0})])
    (card,) = document.blocks
    assert isinstance(card, CallBlock)
    assert len(card.node.text) == 400_000


def test_whole_texts_for_the_clipboard_and_the_pager() -> None:
    document = folded(work_done())
    texts = {type(block).__name__: block.whole_text() for block in document.blocks}
    assert texts["UserBlock"] == "fix the failing test in tests/test_parser.py"
    assert "## What I found" in texts["AnswerBlock"]
    assert "| file | line |" in texts["AnswerBlock"]
    assert all(block.whole_text() for block in document.blocks)


def test_more_than_eight_calls_show_the_first_two_the_troubled_and_the_last_three() -> None:
    events: list[Event] = [start("p", "run_code", "x", code="x")]
    for number in range(20):
        started = start(f"c{number}", "Read", f"file{number}", parent="p")
        status = Status.FAILED if number == 7 else Status.OK
        events += [started, finish(started, f"{number} lines", "gone", status)]
    events.append(start("late", "Grep", "running", parent="p"))
    document = folded(events)
    rows = [row.split("  ")[0] + " " + " ".join(row.split()[1:4]) for row in shown(document)[2:]]
    assert [row.split()[-1] for row in rows] == [
        "file0",
        "file1",
        "ok",
        "file7",
        "file18",
        "file19",
        "running",
    ]
    assert any("15 more ok" in row for row in shown(document))
    (card,) = document.blocks
    document.fold(card, Fold.FOLDED)
    assert [row.split()[1] for row in shown(document)[1:]] == ["FAIL"]
    document.fold(card, Fold.OPEN)
    assert len(shown(document)) == 2 + 21


def test_blocks_have_the_number_of_their_place() -> None:
    document = folded([*work_done(), *program_at_work()])
    assert [block.number for block in document.blocks] == list(range(len(document.blocks)))
    assert isinstance(document.blocks[0], UserBlock)
    assert any(isinstance(block, RemarkBlock) for block in document.blocks)
    assert any(isinstance(block, AnswerBlock) for block in document.blocks)


def test_calls_of_a_sub_agent_in_the_background_stand_under_it_after_the_turn_has_ended() -> None:
    agent, inner = Call("a", "Agent", {}), Call("b", "Bash", {"command": "ls"}, parent="a")
    going_on = Outcome(agent, Status.OK, "Agent works on.", data={"state": "running"}, summary="goes on")
    document = folded(
        [
            TurnStarted(1, "go"),
            ToolStarted(agent, Preview("scout: look"), "core"),
            ToolFinished(going_on),
            ToolStarted(inner, Preview("ls"), "core"),
            TurnFinished(1, "end"),
            ApprovalRequested("ask-1", inner, Preview("ls"), "no rule", ()),
        ]
    )
    (_, block) = document.blocks
    assert isinstance(block, CallBlock)
    (child,) = block.node.children
    assert (child.status, child.asked) == (None, 1)
    document.apply(ToolFinished(Outcome(inner, Status.OK, "x")))
    document.apply(ToolStarted(Call("c", "Read", {}, parent="a"), Preview("x"), "core"))
    document.apply(TurnFinished(2, "end"))
    assert [each.status for each in block.node.children] == [Status.OK, None]


def test_a_shell_line_of_the_users_is_undone_with_the_turn_that_tells_of_it() -> None:
    own = Call("u", "Bash", {"command": "make"}, Origin.USER)
    document = folded(
        [
            TurnStarted(1, "hello"),
            ToolStarted(own, Preview("make"), "core"),
            TextDelta("Hello."),
            AssistantMessage({"content": []}),
            ToolFinished(Outcome(own, Status.OK, "made")),
            TurnFinished(1, "end"),
            TurnStarted(2, "!make"),
            TextDelta("It is made."),
            AssistantMessage({"content": []}),
            TurnFinished(2, "end"),
        ]
    )
    document.go_back(2, "back to before `!make`")
    (card,) = (block for block in document.blocks if isinstance(block, CallBlock))
    first, second = (block for block in document.blocks if isinstance(block, AnswerBlock))
    assert card.undone
    assert second.undone
    assert not first.undone
