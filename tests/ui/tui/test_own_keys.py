"""Keys that the user gives to what keys do, and whose the mouse is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.ui.tui.main_screen import MAIN_KEYS
from mcode.ui.tui.own_keys import checked, names_of
from mcode.ui.tui.prompt_keys import PROMPT_KEYS
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

NAMES = names_of(MAIN_KEYS) | names_of(PROMPT_KEYS) | {"inspector.sort"}


@pytest.mark.parametrize("key", ["ctrl+x", "alt+e", "f5", "ctrl+x,f6", "shift+f3", "pageup"])
def test_a_key_that_types_nothing_may_stand_anywhere(key: str) -> None:
    assert checked({"main.editor": key}, NAMES) == ({"main.editor": key}, [])


@pytest.mark.parametrize(
    "key", ["a", "1", "space", "shift+a", "?", "slash", "ctrl+b", "ctrl+s", "ctrl+x,y", ""]
)
def test_a_key_that_types_or_belongs_to_the_terminal_is_left_out_with_a_word(key: str) -> None:
    usable, (remark,) = checked({"main.editor": key}, NAMES)
    assert not usable
    assert "`main.editor`, which keeps its usual one" in remark


def test_inspectors_take_letters_and_an_unknown_name_is_told() -> None:
    assert checked({"inspector.sort": "o"}, NAMES)[0] == {"inspector.sort": "o"}
    assert "there is no `main.edit`" in checked({"main.edit": "f5"}, NAMES)[1][0]


async def test_a_key_of_the_settings_does_what_its_name_says_and_the_usual_one_no_more(
    tmp_path: Path,
) -> None:
    keys = {"main.keys": "f5", "prompt.delete-to-start": "alt+u", "main.editor": "e"}
    async with screen(tmp_path, settings={"mcode": {"ui": {"keys": keys}}}) as on:
        await on.until(lambda: "`e` cannot be the key of" in on.shown)
        await on.press("f1")
        await on.rest(0.05)
        assert "Shift+Tab" not in on.shown
        await on.type("abc")
        await on.press("alt+u")
        await on.until(lambda: on.draft == "")
        await on.press("f5")
        await on.until(lambda: "Shift+Tab" in on.shown)


async def test_control_w_takes_a_word_away(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("one two")
        await on.press("ctrl+w")
        assert on.draft == "one "
        await on.press("alt+backspace")
        assert on.draft == ""


async def test_the_mouse_goes_to_the_terminal_and_comes_back(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        written: list[str] = []
        on.app.mouse._write = written.append
        await on.type("/mouse off\n")
        await on.until(lambda: "The mouse is your terminal's" in on.shown)
        on.app.mouse.again()  # as after an editor, when Textual has taken it back
        await on.type("/mouse on\n")
        await on.until(lambda: "The mouse is mcode's" in on.shown)
        on.app.mouse.again()
        off, again, back = written
        assert off == again
        assert "\x1b[?1003l" in off
        assert "\x1b[?1003h" in back
        kept = on.stage.bench.places.settings_file.read_text()
        assert '"mouse": true' in kept
