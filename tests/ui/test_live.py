"""The rows around the prompt."""

from __future__ import annotations

from mcode.call import Call, Origin, Outcome, Status
from mcode.events import (
    ApprovalRequested,
    ApprovalResolved,
    HookRan,
    HookStarted,
    Ledger,
    ModeChanged,
    QueueChanged,
    RequestStarted,
    RetryScheduled,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview
from mcode.ui.live import LiveArea


def rows(area: LiveArea, *tail: str, width: int = 80) -> list[str]:
    return [row.text for row in area.rows(tail, width)]


def test_nothing_stands_there_while_nothing_runs() -> None:
    area = LiveArea("m", "default")
    assert rows(area) == []
    assert not area.active


def test_running_calls_show_their_last_progress_and_go_when_they_end() -> None:
    area = LiveArea("m", "default")
    call = Call("c", "Bash", {})
    area.receive(TurnStarted(1, "x"))
    area.receive(ToolStarted(call, Preview("make")))
    area.receive(ToolProgress("c", "compiling b.c"))
    assert rows(area) == ["  ...     Bash  make  0 s  compiling b.c", "* working 0:00   Esc interrupts"]
    area.receive(ToolFinished(Outcome(call, Status.OK, "")))
    area.receive(TurnFinished(1, "end"))
    assert rows(area) == []


def test_a_sub_agent_in_the_background_is_no_turn_and_what_it_does_outlives_one() -> None:
    area = LiveArea("m", "default")
    agent, inner = Call("a", "Agent", {}), Call("b", "Bash", {}, parent="a")
    area.receive(TurnStarted(1, "x"))
    area.receive(ToolStarted(agent, Preview("scout: look")))
    area.receive(ToolFinished(Outcome(agent, Status.OK, "", data={"state": "running"})))
    area.receive(ToolStarted(inner, Preview("make")))
    assert rows(area)[-1] == "* working 0:00   Esc interrupts"
    area.receive(TurnFinished(1, "end"))
    assert rows(area) == [
        "  ...     Bash  make  0 s",
        "* a sub-agent works in the background 0:00   /agents shows it",
    ]
    area.receive(ToolFinished(Outcome(inner, Status.OK, "")))
    assert rows(area) == []


def test_a_retry_counts_down_and_says_how_to_stop_it() -> None:
    area = LiveArea("m", "default")
    area.receive(TurnStarted(1, "x"))
    area.receive(RetryScheduled(3, 10, 8.0, "overloaded", 529))
    assert rows(area) == ["* try 3 of 10 in 8 s, Esc stops: 529 overloaded"]
    area.receive(RequestStarted(1))
    assert rows(area) == ["* working 0:00   Esc interrupts"]


def test_the_status_of_a_retry_is_said_once() -> None:
    area = LiveArea("m", "default")
    area.receive(RetryScheduled(3, 5, 2.0, "The endpoint is overloaded (529)", 529))
    assert rows(area) == ["* try 3 of 5 in 2 s, Esc stops: The endpoint is overloaded (529)"]


def test_no_time_runs_while_the_user_is_waited_for() -> None:
    area = LiveArea("m", "default")
    call = Call("c", "Bash", {})
    area.receive(TurnStarted(1, "x"))
    area.receive(ToolStarted(call, Preview("make")))
    area.receive(ApprovalRequested("a", call, Preview("make"), "why", ()))
    assert rows(area) == ["  ...     Bash  make  waiting for you", "* waiting for you"]
    area.receive(ApprovalResolved("a", "once", "user"))
    assert rows(area) == ["  ...     Bash  make  0 s", "* working 0:00   Esc interrupts"]


def test_ones_own_shell_command_says_how_to_stop_it() -> None:
    area = LiveArea("m", "default")
    area.receive(ToolStarted(Call("c", "Bash", {}, Origin.USER), Preview("make")))
    assert rows(area) == ["  ...     Bash  make  0 s", "* working 0:00   Esc interrupts"]


def test_a_running_hook_is_named() -> None:
    area = LiveArea("m", "default")
    area.receive(HookStarted("h", "PreToolUse", "guard.py"))
    assert rows(area) == ["* hook guard.py   Esc interrupts"]
    area.receive(HookRan("h", "PreToolUse", "guard.py", "success"))
    assert rows(area) == []


def test_a_hook_shows_the_words_that_its_user_chose_for_it() -> None:
    area = LiveArea("m", "default")
    area.receive(HookStarted("h", "PreToolUse", "guard.py", "looking for secrets"))
    assert rows(area) == ["* hook: looking for secrets   Esc interrupts"]


def test_the_queue_shows_three_and_the_number_of_the_rest() -> None:
    area = LiveArea("m", "default")
    area.receive(TurnStarted(1, "x"))
    area.receive(QueueChanged(("a", "b", "c", "d", "e")))
    shown = ["  queued 1:  a", "  queued 2:  b", "  queued 3:  c", "  +2"]
    assert rows(area)[1:] == shown
    area.receive(TurnFinished(1, "interrupted"))
    assert rows(area) == [*shown, "  sent before your next message; Up takes it back"]


def test_the_unfinished_line_shows_its_last_rows() -> None:
    area = LiveArea("m", "default")
    assert rows(area, "x" * 100, width=10) == ["x" * 10] * 6


def test_the_status_row_gives_the_figures_of_the_last_request_and_shrinks_with_the_terminal() -> None:
    area = LiveArea("some-model", "default")
    area.receive(ModeChanged("plan"))
    area.receive(Ledger(2500, 1500, 20_500, 37_000, 200_000, cost=0.42))
    assert area.status(100).text == " some-model  plan  ctx 30% [def 2.5k msg 22k res 37k]  $0.42"
    assert area.status(70).text == " some-model  plan  ctx 30%  $0.42"
    assert area.status(50).text == " plan  ctx 30%  $0.42"


def test_how_full_the_window_was_is_not_said_once_the_conversation_has_gone_back() -> None:
    area = LiveArea("m", "default")
    area.receive(Ledger(2500, 1500, 20_500, 37_000, 200_000, cost=0.42))
    area.outdated = "ctx ?"
    assert area.status(100).text.split() == ["m", "default", "ctx", "?", "$0.42"]
    area.receive(Ledger(2500, 1500, 500, 0, 200_000, cost=0.43))
    assert "ctx 2%" in area.status(100).text
