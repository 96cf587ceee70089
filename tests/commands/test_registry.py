"""Finding a command by what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode import jsontext
from mcode.commands.registry import Arguments, Command, CommandResult, Registry, is_command, split_line
from mcode.commands.standard import standard_registry
from mcode.errors import UsageError
from tests.commands.typing import context_of, typed
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.host import CommandContext


@pytest.mark.parametrize("text", ["/help", "/resume x", "/HELP", "/nosuch"])
def test_a_slash_and_a_name_is_a_command(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts is empty",
        "//",
        "/",
        "hello /help",
        "",
        "/usr/bin/env",
        " /help",
        "/* c */ int x;",
        "/ help",
    ],
)
def test_a_path_is_not(text: str) -> None:
    assert not is_command(text)


def test_the_name_is_split_from_what_follows() -> None:
    assert split_line('  /resume   "my session" ') == ("resume", '"my session"')
    assert split_line("/help") == ("help", "")


def test_words_honour_quotes_and_an_open_one_is_named() -> None:
    assert Arguments('one "two words" three').words == ("one", "two words", "three")
    with pytest.raises(UsageError, match="a quote that is not closed"):
        _ = Arguments('"open').words
    with pytest.raises(UsageError, match="at most 1, got 2"):
        Arguments("a b").at_most(1, "/x [y]")


def test_every_command_that_people_expect_is_there() -> None:
    registry = standard_registry()
    names = (
        "help clear resume continue rename status config memory permissions hooks tools context model mode"
    )
    for name in (*names.split(), "export", "quit", "exit"):
        assert registry.find(name) is not None, name
    assert registry.find("EXIT") is registry.find("quit")


def test_two_commands_cannot_share_a_name() -> None:
    async def run(context: CommandContext, arguments: Arguments) -> CommandResult:
        raise NotImplementedError

    with pytest.raises(ValueError, match="two commands are called /b"):
        Registry((Command("a", "", run, aliases=("b",)), Command("b", "", run)))


async def test_an_unknown_command_names_its_neighbours(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/contxt")
        assert result.failed
        assert "There is no command /contxt; nothing was done. Did you mean /context" in result.text
        assert result.data["nearest"][0] == "context"
        assert "with a blank before the slash it is a message" in result.text
        for far in ("/xyzzy", "/bogus"):
            assert "Did you mean" not in (await typed(session, far)).text


async def test_what_the_user_keeps_is_a_neighbour_too(tmp_path: Path) -> None:
    kept = tmp_path / "project" / ".mcode" / "programs"
    kept.mkdir(parents=True)
    (kept / "count-lines.js").write_text("return 1")
    skill = tmp_path / "home" / ".claude" / "skills" / "triage"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: triage\ndescription: Sorts tickets.\n---\nSort them.")
    async with stage(tmp_path, turns("x")) as session:
        assert "Did you mean /count-lines, " in (await typed(session, "/count-line")).text
        assert "Did you mean /triage?" in (await typed(session, "/traige now")).text


async def test_json_gives_the_value_that_the_text_was_made_from(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        for line in ("/tools --json", "/tools Read --json", "/tools --json Read"):
            shown = await typed(session, line)
            assert jsontext.parse(shown.text) == shown.data
        assert [row["name"] for row in (await typed(session, "/tools --json ^nothing")).data] == []


async def test_every_command_answers_in_text_and_in_json_before_the_first_message(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x"), new_prefixes=3) as session:
        for command in context_of(session).registry:
            result = await typed(session, f"/{command.name}")
            assert result.text, command.name
            assert result.data is not None, command.name
            jsontext.dump(result.data)


async def test_help_lists_all_and_explains_one(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        everything = await typed(session, "/help")
        assert all(f"/{command.name}" in everything.text for command in standard_registry())
        table = everything.text.partition("What you type")[0].splitlines()[1:]
        assert max(len(line) - len(line.split(None, 1)[1]) for line in table if line) < 20  # narrow is enough
        assert (await typed(session, "/help tools")).text.startswith("/tools [words] | search WORDS")
        one = await typed(session, "/help /exit")
        assert one.text.splitlines()[0] == "/quit"
        assert "also: /exit" in one.text
        assert (await typed(session, "/help nosuch")).failed
