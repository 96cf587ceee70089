"""The prompt: sending, queueing, history, completion, pastes; nothing that was typed is lost."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from textual.events import Key, Paste

from mcode.events import QueueChanged, TurnStarted
from tests.stage import turns, use
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.ui.tui.app import McodeApp
    from tests.stage import Stage

SLEEP = use("Bash", command="sleep 120")
ALLOW_SLEEP = {"permissions": {"allow": ["Bash(sleep 120)"]}}


async def test_11_escape_right_after_enter_brings_the_message_back(tmp_path: Path) -> None:
    async with screen(tmp_path, turns(SLEEP, "Done."), settings=ALLOW_SLEEP) as on:
        for letter in "fix it":
            on.app.post_message(Key(letter if letter != " " else "space", letter))
        await on.rest(0.1)
        on.app.post_message(Key("enter", "\r"))
        on.app.post_message(Key("escape", "\x1b"))
        await on.until(lambda: on.app.history.texts[-1:] == ["fix it"])
        await on.until(lambda: not on.stage.agent.busy)
        await on.until(lambda: on.draft == "fix it")


async def test_12_queued_messages_are_sent_in_order_each_once_and_up_takes_the_last_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    os.mkfifo(tmp_path / "project/gate")
    script = turns(use("Bash", command="cat gate"), "One.", "Two.", "Three.")
    async with screen(tmp_path, script, settings={"permissions": {"allow": ["Bash(cat gate)"]}}) as on:
        await on.type("first\n")
        await on.until(lambda: on.stage.agent.busy)
        for text in ("second\n", "third\n", "not this\n"):
            await on.type(text)
        await on.until(lambda: "queued 3" in on.shown)
        await on.press("up")
        assert on.draft == "not this"
        await asyncio.to_thread((tmp_path / "project/gate").write_text, "open")
        await on.finished(3)
        assert [event.text for event in on.stage.of(TurnStarted)] == ["first", "second", "third"]
        assert on.stage.of(QueueChanged)[-1].waiting == ()


async def test_a_draft_of_many_lines_grows_to_ten_rows_and_enter_sends_it_whole(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        lines = [f"line {at}" for at in range(14)]
        for line in lines[:-1]:
            await on.type(line)
            await on.press("ctrl+j")
        await on.type(lines[-1])
        await on.until(lambda: on.app.prompt.size.height == 10)
        await on.rest(0.05)
        await on.press("enter")
        await on.until(lambda: bool(on.stage.of(TurnStarted)))
        assert on.stage.of(TurnStarted)[0].text == "\n".join(lines)


async def test_a_backslash_before_enter_is_a_new_line(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("one\\")
        await on.rest(0.05)
        await on.press("enter")
        await on.type("two")
        assert on.draft == "one\ntwo"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
async def test_18_a_long_paste_is_one_label_and_is_sent_whole(tmp_path: Path, ending: str) -> None:
    text = ending.join(f"row {at}" for at in range(10_000)) + ending
    async with screen(tmp_path, turns("Read.")) as on:
        await on.type("see: ")
        on.app.post_message(Paste(text))
        await on.until(lambda: "[pasted 10,000 lines]" in on.shown)
        assert not on.stage.of(TurnStarted)
        await on.press("enter")
        await on.until(lambda: bool(on.stage.of(TurnStarted)))
        assert on.stage.of(TurnStarted)[0].text == "see: " + text.replace(ending, "\n")


async def test_18_a_paste_that_is_put_back_unchanged_keeps_its_label(tmp_path: Path) -> None:
    text = "x\n" * 40
    async with screen(tmp_path) as on:
        on.app.post_message(Paste(text))
        await on.until(lambda: "[pasted 40 lines]" in on.shown)
        on.app.prompt.use_draft(on.draft)  # as after an editor that was left
        assert on.app.prompt.text == "[pasted 40 lines]"
        assert on.draft == text


async def test_18_backspace_takes_a_label_away_as_one(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("a ")
        on.app.post_message(Paste("x\n" * 100))
        await on.until(lambda: "[pasted" in on.shown)
        await on.press("backspace")
        assert on.draft == "a "


async def test_18_an_enter_inside_a_fast_stream_of_keys_is_a_line_end(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Read.")) as on:
        read = time.monotonic()
        for letter in "first\nsecond\n":
            key = Key("enter", "\r") if letter == "\n" else Key(letter, letter)
            key.time = read  # all in one go, however long this loop takes
            on.app.post_message(key)
        await on.until(lambda: on.draft == "first\nsecond\n")
        await on.until(lambda: "pasted without paste mode: Enter sends" in on.shown)
        await on.press("enter")
        await on.until(lambda: bool(on.stage.of(TurnStarted)))


async def test_history_is_gone_through_and_searched(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("1", "2", "3")) as on:
        for text in ("alpha beta", "gamma", "delta"):
            await on.type(text + "\n")
            await on.finished(len(on.app.history.texts))
        await on.type("unsent")
        await on.press("up")
        assert on.draft == "delta"
        await on.press("up")
        assert on.draft == "gamma"
        await on.press("down", "down")
        assert on.draft == "unsent"
        await on.press("ctrl+r")
        await on.type("alp")
        await on.until(lambda: "search the history: alp" in on.shown)
        await on.press("escape")
        assert on.draft == "unsent"
        await on.press("ctrl+r")
        await on.type("alp")
        await on.press("enter")
        assert on.draft == "alpha beta"


async def test_commands_and_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "parser.py").write_text("")
    async with screen(tmp_path) as on:
        await on.type("/perm")
        await on.until(lambda: on.app.suggestions.open)
        await on.press("tab")
        assert on.draft == "/permissions "
        await on.press("ctrl+c")
        await on.type("see @pars")
        await on.until(lambda: on.app.suggestions.open)
        await on.press("down", "enter")
        assert on.draft == "see @parser.py "


async def test_ctrl_c_clears_the_draft_into_the_history_and_twice_quits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mcode.ui.tui.hands._TWICE", 60.0
    )  # a slow machine may take its time between two keys
    async with screen(tmp_path) as on:
        await on.type("keep me")
        await on.press("ctrl+c")
        assert on.draft == ""
        assert on.app.history.texts[-1] == "keep me"
        await on.press("ctrl+c")
        await on.until(lambda: "Ctrl+C again quits." in on.shown)
        await on.press("ctrl+c")
        await on.until(lambda: not on.app.is_running)


async def test_what_stays_on_the_terminal_says_how_to_go_on_as_quit_does(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        context = on.app.context()
        said = (await context.registry.run("/quit", context)).text.split("\n")
        assert said[-1] == f"Go on later with: mcode --resume {on.stage.agent.session.id}"
        assert said[0] == f"transcript: {on.stage.agent.session.journal.path}"
        assert on.app.farewell.left()[-2:] == said
        on.app.farewell.say(f"error: the screen is gone. {on.app.farewell.go_on()}")
        assert said[-1] not in on.app.farewell.left()  # it is said already


async def test_a_terminal_that_is_large_again_shows_model_and_mode_again(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        before = on.rows[-1]
        await on.pilot.resize_terminal(20, 8)
        await on.until(lambda: "too small" in on.shown)
        await on.pilot.resize_terminal(100, 30)
        await on.until(lambda: on.rows[-1] == before)


async def test_what_was_not_sent_is_on_disk_and_comes_back(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        await on.type("hello\n")
        await on.finished()
        await on.type("half a thought")
        file = on.stage.agent.session.journal.path.with_suffix("") / "draft.json"
        await on.until(lambda: file.exists() and json.loads(file.read_text())["draft"] == "half a thought")
        session = on.stage.agent.session.id
    async with screen(tmp_path, source="resume", reference=session) as on:
        assert on.draft == "half a thought"
        assert "hello" in on.shown


async def test_the_editor_has_the_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sh -c 'echo more >> \"$1\"' edit")
    async with screen(tmp_path) as on:
        await on.type("draft")
        await on.press("ctrl+g")
        await on.until(lambda: on.draft == "draft\nmore" or "editor" in on.shown)


async def test_a_message_typed_before_the_session_is_ready_is_sent_when_it_is(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Hello."), first_message="from the command line") as on:
        await on.finished()
        assert on.stage.of(TurnStarted)[0].text == "from the command line"
        await asyncio.sleep(0)


async def test_keys_between_the_first_frame_and_the_whole_screen_arrive_in_their_order(
    tmp_path: Path,
) -> None:
    def before(app: McodeApp, stage: Stage) -> None:
        del stage
        make_complete = app.main.make_complete

        async def slowly() -> None:
            for letter in "1) fix it":
                app.post_message(Key(letter, letter))
            await asyncio.sleep(0.05)
            assert app.prompt.text == ""
            await make_complete()

        app.main.make_complete = slowly

    async with screen(tmp_path, before=before) as on:
        await on.until(lambda: on.draft == "1) fix it")
        await on.type("!")
        assert on.draft == "1) fix it!"


async def test_the_word_of_an_interrupt_goes_with_what_it_ended(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("!sleep 30\n")
        await on.until(lambda: "sleep 30" in on.shown and on.app.sending.shell_runs)
        await on.press("escape")
        await on.until(lambda: not on.app.sending.shell_runs)
        await on.until(lambda: "Interrupting." not in on.shown)


async def test_what_an_endpoint_refused_before_it_answered_is_back_in_the_prompt(tmp_path: Path) -> None:
    refusal = {"error": {"status": 401, "type": "authentication_error", "message": "invalid x-api-key"}}
    async with screen(tmp_path, {"turns": [{"reply": refusal}]}) as on:
        await on.type("mend the test\n")
        await on.until(lambda: "invalid x-api-key" in on.shown)
        await on.until(lambda: on.draft == "mend the test")
        assert "Enter asks for the rest" not in on.shown
        assert "/config" in on.shown


async def test_letters_typed_in_one_go_are_undone_as_one_and_come_back(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("some words")
        await on.press("ctrl+underscore")
        assert on.draft == ""
        await on.press("ctrl+y")
        assert on.draft == "some words"


async def test_a_list_and_the_kept_draft_follow_every_key_that_takes_text_away(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        await on.type("hello\n")
        await on.finished()
        file = on.stage.agent.session.journal.path.with_suffix("") / "draft.json"
        for key in ("ctrl+u", "ctrl+underscore"):
            await on.type("/perm")
            await on.until(lambda: on.app.suggestions.open)
            await on.until(file.exists)
            await on.press(key)
            assert on.draft == ""
            await on.until(lambda: not on.app.suggestions.open)
            await on.until(lambda: not file.exists())


async def test_a_word_that_is_taken_away_ends_the_search_of_the_history(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("a draft")
        await on.press("ctrl+r", "ctrl+w")
        assert on.draft == "a "
        await on.type("word")
        assert on.draft == "a word"
