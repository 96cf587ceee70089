"""Events as finished lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Call, FailureKind, Origin, Outcome, Status
from mcode.events import (
    ApprovalResolved,
    AssistantMessage,
    HookRan,
    Notice,
    QueueChanged,
    RetryScheduled,
    TextDelta,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview
from mcode.ui.line.look import Look
from mcode.ui.line.transcript import Transcript

if TYPE_CHECKING:
    from mcode.events import Event


def lines_of(*events: Event, decorated: bool = True, color: bool = False, width: int = 80) -> list[str]:
    transcript = Transcript(Look(decorated=decorated, color=color), lambda: width)
    return [line for event in events for line in transcript.receive(event)]


def said(text: str, *, complete: bool = True) -> AssistantMessage:
    return AssistantMessage({"role": "assistant", "content": [{"type": "text", "text": text}]}, complete)


def test_streamed_text_is_not_repeated_by_its_message() -> None:
    events = (
        TurnStarted(1, "hi"),
        TextDelta("Hello\nwor"),
        TextDelta("ld"),
        said("Hello\nworld"),
        TurnFinished(1, "end"),
    )
    assert lines_of(*events) == ["\u203a hi", "", "Hello", "world"]


def test_a_message_that_was_not_streamed_is_printed_from_itself() -> None:
    assert lines_of(TurnStarted(1, "hi"), said("Hello\nworld")) == ["\u203a hi", "", "Hello", "world"]


def test_prose_breaks_between_words_and_code_stays_whole() -> None:
    text = "one two three four\n```\nlong_code(one, two, three)\n```\n| a table | with cells |\n"
    assert lines_of(TextDelta(text), width=12) == [
        "one two",
        "three four",
        "```",
        "long_code(one, two, three)",
        "```",
        "| a table | with cells |",
    ]


def test_a_huge_paste_is_not_printed_again_in_full() -> None:
    lines = lines_of(TurnStarted(1, "\n".join(map(str, range(1000)))))
    assert lines[0] == "\u203a 0"
    assert lines[-1] == "  (959 more lines, sent like these)"
    assert len(lines) < 50


def test_an_answer_that_was_cut_off_says_so() -> None:
    assert lines_of(TextDelta("Hel"), said("Hel", complete=False)) == [
        "Hel",
        "",
        "  cut off: the answer above is not complete",
    ]


def test_a_calls_line_has_state_tool_subject_time_summary_and_decision() -> None:
    call = Call("c", "Bash", {"command": "pytest -q"})
    outcome = Outcome(call, Status.OK, "...", summary="exit 0", duration=0.14, decision="auto: read-only")
    lines = lines_of(ToolStarted(call, Preview("pytest -q")), ToolFinished(outcome))
    assert lines == ["  ok      Bash  pytest -q  0.1 s  exit 0  auto: read-only"]


def test_a_failure_shows_the_beginning_of_its_reason_and_a_denial_says_why() -> None:
    call = Call("c", "Read", {"file_path": "a"})
    text = "\n".join(f"reason {number}" for number in range(6))
    lines = lines_of(ToolFinished(Outcome(call, Status.FAILED, text, failure=FailureKind.TOOL_ERROR)))
    assert lines[0] == "  FAIL    Read  a"
    assert lines[1].strip() == "reason 0"
    assert lines[-1].strip() == "(2 more lines)"
    denied = lines_of(ToolFinished(Outcome(call, Status.DENIED, "a rule forbids it", decision="rule")))
    assert [line.strip() for line in denied] == ["denied  Read  a  rule", "a rule forbids it"]


def test_a_narrow_terminal_shortens_the_subject_only() -> None:
    call = Call("c", "Bash", {})
    outcome = Outcome(call, Status.OK, "", summary="exit 0", duration=1.0)
    line = lines_of(ToolStarted(call, Preview("x" * 200)), ToolFinished(outcome), width=60)[0]
    assert len(line) <= 60
    assert line.startswith("  ok      Bash  xxx")
    assert line.endswith("1.0 s  exit 0")


def test_calls_of_a_program_stand_indented_between_its_head_and_its_end() -> None:
    program = Call("p", "run_code", {})
    inner = [Call(f"p{at}", "Read", {}, Origin.PROGRAM, parent="p") for at in (1, 2)]
    events: list[Event] = [ToolStarted(program, Preview("count files"))]
    for call in inner:
        events += [
            ToolStarted(call, Preview("a.py")),
            ToolFinished(Outcome(call, Status.OK, "", summary="3 lines")),
        ]
    events.append(ToolFinished(Outcome(program, Status.OK, "", summary="2 calls")))
    assert lines_of(*events) == [
        "  ...     run_code  count files",
        "    ok      Read  a.py  3 lines",
        "    ok      Read  a.py  3 lines",
        "  ok      run_code  count files  2 calls",
    ]


def test_a_change_is_shown_with_signs() -> None:
    call = Call("c", "Edit", {})
    diff = "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+y\n"
    lines = lines_of(ToolFinished(Outcome(call, Status.OK, "", diff=diff)))
    assert lines[1:] == ["       1 - x", "       1 + y"]


def test_ones_own_shell_command_shows_all_of_its_output() -> None:
    call = Call("u", "Bash", {"command": "ls"}, Origin.USER)
    output = "\n".join(f"file {number}" for number in range(100))
    lines = lines_of(
        ToolStarted(call, Preview("ls")),
        ToolFinished(Outcome(call, Status.OK, "cut", full_text=output, summary="exit 0")),
    )
    assert lines[0] == "! ls"
    assert lines[1:101] == [f"file {number}" for number in range(100)]


def test_hooks_speak_up_when_they_block_or_fail_and_not_otherwise() -> None:
    assert lines_of(HookRan("h", "PreToolUse", "guard.py", "success")) == []
    assert lines_of(
        HookRan("h", "PreToolUse", "guard.py", "blocked", exit_code=2, stderr="not on main\nx")
    ) == ["  hook PreToolUse `guard.py` blocked, exit 2: not on main"]


def test_the_ways_a_turn_ends_are_told_apart() -> None:
    assert lines_of(TurnFinished(1, "end")) == []
    assert lines_of(TurnFinished(1, "interrupted")) == ["  interrupted"]
    assert lines_of(TurnFinished(1, "error", "The key was refused.")) == ["error: The key was refused."]
    assert lines_of(TurnFinished(1, "limit", "200 calls")) == ["  stopped at a limit: 200 calls"]


def test_an_error_that_a_notice_has_told_already_is_not_told_twice() -> None:
    assert lines_of(Notice("The disk is full.", "error"), TurnFinished(1, "error", "The disk is full.")) == [
        "error: The disk is full."
    ]


def test_remarks_todos_and_withdrawn_approvals_have_a_line_each() -> None:
    todos = ({"content": "Write tests", "status": "in_progress"}, {"content": "x", "status": "completed"})
    assert lines_of(Notice("Mind the gap", "warning")) == ["warning: Mind the gap"]
    assert lines_of(TodosChanged(todos)) == ["  todo  1 of 2 done; now: Write tests"]
    assert "withdrawn (interrupt)" in lines_of(ApprovalResolved("a", "withdrawn", "interrupt"))[0]


def test_without_decoration_every_block_says_whose_it_is_and_nothing_is_redrawn() -> None:
    call = Call("c", "Bash", {})
    lines = lines_of(
        TurnStarted(1, "hi"),
        TextDelta("one\ntwo\n"),
        said("one\ntwo\n"),
        ToolStarted(call, Preview("ls")),
        ToolFinished(Outcome(call, Status.OK, "", summary="exit 0")),
        QueueChanged(("later",)),
        QueueChanged(()),
        RetryScheduled(2, 10, 4.0, "overloaded", 529),
        decorated=False,
        color=True,
    )
    assert lines == [
        "You: hi",
        "Assistant: one",
        "two",
        "Tool: started Bash ls.",
        "Tool: ok Bash ls. exit 0",
        "  Queued: later",
        "  Try 2 of 10 in 4 s: 529 overloaded",
    ]


def test_headings_and_fences_are_styled_lightly_and_kept() -> None:
    lines = lines_of(TextDelta("# Title\n```sh\n# not a title\n```\n"), color=True)
    assert lines == ["\x1b[1m# Title\x1b[0m", "\x1b[2m```sh\x1b[0m", "# not a title", "\x1b[2m```\x1b[0m"]
