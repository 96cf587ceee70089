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
from mcode.pipeline import outcomes
from mcode.tool import Preview
from mcode.ui.line.transcript import Transcript
from mcode.ui.look import Look

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
    assert lines_of(TextDelta(text), said(text), width=12) == [
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
    outcome = Outcome(
        call, Status.OK, "(no output)", summary="exit 0", duration=0.14, decision="auto: read-only"
    )
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
    assert denied == ["  denied  Read  a  a rule forbids it"]


def test_a_denial_is_told_once_without_what_it_tells_the_model() -> None:
    call = Call("c", "Bash", {"command": "rm x"})
    denied = outcomes.denied(call, "the user said no: not today", FailureKind.DENIED)
    assert lines_of(ToolFinished(denied)) == ["  denied  Bash  rm x  the user said no: not today"]
    reason = "the mode plan only reads, and `rm x` changes files; leave it with Shift+Tab to go on"
    for width in (100, 80, 60):
        rows = lines_of(ToolFinished(outcomes.denied(call, reason, FailureKind.DENIED)), width=width)
        assert rows[0] == "  denied  Bash  rm x"
        assert " ".join(row.strip() for row in rows[1:]) == reason
        assert all(len(row) <= width for row in rows)


def bash(text: str, code: int = 0, status: Status = Status.OK, **data: str) -> Outcome:
    streams = {"stdout": "", "stderr": "", "exit_code": code, **data}
    return Outcome(Call("c", "Bash", {"command": "make"}), status, text, streams, summary=f"exit {code}")


def test_a_command_shows_the_last_lines_that_it_printed_and_how_many_there_are_more() -> None:
    output = "\n".join(f"line {number}" for number in range(1, 21)) + "\n"
    rows = lines_of(ToolFinished(bash("", stdout=output)))
    assert rows[0] == "  ok      Bash  make  exit 0"
    assert [row.strip() for row in rows[1:]] == [
        "(12 more lines)",
        *(f"line {number}" for number in range(13, 21)),
    ]
    assert lines_of(ToolFinished(bash("", stdout="one\n")), color=True)[1] == "\x1b[2m          one\x1b[0m"


def test_a_command_that_failed_says_its_exit_code_in_the_state_and_shows_more_lines() -> None:
    output = "\n".join(f"line {number}" for number in range(1, 21))
    rows = lines_of(ToolFinished(bash("", 2, stdout="begun", stderr=output)))
    assert rows[0] == "  exit 2  Bash  make"
    assert len(rows) == 14
    coloured = lines_of(ToolFinished(bash("", 2)), color=True)[0]
    assert coloured.startswith("  \x1b[33mexit 2 \x1b[0m")


def test_after_a_resume_the_text_for_the_model_stands_in_for_the_output() -> None:
    call = Call("c", "Bash", {"command": "make"})
    text = "no rule to make target\n\nExit code 2 after 0.05 s."
    assert lines_of(ToolFinished(Outcome(call, Status.OK, text, summary="exit 2"))) == [
        "  exit 2  Bash  make",
        "          no rule to make target",
    ]


def test_t_01_what_a_command_prints_cannot_steer_the_terminal() -> None:
    rows = lines_of(
        ToolFinished(bash("", stdout="\x1b[2Ja\x1b]0;t\x07\x9b2Jb\rc\u202ed" + "x" * 200)), color=True
    )
    assert all("\x1b" not in row[4:-4] and "\x9b" not in row and "\u202e" not in row for row in rows[1:])
    assert all(len(row) <= 80 + 8 for row in rows)


def test_the_commands_of_a_program_show_what_they_printed_only_in_trouble() -> None:
    call = Call("c", "Bash", {"command": "make"}, Origin.PROGRAM, parent="p")
    fine = Outcome(call, Status.OK, "done", summary="exit 0")
    bad = Outcome(call, Status.OK, "bad\n\nExit code 1 after 0.05 s.", summary="exit 1")
    assert lines_of(ToolFinished(fine)) == ["    ok      Bash  make  exit 0"]
    assert lines_of(ToolFinished(bad)) == ["    exit 1  Bash  make", "            bad"]


def test_what_the_user_decided_stands_in_the_row_of_the_call_however_narrow_the_terminal_is() -> None:
    call = Call("c", "Bash", {"command": "touch a_file_with_a_long_name"})
    done = Outcome(call, Status.OK, "(no output)", summary="exit 0", duration=0.1, decision="approved by you")
    for width in (100, 80, 60):
        (row,) = lines_of(ToolFinished(done), width=width)
        assert row.endswith("approved by you")
        assert len(row) <= width


def test_an_answer_that_broke_off_before_its_first_word_leaves_the_error_alone() -> None:
    empty = AssistantMessage({"role": "assistant", "content": []}, complete=False)
    assert lines_of(empty, TurnFinished(1, "error", "The key was refused.")) == [
        "error: The key was refused."
    ]


def test_the_list_of_steps_is_shown_after_the_call_that_set_it_and_long_ones_in_part() -> None:
    def written(count: int, done: int) -> ToolFinished:
        todos = [
            {
                "content": f"step {at}",
                "status": "completed" if at < done else "in_progress" if at == done else "pending",
            }
            for at in range(count)
        ]
        return ToolFinished(Outcome(Call("t", "TodoWrite", {"todos": todos}), Status.OK, "kept"))

    assert [row.strip() for row in lines_of(written(3, 1))[1:]] == ["[x] step 0", "[>] step 1", "[ ] step 2"]
    rows = [row.strip() for row in lines_of(written(30, 20))[1:]]
    assert rows[0] == "(17 more before)"
    assert "[>] step 20" in rows
    assert rows[-1] == "(1 more)"
    assert len(rows) == 14


def test_a_mentioned_file_has_one_row_without_its_content() -> None:
    call = Call("u", "Read", {"file_path": "notes.md"}, Origin.USER)
    outcome = Outcome(call, Status.OK, "1\tsecret plans", summary="1 line")
    assert lines_of(ToolStarted(call, Preview("notes.md")), ToolFinished(outcome)) == [
        "  ok      Read  notes.md  1 line  (you mentioned it)"
    ]


def test_ones_own_shell_command_is_shown_once_although_the_model_is_told_of_it() -> None:
    call = Call("u", "Bash", {"command": "ls"}, Origin.USER)
    rows = lines_of(
        ToolStarted(call, Preview("ls")),
        ToolFinished(Outcome(call, Status.OK, "a.py", summary="exit 0")),
        TurnStarted(1, "!ls"),
    )
    assert rows == ["! ls", "a.py", "  ok      Bash  ls  exit 0"]


def test_how_ones_own_shell_command_ended_stands_in_its_row_alone() -> None:
    call = Call("u", "Bash", {"command": "false"}, Origin.USER)
    text = "(no output)\n\nExit code 1 after 0.02 s."
    assert lines_of(ToolFinished(Outcome(call, Status.OK, text, full_text=text, summary="exit 1"))) == [
        "  exit 1  Bash  false"
    ]


def test_ones_own_shell_command_that_was_stopped_has_one_row() -> None:
    call = Call("u", "Bash", {"command": "sleep 60"}, Origin.USER)
    text = "interrupted: Bash ran when the user stopped the turn; it may have had effects.\n(no output)"
    stopped = Outcome(call, Status.CANCELLED, text, summary="interrupted")
    assert lines_of(ToolFinished(stopped)) == ["  stopped Bash  sleep 60  interrupted"]


def test_items_of_an_answer_and_remarks_break_at_words_and_hang() -> None:
    assert lines_of(TextDelta("- one two three four\n12. one two three\n"), width=12) == [
        "- one two",
        "  three four",
        "12. one two",
        "    three",
    ]
    transcript = Transcript(Look(color=False), lambda: 40)
    assert transcript.plain("  Enter     send the draft, which goes out\na  b  c  " + "x" * 40) == [
        "  Enter     send the draft, which goes",
        "            out",
        "a  b  c  " + "x" * 40,
    ]
    assert all(len(row) <= 40 for row in transcript.remark("word " * 30))


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
    assert (
        lines_of(HookRan("h", "PreToolUse", "guard.py", "failed", exit_code=1)) == []
    )  # a notice tells of it
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


def test_remarks_todos_and_withdrawn_approvals_have_their_lines() -> None:
    todos = ({"content": "Write tests", "status": "in_progress"}, {"content": "x", "status": "completed"})
    assert lines_of(Notice("Mind the gap", "warning")) == ["warning: Mind the gap"]
    assert lines_of(TodosChanged(todos)) == [
        "          [>] Write tests",
        "          [x] x",
    ]
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
