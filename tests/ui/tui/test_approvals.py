"""Approvals on the screen: scenarios 1 to 10 of the design. A key typed for the prompt never decides."""

from __future__ import annotations

import asyncio
import os
import random
import re
from typing import TYPE_CHECKING

import pytest
from textual.events import Key, Paste

from mcode.call import Call, Origin
from mcode.events import QueueChanged, ToolFinished, TurnStarted
from mcode.permissions.decide import Proposal
from mcode.tool import Choice, Question
from tests.stage import turns, use
from tests.ui.tui.screen import COUNTS, RESTED, screen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.tui.screen import Driven

SLEEP = turns(use("Bash", command="sleep 120"), "Done.")
TYPED = "yes please 1 2 y"
ROUNDS = int(os.environ.get("MCODE_TYPING_ROUNDS", "4"))
"""How often text is typed while an approval comes; the requirement is 200, which takes minutes."""
PROGRAMS = {"permissions": {"allow": ["run_code"]}}
ALLOW_SLEEP = {"permissions": {"allow": ["Bash(sleep 120)"]}}


async def test_01_a_draft_that_is_being_typed_stays_a_draft_when_an_approval_arrives(tmp_path: Path) -> None:
    async with screen(tmp_path, SLEEP, settings=ALLOW_SLEEP) as on:
        await on.type("begin\n")
        await on.until(lambda: on.stage.agent.busy)
        await on.type("yes 1 a")
        await on.ask("rm -r build")
        await on.rest(COUNTS)
        assert on.focused == "PromptArea"
        await on.type(" y1\n")
        await on.until(lambda: any(event.waiting for event in on.stage.of(QueueChanged)))
        assert on.stage.of(QueueChanged)[-1].waiting == ("yes 1 a y1",)
        assert not on.decided
        assert len(on.app.deciding.waiting) == 1
        on.stage.agent.take_back()


async def test_02_enter_before_it_counts_does_nothing_and_a_letter_goes_back_to_the_prompt(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path) as on:
        await on.ask("rm -r build")
        await on.until(lambda: on.focused == "ApprovalPanel")
        await on.press("enter", "y")
        await on.until(lambda: on.draft == "y")
        assert on.focused == "PromptArea"
        assert not on.decided


