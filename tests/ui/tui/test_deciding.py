"""What the panel of approvals says and does beside deciding: where keys go, words for an answer, all of what waits."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from mcode.call import Call, Origin
from mcode.permissions.decide import Proposal
from mcode.tool import Choice, Question
from mcode.ui.asking import waiting_words
from mcode.ui.look import Look
from tests.stage import turns, use
from tests.ui.tui.screen import ARM, RESTED, screen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.tui.screen import Driven

PARKED = Look(idle=600, arm=ARM)
"""What waits is reviewed only where the user goes to it."""

WHICH = Question("Which one?", "Pick", (Choice("red", "warm"), Choice("blue")))


async def put(on: Driven, *questions: Question) -> asyncio.Task[object]:
    """Have a tool ask, and wait until the panel shows it."""
    call = Call("toolu_q", "AskUserQuestion", {}, Origin.MODEL, turn=1)
    asked: asyncio.Task[object] = asyncio.create_task(on.stage.agent.desk.question(call, questions))
    await on.until(lambda: on.app.deciding.shown is not None)
    return asked


async def test_tab_at_an_approval_stays_there_and_shift_tab_leads_back(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.ask("make")
        await on.armed()
        await on.press("1", "tab")
        assert on.focused == "ApprovalPanel"
        assert "> 1  Allow once" in on.shown
        await on.press("shift+tab")
        assert on.focused == "PromptArea"
        assert not on.decided
        assert on.stage.agent.mode == "default"


async def test_while_a_reason_is_typed_nothing_says_that_tab_reviews_or_that_keys_go_to_the_draft(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path, turns(use("Bash", command="make"), "Done.")) as on:
        await on.type("begin\n")
        await on.choose("Deny")
        await on.until(lambda: "why not?" in on.shown)
        assert "your words go into the prompt below" in on.shown
        assert "> 2  Deny" in on.shown
        assert "* 1 approval waiting" in on.shown
        assert "Tab" not in on.shown.split("* 1 approval")[1]
        await on.type("half a reason")
        await on.press("escape")
        await on.until(lambda: on.decided == ["deny"])
        await on.finished()
        assert on.app.history.texts[-1] == "half a reason"


async def test_escape_from_an_answer_in_words_leads_back_to_the_question_and_what_is_no_answer_stays(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path) as on:
        asked = await put(on, WHICH)
        await on.choose("Answer in your own")
        await on.type("rather green")
        await on.press("escape")
        await on.armed()
        assert on.app.history.texts[-1] == "rather green"
        assert on.draft == ""
        await on.choose("Answer in your own")
        await on.type("7\n")
        await on.until(lambda: "There is no choice 7; the choices are 1 to 2." in on.shown)
        assert on.app.prompt.text == "7"
        await on.press("backspace")
        await on.type("2\n")
        assert await asyncio.wait_for(asked, 10) == (("blue",),)


async def test_ctrl_o_shows_a_question_whole_too(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        asked = await put(on, WHICH)
        await on.armed()
        await on.press("ctrl+o")
        await on.until(lambda: on.app.screen is not on.app.main)
        assert "answer 1  red   warm" in on.shown
        await on.press("slash")
        assert "/ search" not in on.shown
        await on.press("escape")
        await on.until(lambda: on.app.screen is on.app.main)
        assert on.focused == "ApprovalPanel"
        asked.cancel()


async def test_an_approval_names_the_program_as_its_card_does_and_that_row_comes_first(
    tmp_path: Path,
) -> None:
    script = turns(use("run_code", code="return (await tools.Bash({command: 'touch it'})).ok;"), "Done.")
    async with screen(
        tmp_path, script, size=(80, 24), settings={"permissions": {"allow": ["run_code"]}}
    ) as on:
        await on.type("go\n")
        await on.armed()
        at = next(at for at, row in enumerate(on.rows) if "$ touch it" in row)
        assert "asked by  run_code #1, call 1, line 1:" in on.rows[at + 1]
        assert "run_code #1" in on.rows[0] or any(row.startswith("▾ run_code #1") for row in on.rows)
        await on.press("escape", "escape")
        await on.finished()


async def test_a_click_leads_to_what_waits_and_elsewhere_it_takes_no_focus_by_itself(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.press("tab")
        assert on.focused == "TranscriptView"
        await on.ask("make")
        await on.rest(RESTED)
        assert on.focused == "TranscriptView"
        await on.pilot.click("ApprovalPanel", offset=(3, 1))
        await on.armed()
        await on.press("1")
        await on.until(lambda: "> 1  Allow once" in on.shown)
        await on.pilot.click("PromptArea", offset=(3, 1))
        await on.until(lambda: "Tab to review" in on.shown)
        assert not on.decided


async def test_neither_a_blank_nor_a_letter_decides_what_is_chosen(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        for letter in (" ", "y"):
            await on.ask("make")
            await on.press("tab")
            await on.armed()
            await on.press("1")
            await on.until(lambda: "> 1  Allow once" in on.shown)
            await on.type(letter)
            await on.until(lambda letter=letter: on.draft == f"1{letter}")
            assert on.focused == "PromptArea"
            await on.press("ctrl+c")
        assert not on.decided


async def test_several_calls_of_a_program_with_one_rule_are_listed_and_allowed_by_one_answer(
    tmp_path: Path,
) -> None:
    code = (
        "const made = await Promise.all([1, 2, 3].map(n => tools.Write({file_path: `out/${n}.txt`, content: 'x'})));"
        " return made.map(each => each.ok).join(' ');"
    )
    allowed = {"permissions": {"allow": ["run_code"]}}
    script = turns(use("run_code", code=code), "Done.")
    async with screen(tmp_path, script, settings=allowed, manners=PARKED) as on:
        await on.type("go\n")
        await on.until(lambda: "1 of 3 waiting" in on.shown)
        await on.press("tab")
        await on.armed()
        listed = " ".join(row.text for row in on.app.panel.body.rows)
        assert "3 calls of this program wait with the same rule" in listed
        assert all(f"out/{number}.txt" in listed for number in (1, 2, 3))
        await on.press("end")
        await on.choose("Allow the 3 calls listed above, once each")
        await on.until(lambda: on.decided == ["batch"] * 3)
        await on.finished()
        assert "true true true" in on.stage.outcomes[-1].text


async def test_a_call_is_denied_with_its_program_by_one_answer_and_the_transcript_says_what_was_withdrawn(
    tmp_path: Path,
) -> None:
    code = "await Promise.all(['a', 'b'].map(name => tools.Bash({command: `touch ${name}`})));"
    allowed = {"permissions": {"allow": ["run_code"]}}
    async with screen(tmp_path, turns(use("run_code", code=code), "Done."), settings=allowed) as on:
        await on.type("go\n")
        await on.until(lambda: len(on.app.deciding.waiting) == 2)
        await on.choose("Deny it and stop the program")
        await on.type("not this\n")
        await on.finished()
        assert on.decided[0] == "stop"
        assert on.stage.outcomes[-1].text.startswith("failed (stopped")
        assert not list((tmp_path / "project").iterdir())
        await on.until(lambda: "stopped by user" in on.shown)


async def test_an_approval_says_which_hook_will_run_after_the_call(tmp_path: Path) -> None:
    hook = {"hooks": [{"type": "command", "command": "format-on-edit --quiet"}]}
    after = [
        {"matcher": "Edit|Write", **hook},
        {"matcher": "Bash", "hooks": [{**hook["hooks"][0], "command": "log it"}]},
    ]
    script = turns(use("Write", file_path="notes.txt", content="a line\n"), "Done.")
    async with screen(tmp_path, script, settings={"hooks": {"PostToolUse": after}}) as on:
        await on.type("begin\n")
        await on.armed()
        await on.press("end")
        await on.until(lambda: "hook      format-on-edit --quiet   (runs after it)" in on.shown)
        assert "log it" not in on.shown
        await on.press("escape", "escape")
        await on.finished()


async def test_what_is_known_to_be_secret_is_masked_in_what_is_decided_on_and_the_call_gets_it(
    tmp_path: Path,
) -> None:
    secret = "correct-horse-" + "battery-staple"
    async with screen(tmp_path) as on:
        on.app.around.masker.learn([secret])
        await on.ask(f"curl -H 'X-Token: {secret}' https://example.org")
        await on.until(lambda: "\u2039secret:server:" in on.shown)
        assert secret not in on.shown
        assert secret in str(on.app.deciding.shown)


async def test_f1_lists_the_keys_of_the_place_where_the_user_is(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.press("f1")
        await on.until(lambda: "Ctrl+R" in on.shown)
        assert "confirm the chosen answer" not in on.shown
        await on.ask("make")
        await on.armed()
        await on.press("f1")
        await on.until(lambda: "confirm the chosen answer" in on.shown)
        assert on.focused == "ApprovalPanel"
        assert "goes to your draft, with the digits before it" in on.shown


async def test_what_no_key_would_interrupt_is_not_said_to_be(tmp_path: Path) -> None:
    async with screen(tmp_path, manners=PARKED) as on:
        asked = await put(on, WHICH)
        await on.until(lambda: "* 1 question waiting: Tab to review" in on.shown)
        assert "Esc interrupts" not in on.shown
        asked.cancel()


async def test_what_waits_is_called_what_it_is(tmp_path: Path) -> None:
    async with screen(tmp_path, manners=PARKED) as on:
        asked = await put(on, WHICH)
        assert waiting_words(on.app.deciding.waiting) == "1 question"
        await on.until(lambda: "your typing stays here; the question waits" in on.shown)
        await on.ask("make")
        await on.ask("make test")
        assert waiting_words(on.app.deciding.waiting) == "2 approvals and 1 question"
        asked.cancel()


@pytest.mark.parametrize("size", [(60, 24), (80, 24), (40, 12), (40, 10)])
async def test_answers_that_are_as_long_as_they_may_be_fit_with_the_prompt(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    long = " ".join(["a long description that goes on"] * 12)
    question = Question("Which one? " * 30, "Pick", tuple(Choice(f"way {at}", long) for at in range(4)))
    async with screen(tmp_path, size=size) as on:
        asked = await put(on, question)
        await on.until(lambda: on.focused == "ApprovalPanel")
        for number in range(1, 7):
            await on.until(lambda number=number: pressed_shows(on, number))
            assert_fits(on)
        asked.cancel()


def pressed_shows(on: Driven, number: int) -> bool:
    on.app.post_message(Key(str(number), str(number)))
    return f"> {number}  " in on.shown


def assert_fits(on: Driven) -> None:
    """The panel's frame is whole, and so are the prompt and the last row."""
    panel, prompt = on.app.panel.region, on.app.prompt.region
    assert panel.y >= 0
    assert panel.bottom <= prompt.y, on.shown
    assert prompt.bottom < on.app.size.height, on.shown


