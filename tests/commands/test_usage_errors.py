"""What is mistyped behind a command is answered with the nearest valid word, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES

from mcode.commands.near_words import did_you_mean, near_words
from mcode.commands.registry import OpenSession, Quit
from mcode.commands.theme import THEMES
from mcode.ui.completion import Completer
from mcode.ui.file_names import FileNames
from tests.commands.typing import context_of, typed
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


WRONG = {
    "/context vew": "Did you mean view?",
    "/context sesion": "Did you mean session?",
    "/mcp strt files": "Did you mean start?",
    "/mcp start": "which server?",
    "/mcp aprove": "Did you mean /mcp approve?",
    "/tools why": "needs the name of a tool",
    "/tools search": "needs words",
    "/tools wy Bash": "Did you mean /tools why?",
    "/tools pin Bash residnt": "Did you mean resident?",
    "/tools --jsn": "Did you mean --json?",
    "/programs off": "Did you mean /programs mode off?",
    "/programs save": "/programs save what?",
    "/programs exprt": "Did you mean /programs export",
    "/programs modes off": "Did you mean mode?",
    "/permissions expln Bash(ls)": "Did you mean explain?",
    "/permissions allow Bash(ls)": "A rule is made by the answer",
    "/permissions explain git push": "A shell command is written Bash(git ...)",
    "/permissions explain bash": "The call of Bash lacks `command`",
    "/permissions explain Edit(a.py": "is not a call",
    "/permissions remove Bash(ls)": "Which rule?",
    "/agents stp": "Did you mean stop?",
    "/agents stop": "Which sub-agent?",
    "/memory edt": "Did you mean edit?",
    "/trust yess": "Did you mean yes?",
    "/output-style defalt": "Did you mean default?",
    "/mode pln": "Did you mean plan?",
    "/theme ansi-drk": "Did you mean ansi-dark",
    "/copy": "has no answer yet",
    "/copy fil": "Did you mean file?",
}


async def test_a_wrong_word_is_answered_with_what_was_meant_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.")) as here:
        answers = {line: await typed(here, line) for line in WRONG}
        unnamed = {line: answers[line].text for line, says in WRONG.items() if says not in answers[line].text}
        assert unnamed == {}
        assert [line for line, answer in answers.items() if not answer.failed] == ["/tools wy Bash"]
        assert not here.bench.places.settings_file.exists()


async def test_the_word_of_the_status_line_names_the_default_mode(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.")) as here:
        await typed(here, "/mode plan")
        assert (await typed(here, "/mode ask")).text.startswith("Permission mode: default")


async def test_the_names_of_other_agents_run_the_same_command_but_for_the_users_own(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.")) as here:
        assert (await typed(here, "/new")).action == OpenSession("clear")
        assert (await typed(here, "/q")).action == Quit()
        assert (await typed(here, "/settings")).text == (await typed(here, "/config")).text
        kept = here.project / ".mcode" / "programs"
        kept.mkdir(parents=True)
        (kept / "new.js").write_text("return 'mine';\n")
        assert "mine" in (await typed(here, "/new")).text


async def test_a_command_is_offered_by_the_name_that_other_agents_have_for_it(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.")) as here:
        completer = Completer(lambda: context_of(here), FileNames(lambda: (here.project,)))
        assert [each.text for each in await completer.matching("/new")] == ["/clear"]
        assert [each.text for each in completer.names("sess")] == ["/resume"]
        assert "/clear" not in [each.text for each in completer.names("n")]


async def test_a_theme_chosen_where_nothing_is_drawn_is_one_that_the_full_screen_has(tmp_path: Path) -> None:
    assert set(THEMES) == set(BUILTIN_THEMES)
    async with stage(tmp_path, turns("A.")) as here:
        said = (await typed(here, "/theme")).text
        assert all(name in said for name in THEMES)
        assert (await typed(here, "/theme nord")).text.startswith(
            "The full screen begins with the theme nord;"
        )
        assert here.bench.places.settings_file.exists()


def test_near_words_are_those_that_begin_so_and_those_that_look_alike() -> None:
    assert near_words("sess", ("view", "session")) == ("session",)
    assert near_words("", ("view",)) == ()
    assert near_words("VEW", ("view",)) == ("view",)
    assert did_you_mean("zzz", ("view",)) == ""