async def test_03_a_message_that_begins_with_a_digit_arrives_whole(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Fixed.")) as on:
        await on.ask("rm -r build")
        await on.armed()
        await on.type("1) fix the test\n")
        await on.finished()
        assert on.stage.of(TurnStarted)[-1].text == "1) fix the test"
        assert not on.decided


async def test_04_a_number_and_enter_decide_once(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make")
        await on.armed()
        await on.press("1")
        await on.until(lambda: "> 1  Allow once" in on.shown)
        assert not on.decided
        await on.press("enter")
        await on.until(lambda: on.decided == ["once"])
        assert on.focused == "PromptArea"
        assert (await on.answers[0]).allowed


async def test_05_a_denial_takes_a_reason_and_gives_the_draft_back_as_it_was(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("half a draft")
        await on.press("left", "left")
        caret = on.app.prompt.cursor_location
        await on.ask("make")
        await on.press("tab")
        await on.armed()
        await on.press("2", "enter")
        await on.until(lambda: "why not?" in on.shown)
        await on.type("not now\n")
        await on.until(lambda: on.decided == ["deny"])
        assert (await on.answers[0]).comment == "not now"
        assert on.draft == "half a draft"
        assert on.app.prompt.cursor_location == caret


async def test_06_a_held_down_enter_decides_only_what_was_chosen(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make one")
        await on.ask("make two")
        await on.armed()
        await on.press("1")
        for _ in range(30):
            await on.type("\n")
        assert on.decided == ["once"]
        assert len(on.app.deciding.waiting) == 1
        await on.armed()
        await on.press("enter")
        assert on.decided == ["once"], "nothing is preselected"


async def test_07_a_lasting_rule_opens_when_the_end_of_a_long_diff_has_been_seen(tmp_path: Path) -> None:
    diff = "--- a\n+++ b\n@@ -0,0 +1,390 @@\n" + "".join(f"+line {at}\n" for at in range(1, 391))
    rules = (Proposal("Edit(src/**)", "local", "Always allow edits under src/"),)
    async with screen(tmp_path) as on:
        await on.ask("edit", diff=diff, rules=rules)
        await on.armed()
        assert re.search(r"lines 1-\d+ of 39\d", on.shown)
        await on.press("2")
        assert "> 2" not in on.shown
        for _ in range(60):
            on.app.post_message(Key("pagedown", None))
        await on.until(lambda: "line 390" in on.shown)
        await on.press("2")
        await on.until(lambda: "> 2  Always allow edits under src/" in on.shown)
        assert "(scroll to the end first)" not in on.shown


async def test_08_what_is_hidden_in_a_command_is_visible_in_its_order(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("echo a\u202eb\x1b[2Jc\nrm -r x")
        await on.until(lambda: "rm -r x" in on.shown)
        line = next(row for row in on.rows if "echo a" in row)
        assert line.index("a") < line.index("U+202E") < line.index("b")
        assert "\x1b" not in line
        assert "c" in line.partition("b")[2]


async def test_10_an_interrupt_withdraws_what_waits_and_keeps_draft_and_queue(tmp_path: Path) -> None:
    async with screen(tmp_path, turns(use("Bash", command="rm -r build"), "Done.")) as on:
        await on.type("begin\n")
        await on.until(lambda: len(on.app.deciding.waiting) == 1)
        await on.type("later\n")
        await on.type("a draft")
        await on.until(lambda: "queued 1" in on.shown)
        await on.press("escape")
        await on.finished()
        await on.until(lambda: not on.app.panel.display)
        assert on.decided == ["withdrawn"]
        assert on.stage.of(ToolFinished)[-1].outcome.status == "cancelled"
        assert on.draft == "a draft"
        assert "queued 1:  later" in on.shown
        on.stage.agent.take_back()


async def test_escape_on_an_approval_goes_back_and_neither_denies_nor_interrupts(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make")
        await on.armed()
        await on.press("1", "escape")
        await on.until(lambda: on.focused == "PromptArea")
        assert not on.decided
        await on.rest(COUNTS)
        assert on.focused == "PromptArea", "it does not take the focus again by itself"
        await on.press("tab")
        await on.until(lambda: on.focused == "ApprovalPanel")


async def test_a_paste_never_decides(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make")
        await on.armed()
        on.app.post_message(Paste("1\n"))
        await on.until(lambda: on.draft == "1\n")
        assert not on.decided
        assert on.focused == "PromptArea"


async def test_a_withdrawn_approval_hands_a_half_typed_reason_to_the_draft(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make")
        await on.armed()
        await on.press("2", "enter")
        await on.type("because")
        on.answers[0].cancel()
        await on.until(lambda: on.draft == "because")
        assert on.decided == ["withdrawn"]


async def test_p_13_typing_while_approvals_come_decides_nothing_and_loses_nothing(tmp_path: Path) -> None:
    await type_through_approvals(tmp_path, ROUNDS, seed=13)


async def type_through_approvals(directory: Path, rounds: int, *, seed: int) -> None:
    """Each round types a message while an approval comes; `tools.typing_runs` plays 200 of them."""
    moments = random.Random(seed)
    async with screen(directory, turns(*["Yes."] * rounds)) as on:
        for at in range(rounds):
            await _type_while_an_approval_comes(on, moments, f"make {at}")
            await on.until(lambda: on.app.history.texts.count(TYPED) == len(on.answers))
            assert not on.decided
            await on.finished(at + 1)
        assert len(on.app.deciding.waiting) == rounds


async def _type_while_an_approval_comes(on: Driven, moments: random.Random, command: str) -> None:
    when = moments.randrange(len(TYPED))
    for place, letter in enumerate(TYPED):
        if place == when:
            await on.ask(command)
        await on.type(letter)
        await on.rest(RESTED * moments.random() if moments.random() < 0.1 else 0.01)
    await on.press("enter")


async def test_09_calls_of_a_program_are_decided_one_by_one_and_a_denial_is_a_value(tmp_path: Path) -> None:
    code = """
    const made = await Promise.all(['one', 'two', 'three'].map(name => tools.Bash({command: `touch ${name}`})));
    return made.map(each => each.ok).join(' ');
    """
    async with screen(tmp_path, turns(use("run_code", code=code), "Done."), settings=PROGRAMS) as on:
        await on.type("go\n")
        await on.until(lambda: len(on.app.deciding.waiting) == 3)
        await on.until(lambda: "1 of 3 waiting" in on.shown)
        await on.choose("Deny this")
        await on.type("\n")
        await on.until(lambda: on.decided == ["deny"])
        assert len(on.app.deciding.waiting) == 2
        await on.until(lambda: "1 of 2 waiting" in on.shown)
        for count in (2, 3):
            await on.choose("Allow once")
            await on.until(lambda count=count: len(on.decided) == count)
        await on.finished()
        assert "false true true" in on.stage.outcomes[-1].text


async def test_questions_of_a_tool_are_answered_by_number_by_several_and_in_words(tmp_path: Path) -> None:
    questions = (
        Question("Which one?", "Pick", (Choice("red", "warm"), Choice("blue"))),
        Question("Which of them?", "", (Choice("a"), Choice("b"), Choice("c")), several=True),
        Question("And why?"),
    )
    async with screen(tmp_path) as on:
        call = Call("toolu_q", "AskUserQuestion", {}, Origin.MODEL, turn=1)
        asked = asyncio.create_task(on.stage.agent.desk.question(call, questions))
        await on.until(lambda: "Which one?" in on.shown)
        await on.choose("blue")
        await on.until(lambda: "Which of them?" in on.shown)
        for answer in (r"\[ \] a", r"\[ \] c", "Answer with the marked"):
            await on.choose(answer)
        await on.until(lambda: "And why?" in on.shown)
        await on.choose("Answer in your own words")
        await on.type("just so\n")
        assert await asyncio.wait_for(asked, 30) == (("blue",), ("a", "c"), ("just so",))
        assert on.focused == "PromptArea"
        assert on.draft == ""


async def test_answers_of_a_parked_panel_that_are_wider_than_it_stand_on_rows_of_their_own(
    tmp_path: Path,
) -> None:
    long = "directly in /home/somebody/source/parser, not in its folders for this session"
    rule = Proposal("Edit(//home/somebody/source/parser/*)", "session", long)
    async with screen(tmp_path, size=(80, 30)) as on:
        await on.type("a draft")
        await on.ask("make", rules=(rule,))
        await on.until(lambda: "Tab reviews it" in on.shown)
        deny = next(row for row in on.rows if "Deny" in row)
        assert "session" not in deny


@pytest.mark.parametrize("size", [(80, 24), (60, 24)])
async def test_a_small_screen_shows_the_rule_of_every_answer_and_so_does_the_whole(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    diff = "--- a\n+++ b\n@@ -1,9 +1,9 @@\n" + "".join(f"-old {at}\n+new {at}\n" for at in range(9))
    deep = f"Edit(src/{'deep/' * 12}**)"
    rules = (
        Proposal("Edit(src/**)", "local", "Always allow edits under src/"),
        Proposal(deep, "session", "Allow edits deep under src/ for this session"),
    )
    async with screen(tmp_path, size=size) as on:
        await on.ask("edit", diff=diff, rules=rules)
        await on.armed()
        assert "rule: Edit(src/**)" in on.shown
        (cut,) = (row for row in on.rows if "rule: Edit(src/deep" in row)
        assert "/**)" in cut
        assert on.app.panel.region.bottom <= size[1]
        assert on.app.panel.region.height == size[1] - 6  # all rows but the prompt's, the status line and two
        last = len(on.app.panel.body.rows)
        await on.press("pagedown", "pagedown", "pagedown")
        await on.until(lambda: f"-{last} of {last}" in on.shown)
        assert on.app.panel.body.size.height >= 6
        assert "4  Deny, and tell the agent why" in on.shown
        await on.press("ctrl+o")
        await on.until(lambda: on.app.screen is not on.app.main)
        await on.press("end")
        await on.until(lambda: "answer 2" in on.shown)
        assert "rule: Edit(src/**)" in " ".join(on.shown.split())
