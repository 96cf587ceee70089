"""The keys of the main screen, each where it means something; scenarios of their own are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.events import Key

from mcode.events import TurnFinished, TurnStarted
from mcode.ui.tui.activity import queue_rows
from mcode.ui.tui.approval_panel import ApprovalPanel
from mcode.ui.tui.main_screen import MAIN_KEYS
from mcode.ui.tui.notifier import Notifier
from mcode.ui.tui.prompt_keys import PROMPT_KEYS
from tests.stage import turns, use
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.ui.tui.screen import Driven

SLEEP = turns(use("Bash", command="sleep 120"), "Done.")
ALLOW_SLEEP = {"permissions": {"allow": ["Bash(sleep 120)"]}}


def test_no_key_is_one_that_terminals_keep_for_themselves_or_that_types() -> None:
    bindings = [*MAIN_KEYS, *PROMPT_KEYS, *ApprovalPanel.BINDINGS]
    keys = {key for each in bindings if isinstance(each, Binding) for key in each.key.split(",")}
    assert keys.isdisjoint({"ctrl+b", "ctrl+s", "ctrl+q", "alt+enter", "space"})
    assert not [key for key in keys if len(key) == 1]


async def test_escape_closes_the_list_then_interrupts_and_keeps_draft_and_queue(tmp_path: Path) -> None:
    async with screen(tmp_path, SLEEP, settings=ALLOW_SLEEP) as on:
        await on.type("begin\n")
        await on.until(lambda: on.stage.agent.busy and "sleep 120" in on.shown)
        await on.type("later\n")
        await on.type("/perm")
        await on.until(lambda: on.app.suggestions.open)
        await on.press("escape")
        await on.until(lambda: not on.app.suggestions.open)
        assert on.stage.agent.busy
        await on.press("escape")
        await on.finished()
        assert on.stage.of(TurnFinished)[-1].reason == "interrupted"
        assert on.draft == "/perm"
        assert "queued 1:  later" in on.shown
        await on.press("ctrl+c")
        assert on.draft == ""
        await on.press("up")
        assert on.draft == "later"


def test_the_remark_behind_a_queued_message_gives_way_to_the_message() -> None:
    def row(text: str, columns: int, when: str = "once the session is open") -> str:
        return queue_rows((text,), "", when, columns - 2, "…")[0]

    assert row("hi", 60) == " queued 1:  hi" + "(Up edits; sent once the session is open)".rjust(44)
    assert row("/help", 60) == " queued 1:  /help" + "(Up edits)".rjust(41)
    assert row("say which tests fail now", 60) == " queued 1:  say which tests fail now" + "(Up edits)".rjust(
        22
    )
    for columns in (60, 80, 100):
        long = row("word " * 40, columns)
        assert len(long) == columns - 2
        assert len(long.partition("…")[0]) >= 40
    assert row("word " * 40, 40) == " queued 1:  word word word word word …"
    assert "Up edits" not in "".join(queue_rows(("one", "two"), "", "later", 58, "…")[:1])


def quits(on: Driven) -> bool:
    """Press once more, until it has: a slow machine may take longer than a second press may."""
    if on.app.is_running:
        on.app.post_message(Key("ctrl+d", "\x04"))
    return not on.app.is_running


async def test_ctrl_c_interrupts_a_turn_and_ctrl_d_quits_one_only_at_the_second_press(tmp_path: Path) -> None:
    script = turns(use("Bash", "toolu_1", command="sleep 120"), use("Bash", "toolu_2", command="sleep 120"))
    async with screen(tmp_path, script, settings=ALLOW_SLEEP) as on:
        await on.type("begin\n")
        await on.until(lambda: on.stage.agent.busy and "sleep 120" in on.shown)
        await on.type("a draft")
        await on.press("home", "ctrl+d")
        assert on.draft == " draft"
        await on.press("ctrl+c")
        await on.finished()
        assert on.draft == " draft"
        await on.press("ctrl+c")
        await on.type("again\n")
        await on.until(lambda: on.stage.agent.busy)
        await on.press("ctrl+d")
        await on.until(lambda: "Ctrl+D again interrupts it and quits." in on.shown)
        assert on.app.is_running
        await on.until(lambda: quits(on))


async def test_escape_twice_on_an_empty_draft_opens_the_list_of_rewinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mcode.ui.tui.hands._ESCAPES", 60.0
    )  # a slow machine may take its time between two keys
    async with screen(tmp_path, turns("Hello.")) as on:
        await on.type("hi\n")
        await on.finished()
        await on.type("x")
        await on.press("escape", "escape")
        assert on.app.screen is on.app.main
        await on.press("backspace")
        for _ in range(2):
            on.app.post_message(Key("escape", None))
        await on.until(lambda: on.app.screen is not on.app.main)
        assert "/rewind" in on.rows[0]


async def test_tab_goes_to_the_transcript_and_what_is_typed_there_goes_to_the_prompt(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.press("tab")
        assert on.focused == "TranscriptView"
        await on.type("typed")
        assert on.draft == "typed"
        assert on.focused == "PromptArea"
        await on.press("tab", "escape")
        assert on.focused == "PromptArea"


async def test_shift_tab_goes_through_the_modes_that_ask_and_never_to_bypass(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        modes: list[str] = []
        for _ in range(4):
            await on.press("shift+tab")
            modes.append(on.stage.agent.mode)
        assert modes == ["acceptEdits", "plan", "default", "acceptEdits"]
        await on.until(lambda: on.rows[-1].strip() == "scripted-1  accept edits")


async def test_keys_scroll_the_transcript_from_anywhere_and_end_follows_it_again(tmp_path: Path) -> None:
    answer = "\n\n".join(f"paragraph {at}" for at in range(60))
    async with screen(tmp_path, turns(answer)) as on:
        await on.type("say much\n")
        await on.finished()
        await on.until(lambda: "paragraph 59" in on.shown)
        await on.press("pageup")
        await on.until(lambda: "paragraph 59" not in on.shown)
        await on.press("ctrl+home")
        await on.until(lambda: "mcode 0." in on.rows[0])
        await on.press("end")
        await on.until(lambda: "paragraph 59" in on.shown)
        await on.press("alt+up", "alt+up")
        await on.until(lambda: "say much" in on.shown)
        await on.press("ctrl+l")
        assert on.focused == "PromptArea"


async def test_an_empty_enter_sends_nothing_and_a_question_mark_is_help_only_in_an_empty_prompt(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path) as on:
        await on.press("enter", "enter")
        await on.type("?")
        await on.until(lambda: "search the history" in on.shown)
        assert on.draft == ""
        await on.type("why?")
        assert on.draft == "why?"
        assert not on.stage.of(TurnStarted)


def test_bell_and_title_can_be_turned_off() -> None:
    for bell, title in ((True, False), (False, True), (False, False)):
        written: list[str] = []
        notifier = Notifier(written.append, bell=bell, title=title, place="here")
        notifier.start()
        notifier.waits("Bash waits for you")
        notifier.ended()
        notifier.stop()
        text = "".join(written)
        assert ("\x1b]0;mcode: here - Bash waits for you\x07" in text) is title
        assert text.replace("\x07", "", text.count("\x1b]")).count("\x07") == bell
