"""/rewind and /diff in a whole session."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import subprocess
from typing import TYPE_CHECKING

from mcode.commands.registry import Redraw
from mcode.events import HookRan, Notice, TurnFinished, TurnStarted
from mcode.pipeline import run
from mcode.ui.live import LiveArea
from tests.commands.typing import typed
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ALLOWED = {"permissions": {"allow": ["Write", "Edit", "Bash(true)"]}}

TWO_TURNS = turns(
    use("Write", "w1", file_path="a.txt", content="one\n"),
    "Written.",
    [
        use("Write", "w2", file_path="a.txt", content="two\n"),
        use("Write", "w3", file_path="b.txt", content="more\n"),
        use("Bash", "b1", command="true"),
    ],
    "Changed.",
    "Anew.",
)


async def test_both_go_back_and_the_message_returns_to_the_draft(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED, new_prefixes=1) as session:
        await session.say("write it")
        await session.say("change it")
        result = await typed(session, "/rewind 2")
        assert not result.failed
        assert isinstance(result.action, Redraw)
        assert (result.action.draft, result.action.turn) == ("change it", 2)
        assert (session.project / "a.txt").read_text() == "one\n"
        assert not (session.project / "b.txt").exists()
        assert "1 shell command ran since then; what they changed is not undone" in result.text
        shown = [event.text for event in session.agent.transcript() if isinstance(event, TurnStarted)]
        assert shown == ["write it"]
        await session.say("something else")
        sent = str(session.client.requests[-1]["messages"])
        assert "write it" in sent
        assert "change it" not in sent


async def test_the_end_of_a_job_that_began_in_what_was_taken_back_is_not_told(tmp_path: Path) -> None:
    ends = use("Bash", "j1", command="sleep 0.3", run_in_background=True)
    goes_on = use("Bash", "j2", command="sleep 30", run_in_background=True)
    script = turns("Yes.", [ends, goes_on], "They run.", "Anew.", "And more.")
    settings = {"permissions": {"allow": ["Bash(sleep *)"]}}
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as session:
        await session.say("hello")
        await session.say("run them")
        jobs = session.agent.jobs
        await jobs.wait(jobs.find("b1"), 20)
        assert not (await typed(session, "/rewind 2 conversation")).failed
        await session.say("something else")
        await jobs.stop(jobs.find("b2"))
        await session.say("and more")
        assert "Background job" not in str(session.client.requests[-1]["messages"])
        assert any("b1 has ended" in event.text for event in session.of(Notice))  # the user hears of it


async def test_files_alone_go_back_and_come_again_by_undo(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED) as session:
        await session.say("write it")
        await session.say("change it")
        result = await typed(session, "/rewind 1 files")
        assert result.action is None
        assert not (session.project / "a.txt").exists()
        assert not (await typed(session, "/rewind undo")).failed
        assert (session.project / "a.txt").read_text() == "two\n"
        assert (session.project / "b.txt").read_text() == "more\n"


async def test_the_conversation_alone_goes_back_and_files_must_be_read_again(tmp_path: Path) -> None:
    script = turns(
        use("Write", "w1", file_path="a.txt", content="one\n"),
        "Written.",
        use("Edit", "e1", file_path="a.txt", old_string="one", new_string="two"),
        "Refused.",
    )
    async with stage(tmp_path, script, settings=ALLOWED, new_prefixes=1) as session:
        await session.say("write it")
        await typed(session, "/rewind 1 conversation")
        assert (session.project / "a.txt").read_text() == "one\n"
        await session.say("edit it")
        assert "has not been read" in session.result().text


async def test_what_the_user_changed_is_kept_and_named(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED, new_prefixes=1) as session:
        await session.say("write it")
        await session.say("change it")
        (session.project / "a.txt").write_text("the user's\n")
        result = await typed(session, "/rewind 2")
        assert (session.project / "a.txt").read_text() == "the user's\n"
        assert "kept as it is" in result.text
        copies = [file["copy"] for file in result.data["files"] if file["copy"]]
        assert len(copies) == 1


async def test_the_list_says_what_can_be_gone_back_to(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED) as session:
        assert "nothing to go back to" in (await typed(session, "/rewind")).text
        await session.say("write it")
        await session.say("change it")
        listed = await typed(session, "/rewind")
        assert [(row["turn"], row["files_changed_since"]) for row in listed.data] == [(1, 2), (2, 2)]
        for wrong in ("/rewind 9", "/rewind soon", "/rewind 1 everything"):
            refused = await typed(session, wrong)
            assert refused.failed
            assert "nothing was changed" in refused.text


async def test_diff_shows_what_the_session_changed_against_the_beginning(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED) as session:
        assert "No file differs" in (await typed(session, "/diff")).text
        await session.say("write it")
        await session.say("change it")
        result = await typed(session, "/diff")
        assert "2 files changed" in result.text
        assert "+two" in result.text
        assert "+one" not in result.text
        (session.project / "a.txt").unlink()
        (session.project / "b.txt").unlink()
        assert "No file differs" in (await typed(session, "/diff")).text


async def test_u_03_what_shell_commands_changed_is_said_and_left_as_it_is(tmp_path: Path) -> None:
    command = "echo by the shell > kept.txt"
    script = turns(
        [use("Write", "w1", file_path="a.txt", content="one\n"), use("Bash", command=command)], "Done."
    )
    settings = {"permissions": {"allow": ["Write", f"Bash({command})"]}}
    async with stage(tmp_path, script, settings=settings) as session:
        await session.say("write both")
        result = await typed(session, "/rewind 1 files")
        assert not (session.project / "a.txt").exists()
        assert (session.project / "kept.txt").read_text() == "by the shell\n"
        assert "1 shell command ran since then; what they changed is not undone" in result.text
        assert "How many tracked files they changed cannot be told" in result.text
        assert "is in no git work tree" in result.data["shell_changes"]["unknown"]


async def test_u_03_the_tracked_files_that_bash_changed_are_counted_and_named(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    project = tmp_path / "project"
    for name in ("a.txt", "b.txt", "c.txt"):
        (project / name).write_text("old\n")
    git = "git -c user.name=t -c user.email=t@t.invalid"
    subprocess.run(f"git init -q && git add . && {git} commit -qm first", cwd=project, shell=True, check=True)
    command = "echo by the shell > b.txt"
    calls = [use("Write", "w1", file_path="new.txt", content="one\n"), use("Bash", command=command)]
    settings = {"permissions": {"allow": ["Write", f"Bash({command})"]}}
    async with stage(tmp_path, turns(calls, "Done.", "Nothing."), settings=settings) as session:
        await session.say("write both")
        await session.say("and nothing")
        assert (await typed(session, "/rewind 2 files")).data["shell_changes"] is None
        result = await typed(session, "/rewind 1 files")
        assert f"bash changed 1 tracked file, not undone: {project}/b.txt." in result.text
        assert (project / "b.txt").read_text() == "by the shell\n"
        assert result.data["shell_changes"] == {"paths": [f"{project}/b.txt"], "unknown": ""}


async def test_u_04_where_undo_is_not_required_each_change_without_a_way_back_is_said(tmp_path: Path) -> None:
    settings = {**ALLOWED, "mcode": {"undoRequired": False}}
    script = turns(use("Write", "w1", file_path="a.txt", content="one\n"), "Written.")
    async with stage(tmp_path, script, settings=settings) as session:
        undo = session.agent.session.directory / "undo"
        shutil.rmtree(undo, ignore_errors=True)
        undo.write_text("this is no directory")
        await session.say("write it")
        assert (session.project / "a.txt").read_text() == "one\n"
        (told,) = [notice.text for notice in session.of(Notice) if "a.txt" in notice.text]
        assert "a rewind will not bring back what it held (mcode.undoRequired is false)" in told
        area = LiveArea("", "")
        area.follow(session.agent)
        assert "undo optional" in area.status(80).text


async def test_a_turn_that_would_begin_in_the_middle_of_a_rewind_waits_for_its_end(tmp_path: Path) -> None:
    async with stage(tmp_path, TWO_TURNS, settings=ALLOWED, new_prefixes=1) as session:
        await session.say("write it")
        await session.say("change it")
        rewinding = asyncio.create_task(typed(session, "/rewind 2"))
        session.agent.queue("a job has ended", typed=False)
        assert not (await rewinding).failed
        await until(lambda: not session.agent.busy and len(session.of(TurnFinished)) == 3)
        kept = str(session.agent.builder.messages)
    assert "a job has ended" in kept
    assert "change it" not in kept


async def test_what_a_sub_agent_did_belongs_to_the_turn_that_it_worked_in(tmp_path: Path) -> None:
    script = turns(
        "Yes.",
        use("Agent", "agent1", prompt="write it", description="d"),
        [use("Write", "inner1", file_path="a.txt", content="x\n"), use("Bash", "inner2", command="true")],
        "Written.",
        "Done.",
    )
    async with stage(tmp_path, script, settings=ALLOWED, new_prefixes=4) as session:
        await session.say("hello")
        await session.say("let somebody write it")
        assert (session.project / "a.txt").read_text() == "x\n"
        result = await typed(session, "/rewind 2")
        assert not result.failed
        assert not (session.project / "a.txt").exists()
        assert "1 shell command ran since then" in result.text


async def test_a_file_that_a_formatter_hook_has_changed_after_the_call_goes_back_all_the_same(
    tmp_path: Path,
) -> None:
    formatter = {"type": "command", "command": "printf 'formatted\\n' >> a.txt"}
    settings = {**ALLOWED, "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [formatter]}]}}
    script = turns(
        use("Write", "w1", file_path="a.txt", content="one\n"),
        "Written.",
        use("Write", "w2", file_path="a.txt", content="two\n"),
        "Changed.",
    )
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as session:
        await session.say("write it")
        await session.say("change it")
        assert (session.project / "a.txt").read_text() == "two\nformatted\n"
        await typed(session, "/rewind 2 files")
        assert (session.project / "a.txt").read_text() == "one\nformatted\n"


async def test_what_a_hook_leaves_behind_its_call_goes_back_with_the_last_call_that_changed_the_file(
    tmp_path: Path,
) -> None:
    command = 'until [ -e go ]; do sleep 0.02; done; printf "formatted\\n" >> a.txt'
    formatter = {"type": "command", "command": command, "async": True}
    settings = {**ALLOWED, "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [formatter]}]}}
    script = turns(
        use("Write", "w1", file_path="a.txt", content="one\n"),
        use("Write", "w2", file_path="a.txt", content="two\n"),
        "Written.",
        use("Write", "w3", file_path="a.txt", content="three\n"),
        "Changed.",
    )
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as session:
        file = session.project / "a.txt"
        await session.say("write it")
        (session.project / "go").touch()
        whole = hashlib.sha256(b"two\nformatted\nformatted\n").hexdigest()
        await until(lambda: session.agent.session.undo.entries()[-1].new == whole)
        await session.say("change it")
        # Nobody has told the model of it.
        assert "changed on disk since it was read" in session.result().text
        assert file.read_text() == "two\nformatted\nformatted\n"
        result = await typed(session, "/rewind 1 files")
        assert not result.failed, result.text
        assert not file.exists()


async def test_what_is_in_a_file_long_after_the_call_may_be_the_users_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "HOOKS_BEHIND_CALL", -1.0)
    command = 'until [ -e go ]; do sleep 0.02; done; printf "more\n" >> a.txt'
    hook = {"type": "command", "command": command, "async": True}
    settings = {**ALLOWED, "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]}}
    script = turns(use("Write", "w1", file_path="a.txt", content="one\n"), "Written.")
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as session:
        await session.say("write it")
        (session.project / "go").touch()
        await until(lambda: bool(session.of(HookRan)))
        result = await typed(session, "/rewind 1 files")
        assert "a.txt" in result.text
        assert (session.project / "a.txt").read_text() == "one\nmore\n"


async def test_a_file_that_a_hook_had_changed_when_it_was_interrupted_goes_back_all_the_same(
    tmp_path: Path,
) -> None:
    command = "grep -q two a.txt && printf 'formatted\\n' >> a.txt && exec sleep 60; true"
    formatter = {"type": "command", "command": command}
    settings = {**ALLOWED, "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [formatter]}]}}
    script = turns(
        use("Write", "w1", file_path="a.txt", content="one\n"),
        "Written.",
        use("Write", "w2", file_path="a.txt", content="two\n"),
    )
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as session:
        file = session.project / "a.txt"
        await session.say("write it")
        turn = asyncio.create_task(session.say("change it"))
        await until(lambda: "formatted" in file.read_text())
        session.agent.interrupt()
        assert (await turn).reason == "interrupted"
        assert "a.txt was changed by a hook after this call" in session.result().text
        result = await typed(session, "/rewind 2 files")
        assert not result.failed, result.text
        assert file.read_text() == "one\n"