async def test_a_parked_panel_on_a_small_screen_names_its_answers_in_a_word(tmp_path: Path) -> None:
    rules = (
        Proposal("Bash(pytest -q tests/test_repl.py)", "session", "Allow exactly `pytest` for this session"),
        Proposal("Bash(pytest -q tests/test_repl.py)", "local", "Always allow exactly `pytest` here"),
    )
    async with screen(tmp_path, size=(60, 24)) as on:
        await on.type("a draft")
        await on.ask("pytest -q tests/test_repl.py", rules=rules)
        await on.until(lambda: "1 once   2 session   3 always   4 deny" in on.shown)
        await on.until(lambda: bool(re.search(r"lines 1-(\d) of \1", on.shown)))


async def test_the_smallest_terminals_show_what_waits_the_keys_the_prompt_and_the_last_row(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path, size=(38, 9)) as on:
        await on.ask("make")
        await on.armed()
        assert "$ make" in on.shown
        assert "1  Allow once" in on.shown
        assert_fits(on)
        await on.pilot.resize_terminal(40, 8)
        await on.until(lambda: on.app.prompt.region.bottom == 7)
        assert "$ make" in on.shown
        assert "Enter confirm" in on.shown


async def test_a_long_draft_and_a_full_queue_leave_what_waits_its_rows(tmp_path: Path) -> None:
    script = turns(use("Bash", command="make"), "Done.")
    async with screen(tmp_path, script, size=(80, 24), manners=PARKED) as on:
        await on.type("begin\n")
        await on.until(lambda: bool(on.app.deciding.waiting))
        for text in ("one", "two", "three", "four"):
            await on.type(f"{text}\n")
        on.app.prompt.use_draft("a line\n" * 9 + "the last line")
        await on.until(lambda: "$ make" in on.shown and "1 Allow once" in on.shown)
        await on.until(lambda: "the last line" in on.shown and "+1" in on.shown)
        assert_fits(on)
        await on.press("tab")
        await on.armed()
        assert "$ make" in on.shown
        assert_fits(on)
        while on.stage.agent.take_back() is not None:
            pass
        await on.press("1", "enter")
        await on.until(lambda: on.decided == ["once"])
        await on.until(lambda: on.app.prompt.region.height == 12)
        await on.finished()
