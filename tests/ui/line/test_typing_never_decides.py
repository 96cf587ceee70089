"""A key typed for the draft never decides an approval, in a real pseudo-terminal."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.ui.line.terminal import ENTER, ESCAPE, TAB, UP, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNTS = "then Enter; "
"""Stands in the row above the prompt once a typed word counts."""

TYPED = "yes please 1 2 y"
TERMINALS, ROUNDS = 8, 5

KEPT = "not an answer: kept in your draft"
QUEUED = f"queued 1:  {TYPED}"


def test_p_13_forty_runs_of_typing_while_an_approval_appears_decide_nothing_and_lose_nothing(
    tmp_path: Path,
) -> None:
    def run(number: int) -> None:
        with Terminal(tmp_path / str(number), "--quick", rows=24) as terminal:
            terminal.wait_for("F1: keys")
            for at in range(1, ROUNDS + 1):
                _type_while_an_approval_appears(terminal, random.Random(number * 100 + at), at)

    with ThreadPoolExecutor(TERMINALS) as pool:
        list(pool.map(run, range(TERMINALS)))


def _type_while_an_approval_appears(terminal: Terminal, moments: random.Random, at: int) -> None:
    """One round: the approval comes between 1 s before the first key and about the last one."""
    terminal.type(f"think {moments.uniform(0, 1.8):.3f}; ask" + ENTER)
    terminal.wait_for_log(message=..., count=2 * at - 1)
    terminal.pump(1.0)
    terminal.type(TYPED, pause=0.05)
    terminal.wait_for_draft(TYPED)
    kept = str(terminal).count(KEPT)
    terminal.type(ENTER)
    terminal.until(
        lambda: str(terminal).count(KEPT) > kept or (terminal.shows(QUEUED) and terminal.draft() != TYPED),
        "the text in the draft or in the queue",
    )
    queued = terminal.shows(QUEUED)
    _interrupt(terminal, at)
    assert len(terminal.log(message=TYPED)) == at - 1, terminal
    # Typed when the approval was asked already, it is whole in the draft; typed before, the interrupt holds it in
    # the queue. Either way it needs an Enter of its own.
    if queued:
        terminal.wait_for_row("  sent before your next message; Up takes it back")
        terminal.wait_for_draft("")
        assert terminal.shows(QUEUED), terminal
        terminal.type(UP)
    terminal.wait_for_draft(TYPED)
    assert len(terminal.log(message=TYPED)) == at - 1, terminal
    terminal.type(ENTER)
    terminal.wait_for_log(turn="end", count=at)
    assert len(terminal.log(message=TYPED)) == at, terminal
    assert len(terminal.log(message=...)) == 2 * at, terminal
    assert not terminal.log(decided=...), terminal


def _interrupt(terminal: Terminal, at: int) -> None:
    """Escape once the approval waits; where its prompt is there already, the first one goes back from it."""
    terminal.wait_for_log(asked=..., count=at)
    terminal.pump(0.2)
    terminal.type(ESCAPE)
    terminal.until(
        lambda: len(terminal.log(turn="interrupted")) == at or terminal.shows("Tab asks again"),
        "the interrupt or the way back",
    )
    if len(terminal.log(turn="interrupted")) < at:
        terminal.type(ESCAPE)
        terminal.wait_for_log(turn="interrupted", count=at)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """With the shortest times that can be set."""
    with Terminal(tmp_path, "--quick") as running:
        running.wait_for("F1: keys")
        yield running


def test_keys_that_come_right_after_the_prompt_appears_belong_to_the_draft(tmp_path: Path) -> None:
    with Terminal(tmp_path, "--quick", "--arm=30") as terminal:  # long enough to be seen on a busy machine
        terminal.wait_for("F1: keys")
        terminal.type("ask" + ENTER)
        terminal.wait_for("keys still go to your draft")
        assert "approve?" not in str(terminal), "its prompt appears when it counts"
        terminal.type("once" + ENTER)
        terminal.wait_for(KEPT)
        terminal.wait_for_draft("once")
        terminal.pump(0.9)
        assert "queued" not in str(terminal)
        terminal.type(ENTER)
        terminal.wait_for("queued 1:  once")
        assert not terminal.log(decided=...)


def test_what_cannot_become_a_decision_goes_to_the_draft_and_the_approval_waits_on(
    terminal: Terminal,
) -> None:
    terminal.type("ask" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type("1) fix the test")
    terminal.wait_for_draft("1) fix the test")
    terminal.wait_for("send or clear your draft to be asked")
    terminal.type(ENTER)
    terminal.wait_for("not an answer: kept in your draft; Enter again sends it")
    terminal.wait_for_draft("1) fix the test")
    terminal.type("\x15")
    terminal.wait_for("still waits")
    terminal.wait_for(COUNTS)
    terminal.type("1) fix the test" + ENTER)
    terminal.wait_for("not an answer", count=2)
    terminal.type(ENTER)
    terminal.wait_for("queued 1:  1) fix the test")
    terminal.wait_for("approve?", count=1)
    assert not terminal.log(decided=...)


def test_an_empty_enter_and_an_unfinished_word_decide_nothing(terminal: Terminal) -> None:
    terminal.type("ask" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type(ENTER + ENTER)
    terminal.type("onc")
    terminal.wait_for_row("approve? \u203a onc")
    terminal.type(ENTER)
    terminal.wait_for("`onc` is none of the words; nothing was decided.")
    terminal.type("e")
    terminal.wait_for_row("approve? \u203a once")
    assert not terminal.log(decided=...)
    terminal.type(ENTER)
    assert terminal.wait_for_log(decided="once")
    assert terminal.written.count(b"\x07") == 1, "the bell rings when it begins to wait"


def test_a_paste_never_reaches_an_approval(terminal: Terminal) -> None:
    terminal.type("ask" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type("\x1b[200~once\r\x1b[201~")
    terminal.wait_for_draft("once")
    terminal.type("\x7f\x7f\x7f\x7f\x7f")
    terminal.wait_for("still waits")
    terminal.wait_for(COUNTS)
    terminal.type("once\rand more\r")
    terminal.wait_for("and more")
    assert not terminal.log(decided=...)


def test_p_17_two_approvals_are_asked_one_after_the_other_and_a_held_enter_decides_neither(
    terminal: Terminal,
) -> None:
    terminal.type("ask two" + ENTER)
    terminal.wait_for("(1 of 2)")
    terminal.wait_for(COUNTS)
    terminal.type("once", pause=0.05)  # keys that a busy machine reads together would count as pasted
    terminal.wait_for_row("approve? \u203a once")
    terminal.type(ENTER)
    terminal.wait_for_log(
        decided=...
    )  # else a busy machine may read it with those behind it, as it does a paste
    terminal.type(ENTER * 10, pause=0.03)
    terminal.wait_for("(1 of 1)")
    terminal.wait_for(COUNTS)
    terminal.type(ENTER * 10, pause=0.03)
    assert len(terminal.log(decided=...)) == 1
    terminal.type("deny the second" + ENTER)
    entries = terminal.wait_for_log(decided=..., count=2)
    assert [entry["decided"] for entry in entries] == ["once", "deny"]
    assert "the second" in terminal.wait_for_log(finished="Read", status="denied")[0]["text"]


def test_escape_at_an_approval_goes_back_to_the_draft_and_only_the_next_one_interrupts(
    terminal: Terminal,
) -> None:
    terminal.type("ask" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type("deny beca")
    terminal.wait_for_row("approve? \u203a deny beca")
    terminal.type(ESCAPE)
    terminal.wait_for_draft("deny beca")
    terminal.pump(0.9)
    assert not terminal.log(decided=...)
    assert not terminal.log(turn="interrupted")
    terminal.type("\x15")
    terminal.wait_for("approve?")
    terminal.type(ESCAPE)
    terminal.wait_for("Tab asks")
    terminal.wait_for_draft("")
    terminal.pump(0.9)
    assert terminal.draft() == ""
    terminal.type(TAB)
    terminal.wait_for("approve?")
    terminal.type(ESCAPE)
    terminal.wait_for("Tab asks")
    terminal.type(ESCAPE)
    terminal.wait_for_log(turn="interrupted")
    terminal.wait_for("The approval is withdrawn (interrupt)")
    assert not terminal.log(decided=...)


def test_declining_a_question_leaves_nothing_in_the_draft(terminal: Terminal) -> None:
    terminal.type("question" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type("decline")
    terminal.wait_for_row("answer? \u203a decline")
    terminal.type(ENTER)
    terminal.wait_for("The question goes without an answer.")
    terminal.wait_for_log(turn="end")
    terminal.wait_for_draft("")


def test_after_a_decision_one_row_tells_of_it(terminal: Terminal) -> None:
    terminal.type("ask" + ENTER)
    terminal.wait_for(COUNTS)
    terminal.type("once")
    terminal.wait_for_row("approve? \u203a once")
    terminal.type(ENTER)
    terminal.wait_for_log(turn="end")
    terminal.wait_for("approved by you")
    assert "you decided" not in str(terminal)


def test_a_tools_question_takes_numbers_and_words(terminal: Terminal) -> None:
    terminal.type("question" + ENTER)
    terminal.wait_for("Which colour?")
    terminal.wait_for(COUNTS)
    terminal.type("7" + ENTER)
    terminal.wait_for("There is no choice 7; the choices are 1 to 2.")
    terminal.type("\x7f2" + ENTER)
    terminal.wait_for("Which sizes?")
    terminal.type("1, 3" + ENTER)
    answered = terminal.wait_for_log(finished="AskUserQuestion", status="ok")[0]["text"]
    assert "blue" in answered
    assert "S" in answered
    assert "L" in answered
