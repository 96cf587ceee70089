"""Imports of instruction files that lead out of a project: asked about once, read only when approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.config.trust import MEMORY_IMPORT
from mcode.events import Notice
from mcode.wiring.folder_trust import Folder
from mcode.wiring.options import Options
from tests.config.conftest import World, world
from tests.stage import Stage, stage, turns

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.registry import CommandResult

__all__ = ["world"]

APP = "home/src/app"


class Asker:
    """A user who reads the page and answers."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.pages: list[str] = []

    async def ask(self, page: str) -> str:
        self.pages.append(page)
        return self.word


async def opened(world: World, word: str, *, trust: bool = False) -> tuple[list[str], list[str], list[str]]:
    """A start in the terminal: the pages shown, then the texts and notices of the instruction files."""
    folder = Folder.of(Options(trust=trust), world.places, world.project, {})
    asker = Asker(word)
    settings, asked = await folder.decided(folder.settings(), asker)
    assert asked == bool(asker.pages)
    memory = folder.memory(settings)
    return asker.pages, [file.text for file in memory.files], list(memory.notices)


async def test_an_import_from_outside_is_asked_about_once_and_read_from_then_on(world: World) -> None:
    world.write("home/house.md", "The rules of the house.")
    world.write(f"{APP}/CLAUDE.md", "Build it. @~/house.md")
    outside = world.places.home / "house.md"
    (page,), texts, _ = await opened(world, "trust")
    assert "Files from elsewhere that its instructions bring in" in page
    assert f"      brings in: {outside}" in page.splitlines()
    assert texts == ["Build it. @~/house.md", "The rules of the house."]
    world.write("home/house.md", "Its new rules.")
    pages, texts, notices = await opened(world, "")
    assert pages == [], "approval is for the place; what the user writes there is not asked about again"
    assert (texts[1], notices) == ("Its new rules.", [])


async def test_an_import_without_an_answer_is_left_out_and_said_and_asked_about_again(world: World) -> None:
    world.write("home/src/sibling.md", "private")
    world.write(f"{APP}/CLAUDE.md", "Build it. @../sibling.md")
    for _ in range(2):
        (_page,), texts, (notice,) = await opened(world, "")
        assert texts == ["Build it. @../sibling.md"]
        assert (
            f"is {world.project.parent / 'sibling.md'}, outside {world.project}: it was not loaded" in notice
        )
        assert "you have not approved this import" in notice
        assert "`--trust`" in notice


async def test_a_refused_import_is_not_asked_about_again_and_stays_out_even_with_trust(world: World) -> None:
    world.write("home/house.md", "private")
    world.write(f"{APP}/CLAUDE.md", "@~/house.md Build it.")
    await opened(world, "never")
    for trust in (False, True):
        pages, texts, notices = await opened(world, "trust", trust=trust)
        assert (pages, texts) == ([], ["@~/house.md Build it."])
        assert len(notices) == 1


async def test_an_import_that_leads_elsewhere_now_is_asked_about_again_with_the_difference(
    world: World,
) -> None:
    world.write("home/one.md", "the first")
    world.write("home/two.md", "the second")
    world.write(f"{APP}/CLAUDE.md", "Build it. @link.md")
    link = world.project / "link.md"
    link.symlink_to(world.places.home / "one.md")
    await opened(world, "trust")
    link.unlink()
    link.symlink_to(world.places.home / "two.md")
    (page,), texts, _ = await opened(world, "")
    assert f"      - brings in: {world.places.home}/one.md" in page.splitlines()
    assert f"      + brings in: {world.places.home}/two.md" in page.splitlines()
    assert texts == ["Build it. @link.md"]
    world.write(f"{APP}/CLAUDE.md", "Build it. @link.md @~/one.md")
    (page,), texts, _ = await opened(world, "")
    assert len(texts) == 1, "the same file by another import is another item"


async def test_what_an_approved_file_imports_itself_is_asked_about_on_its_own(world: World) -> None:
    world.write("home/one.md", "the first @two.md")
    world.write("home/two.md", "the second")
    world.write(f"{APP}/CLAUDE.md", "Build it. @~/one.md")
    (page,), texts, (notice,) = await opened(world, "trust")
    assert "two.md" not in page
    assert texts == ["Build it. @~/one.md", "the first @two.md"]
    assert "two.md" in notice
    (page,), texts, notices = await opened(world, "trust")
    assert f"      brings in: {world.places.home}/two.md" in page.splitlines()
    assert (texts[-1], notices) == ("the second", [])


