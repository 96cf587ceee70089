"""/clear, /resume, /rename, /export, /status, /config, /memory, /model, /quit."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from mcode.commands.registry import OpenEditor, OpenSession, Quit
from tests.commands.typing import typed
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


async def test_resume_lists_earlier_sessions_and_opens_one_by_id_or_name(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("Hello.")) as first:
        await first.say("fix the parser")
        await typed(first, "/rename the parser work")
        earlier = first.agent.session.id
    async with stage(tmp_path, turns("x")) as session:
        listing = await typed(session, "/resume")
        assert [entry["name"] for entry in listing.data if not entry["current"]] == ["the parser work"]
        assert earlier[:8] in listing.text
        assert listing.action is None
        for reference in (earlier, earlier[:6], '"the parser work"'):
            assert (await typed(session, f"/resume {reference}")).action == OpenSession("resume", earlier)
        missing = await typed(session, "/resume nosuch")
        assert missing.failed
        assert missing.action is None


async def test_clear_asks_for_a_new_session_and_says_how_to_come_back(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/clear")
        assert result.action == OpenSession("clear")
        assert f"/resume {session.agent.session.id[:8]}" in result.text


async def test_a_running_turn_is_not_left_by_accident(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Bash", command="touch x"))) as session:
        detach = session.agent.desk.attach()
        session.agent.queue("go")
        await until(lambda: session.agent.desk.waiting, "the approval")
        for line in ("/clear", "/resume 1234"):
            result = await typed(session, line)
            assert result.failed
            assert "a turn is running" in result.text
        assert not (await typed(session, "/status")).failed
        detach()


async def test_rename_needs_a_name(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        assert (await typed(session, "/rename")).failed
        assert (await typed(session, "/rename a b")).data == {"name": "a b"}
        assert session.agent.name == "a b"


async def test_export_writes_the_conversation_masked_and_never_over_a_file(tmp_path: Path) -> None:
    secret = "sk-" + "ant-" + "Qw71" * 8
    async with stage(tmp_path, turns(use("Bash", command="touch made"), f"The key is {secret}.")) as session:
        assert (await typed(session, "/export")).failed
        session.answer("once")
        await session.say(f"use {secret}")
        result = await typed(session, "/export talk.txt")
        path = session.project / "talk.txt"
        text = path.read_text()
        assert result.data["path"] == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert secret not in text
        assert "You: use \u2039secret:" in text
        assert "Tool: ok Bash command=touch made" in text
        assert "Assistant: The key is \u2039secret:" in text
        again = await typed(session, "/export talk.txt")
        assert again.failed
        assert "exists and was left as it is" in again.text
        assert path.read_text() == text


async def test_status_and_config_show_where_things_come_from_and_no_secret(tmp_path: Path) -> None:
    secret = "hunter-" + "2" * 12
    settings = {
        "env": {"API_TOKEN": secret},
        "model": "other",
        "nosuchkey": 1,
        "mcode": {"ui": {"bell": False}, "maxCallsPerTurn": 3},
    }
    async with stage(tmp_path, turns("x"), settings=settings) as session:
        status = await typed(session, "/status")
        assert status.data["session"] == session.agent.session.id
        assert status.data["directory"] == str(session.project.resolve())
        assert status.data["settings"] == [str(session.bench.places.settings_file)]
        config = await typed(session, "/config")
        assert config.data["values"]["env"] == ["API_TOKEN"]
        assert config.data["mcode"]["ui"]["bell"] is False
        assert secret not in config.text
        shown = [line.split() for line in config.text.splitlines()]
        assert ["ui.bell", "false"] in shown  # as it is called in the file, and nothing beside it
        assert ["maxCallsPerTurn", "3"] in shown
        assert str(session.bench.places.settings_file) in config.text


async def test_memory_lists_the_instruction_files_with_their_cost(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "CLAUDE.md").write_text("Use tabs.\n" * 20)
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/memory")
        assert [row["path"] for row in result.data] == [str(session.project.resolve() / "CLAUDE.md")]
        assert result.data[0]["tokens"] > 20
        assert "1 instruction file" in result.text


async def test_memory_opens_one_of_the_files_in_the_editor(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "CLAUDE.md").write_text("Use tabs.\n")
    async with stage(tmp_path, turns("x")) as session:
        places, start = session.bench.places, session.project.resolve()
        wanted = {
            "/memory edit": start / "CLAUDE.md",
            "/memory edit 1": start / "CLAUDE.md",
            "/memory edit project": start / "CLAUDE.md",
            "/memory edit user": places.claude / "CLAUDE.md",
        }
        for line, path in wanted.items():
            assert (await typed(session, line)).action == OpenEditor(path)
        assert (await typed(session, "/memory edit 7")).failed
        assert (await typed(session, "/memory what")).failed


async def test_memory_edit_begins_an_agents_md_where_there_is_no_file(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/memory edit")
        assert result.action == OpenEditor(session.project.resolve() / "AGENTS.md")


async def test_model_shows_what_is_offered_and_changes(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        shown = await typed(session, "/model")
        assert shown.data["offered"] == ["scripted-1"]
        assert "* scripted-1  Scripted model  window 200k" in shown.text
        result = await typed(session, "/model other-1")
        assert result.data == {"model": "other-1", "before": "scripted-1"}
        assert session.agent.model == "other-1"


async def test_quit_says_how_to_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/exit")
        assert result.action == Quit()
        assert f"mcode --resume {session.agent.session.id}" in result.text
