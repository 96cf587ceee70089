"""The phrases that the offline guide knows, and what it says to all others."""

from __future__ import annotations

import pytest

from mcode.model.guide.intents import INTENTS, find_intent
from tests.model.guide_session import DENIED, GuideSession, at_step


async def test_todos_are_found_and_listed_with_their_places() -> None:
    session = GuideSession()
    words = await session.say("find the TODOs")
    assert "a fixed script" in words
    assert session.call == ("Grep", {"pattern": r"\b(TODO|FIXME)\b", "output_mode": "content"})
    found = "src/a.py\n3:# TODO: write `it`\n9:x = 1  # FIXME now\n\nb.py\n1:# TODO"
    result = f"{found}\n\nThe first 3 of 40 are shown. Narrow the search to see others."
    words = await session.give(result)
    assert "40 lines:" in words
    assert "- `src/a.py:3` `# TODO: write  it `" in words
    assert "- `b.py:1`" in words
    assert "and 35 more" in words
    await session.say("todos")
    assert "2 lines in 1 file:" in await session.give("a.py\n3:TODO\n4:TODO")


async def test_no_todos_are_no_todos() -> None:
    session = GuideSession()
    await session.say("any todo here?")
    assert "No line with TODO" in await session.give("Nothing matches.")


async def test_lines_are_counted_by_language_and_the_method_is_said() -> None:
    session = GuideSession()
    await session.say("how many lines per language?")
    assert session.call is not None
    name, arguments = session.call
    assert (name, arguments["pattern"], arguments["output_mode"]) == ("Grep", "^", "count")
    words = await session.give("a.py:100\nsub/b.py:20\nREADME.md:7\nMakefile:3\nodd.xyz:2\nC:D.py:1")
    assert "| Python | 121 | 3 |" in words
    assert "| Markdown | 7 | 1 |" in words
    assert "| Make | 3 | 1 |" in words
    assert "| other (.xyz) | 2 | 1 |" in words
    assert "133 lines in 6 files" in words
    assert "blank ones and comments too" in words
    assert "only a part" not in words


async def test_a_count_that_was_cut_says_so() -> None:
    session = GuideSession()
    await session.say("count the lines")
    words = await session.give(
        "a.py:100\n\nThe search stopped after 50,000 lines; results are incomplete. Narrow path or glob."
    )
    assert "| Python | 100 | 1 |" in words
    assert "only a part" in words
    assert "> The search stopped after 50,000 lines" in words


async def test_nothing_to_count_is_said() -> None:
    session = GuideSession()
    await session.say("lines of code per language")
    assert "nothing to count" in await session.give("Nothing matches.")


async def test_a_named_file_is_read() -> None:
    session = GuideSession()
    await session.say("read src/cli.py")
    assert session.call == ("Read", {"file_path": "src/cli.py", "limit": 40})
    words = await session.give("1\timport sys\n2\t\n3\tprint(1)\n\nThe file has 300 lines.")
    assert "I have 3 lines" in words
    assert "    import sys" in words
    await session.say("read no/such.py")
    assert "Find it with Glob" in await session.give(
        "/home/me/no/such.py does not exist. Find it with Glob.", is_error=True
    )


async def test_git_is_asked_and_its_absence_is_no_drama() -> None:
    session = GuideSession()
    await session.say("what changed in git?")
    assert session.call is not None
    assert session.call[1]["command"] == "git status --short --branch"
    assert "2 changed files" in await session.give("## main\n M a.py\n?? b.py")
    await session.say("git status")
    words = await session.give(
        "fatal: not a git repository (or any of the parent directories): .git\n\nExit code 128 after 0.01 s."
    )
    assert "no git repository" in words
    assert "fatal: not a git repository" in words
    await session.say("git status")
    assert "that is fine" in await session.give(DENIED, is_error=True)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what do the permissions mean", "/permissions"),
        ("what is the context?", "/context"),
        ("which tools are there", "/tools"),
        ("where is the session recorded?", "~/.mcode/projects/"),
        ("keys?", "Esc stops whatever runs"),
        ("how do I use a real model", "ANTHROPIC_API_KEY"),
        ("where do I set my api key", "ANTHROPIC_BASE_URL"),
        ("are you a real model?", "There is no language model behind me"),
        ("who are you", "I am a script"),
        ("help", "find the TODOs"),
        ("thanks", "/quit"),
    ],
)
async def test_a_question_about_mcode_is_answered_without_a_call(question: str, words: str) -> None:
    session = await at_step(2)
    assert words in await session.say(question)
    assert session.call is None


@pytest.mark.parametrize(
    "question",
    [
        "why is the sky blue",
        "Please go through my source files, find every place where an edit or a list of tools is kept, and mend it",
        "x",
    ],
)
async def test_what_is_not_known_is_not_pretended_to(question: str) -> None:
    session = await at_step(2)
    words = await session.say(question)
    assert "I did not understand" in words
    assert "`how many lines per language`" in words
    assert session.call is None


async def test_a_shell_command_of_the_users_own_is_explained() -> None:
    session = await at_step(2)
    words = await session.say(
        "I ran this in the shell myself:\n$ ls\n" + "many words of output with a todo " * 20
    )
    assert "a command of your own" in words
    assert "Step 2 of 6" in await session.say("next")


def test_every_phrase_of_the_menu_is_known() -> None:
    from mcode.model.guide.words import MENU

    phrases = [
        part for part in MENU.split("`")[1::2] if part not in ("next", "again", "start over", "read NAME")
    ]
    for phrase in [*phrases, "read name.txt"]:
        assert find_intent(phrase) is not None, phrase
    assert len(INTENTS) > 10