async def test_what_usually_holds_secrets_is_neither_offered_nor_read(world: World) -> None:
    world.write("home/.ssh/id_rsa", "key")
    world.write("home/.env", "KEY=1")
    world.write(f"{APP}/CLAUDE.md", "Build it. @~/.ssh/id_rsa @~/.env")
    pages, texts, notices = await opened(world, "trust", trust=True)
    assert (pages, len(texts)) == ([], 1)
    assert all("usually hold secrets" in notice for notice in notices)
    assert len(notices) == 2


async def test_an_instruction_file_that_is_itself_a_link_to_outside_is_not_asked_about(world: World) -> None:
    world.write("home/house.md", "private")
    (world.project / "CLAUDE.md").symlink_to(world.places.home / "house.md")
    pages, texts, (notice,) = await opened(world, "trust", trust=True)
    assert (pages, texts) == ([], [])
    assert "may only bring in files beside and beneath" in notice


# in sessions, which ask nobody before they begin


def outside_import(directory: Path) -> None:
    (directory / "project").mkdir(exist_ok=True)
    (directory / "shared.md").write_text("Speak of herons.")
    (directory / "project" / "AGENTS.md").write_text("Build it. @../shared.md")


async def run(session: Stage, line: str) -> CommandResult:
    registry = standard_registry()
    return await registry.run(line, CommandContext(session.agent, session.bench.surroundings(), registry))


def said(session: Stage) -> str:
    return "\n".join(notice.text for notice in session.of(Notice))


async def test_without_a_dialog_the_import_is_refused_and_said_and_trust_reads_it_for_one_run(
    tmp_path: Path,
) -> None:
    outside_import(tmp_path)
    async with stage(tmp_path, turns("hi")) as session:
        await session.say("go")
        assert "Speak of herons" not in str(session.client.requests)
        assert "you have not approved this import" in said(session)
    async with stage(tmp_path, turns("hi"), options=Options(trust=True)) as session:
        await session.say("go")
        assert "Speak of herons" in str(session.client.requests[0])
        assert "approved this import" not in said(session)
    async with stage(tmp_path, turns("hi")) as session:
        await session.say("go")
        assert "Speak of herons" not in str(session.client.requests), "nothing of --trust is kept"


async def test_trust_lists_an_import_and_approves_refuses_and_forgets_it(tmp_path: Path) -> None:
    outside_import(tmp_path)
    async with stage(tmp_path, turns("hi")) as session:
        (waiting,) = (await run(session, "/trust")).data["waiting"]
        assert waiting["kind"] == MEMORY_IMPORT
        assert waiting["facts"] == {"file": "AGENTS.md", "brings in": str(tmp_path / "shared.md")}
        answered = await run(session, "/trust yes")
        assert "Trusted: 1 item." in answered.text
        assert answered.data["waiting"] == []
    async with stage(tmp_path, turns("hi")) as session:
        await session.say("go")
        assert "Speak of herons" in str(session.client.requests[0])
        assert len((await run(session, "/trust")).data["trusted"]) == 1
        assert "Forgotten: 1 answers" in (await run(session, "/trust forget")).text
        assert "Refused: 1 item" in (await run(session, "/trust no")).text
    async with stage(tmp_path, turns("hi")) as session:
        await session.say("go")
        assert "Speak of herons" not in str(session.client.requests)
        assert len((await run(session, "/trust")).data["refused"]) == 1


async def test_an_import_of_a_file_further_down_waits_once_it_was_met(tmp_path: Path) -> None:
    outside_import(tmp_path)
    (tmp_path / "project" / "AGENTS.md").unlink()
    (tmp_path / "project" / "lib").mkdir()
    (tmp_path / "project" / "lib" / "AGENTS.md").write_text("Of the library. @../../shared.md")
    (tmp_path / "project" / "lib" / "a.txt").write_text("x\n")
    read = {"type": "tool_use", "id": "r1", "name": "Read", "input": {"file_path": "lib/a.txt"}}
    async with stage(tmp_path, turns(read, "done", "again")) as session:
        assert (await run(session, "/trust")).data["waiting"] == []
        await session.say("read it")
        await session.say("and go on")
        assert "Of the library" in str(session.client.requests[-1])
        assert "herons" not in str(session.client.requests[-1])
        (waiting,) = (await run(session, "/trust")).data["waiting"]
        assert waiting["folder"] == str(tmp_path / "project" / "lib")
        assert "Trusted: 1 item." in (await run(session, "/trust yes")).text
    async with stage(tmp_path, turns(read, "done", "again")) as session:
        await session.say("read it")
        await session.say("and go on")
        assert "herons" in str(session.client.requests[-1])
