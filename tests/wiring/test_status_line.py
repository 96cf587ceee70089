"""The status line's command: what it is told, when it runs, what is shown of it, and that nothing waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from mcode.events import Notice, StatusText
from mcode.wiring import status_line
from tests.children import no_process_left
from tests.stage import stage, turns, use
from tests.waiting import let_pass, until

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.stage import Stage

PRICES = {"scripted-1": {"input": 3, "output": 15}}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setattr(status_line, "REST", 0.02)
    with no_process_left():
        yield


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"statusLine": {"type": "command", "command": text}, **more}


def shown(here: Stage) -> list[str]:
    return [event.text for event in here.of(StatusText)]


async def test_the_command_is_told_of_the_session_in_json(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    settings = command(f"cat >{told}.new; mv {told}.new {told}; echo fine", mcode={"prices": PRICES})
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("one\ntwo\n")
    settings["permissions"] = {"allow": ["Edit"]}
    edit = use("Edit", file_path="a.txt", old_string="two", new_string="2\n3")
    script = turns([use("Read", file_path="a.txt")], [edit], "Done.")
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("change it")
        here.agent.rename("my work")
        here.agent.set_mode("plan")

        def facts() -> dict[str, Any]:
            return json.loads(told.read_text()) if told.exists() else {}

        await until(lambda: facts().get("session_name") == "my work")
        seen = facts()
        assert seen["session_id"] == here.agent.session.id
        assert seen["transcript_path"] == str(here.agent.session.journal.path)
        assert seen["model"] == {"id": "scripted-1", "display_name": "scripted-1"}
        assert seen["workspace"]["project_dir"] == seen["cwd"] == str(tmp_path / "project")
        assert seen["output_style"] == {"name": "default"}
        assert seen["cost"]["total_lines_added"] == 2
        assert seen["cost"]["total_lines_removed"] == 1
        assert seen["cost"]["total_cost_usd"] > 0
        window = seen["context_window"]
        assert window["used_percentage"] + window["remaining_percentage"] == 100
        assert window["current_usage"]["output_tokens"] > 0
        assert seen["exceeds_200k_tokens"] is False
        await until(lambda: shown(here))
        assert shown(here) == ["fine"]


async def test_its_first_lines_are_shown_without_anything_that_drives_a_terminal(tmp_path: Path) -> None:
    nasty = "printf '\\033[31mred\\033[0m \\033]0;title\\007two\\nsecond\\nthird\\nfourth\\n'"
    async with stage(tmp_path, turns("Yes."), settings=command(nasty)) as here:
        await here.say("hello")
        await until(lambda: shown(here))
        assert shown(here)[0].splitlines() == ["red two", "second", "third"]


async def test_a_slow_command_is_ended_and_said_once(tmp_path: Path) -> None:
    counted = tmp_path / "runs"
    settings = command(f"echo x >>{counted}; sleep 100 & sleep 100")
    async with stage(tmp_path, turns("One.", "Two.", "Three."), settings=settings) as here:

        def runs() -> int:
            return counted.read_text().count("x") if counted.exists() else 0

        def warnings() -> list[str]:
            return [each.text for each in here.of(Notice) if "status line" in each.text]

        for number in (1, 2, 3):
            await here.say("hello")
            await until(lambda number=number: runs() == number)
            let_pass(60)  # and this run is ended, before the next one begins
        await until(warnings)
        assert len(warnings()) == 1
        assert "was ended after its limit of 60 s" in warnings()[0]
        assert shown(here) == []


async def test_a_command_that_fails_shows_nothing_and_its_reason_once(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("One."), settings=command("echo no >&2; exit 3")) as here:
        await here.say("hello")
        await until(lambda: any("failed with exit code 3: no" in each.text for each in here.of(Notice)))
        assert shown(here) == []


async def test_events_that_come_together_are_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_line, "REST", 30.0)
    counted = tmp_path / "runs"
    async with stage(tmp_path, turns("One."), settings=command(f"echo x >>{counted}; echo ok")) as here:
        for mode in ("plan", "default", "acceptEdits", "default"):
            here.agent.set_mode(mode)
        let_pass(30)
        await until(lambda: shown(here))
        assert counted.read_text() == "x\n"


async def test_the_repositorys_own_command_runs_only_where_the_folder_is_trusted(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    folder = tmp_path / "project/.mcode"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(command(f"touch {mark}; echo theirs")))
    async with stage(tmp_path, turns("One.")) as here:
        await here.say("hello")
        assert here.agent.settings.status_line is None
    assert not mark.exists()


async def test_without_hooks_there_is_no_status_line_either(tmp_path: Path) -> None:
    settings = command("echo here", disableAllHooks=True)
    async with stage(tmp_path, turns("One."), settings=settings) as here:
        await here.say("hello")
    assert shown(here) == []


def test_what_few_sessions_need_loads_with_its_use_only() -> None:
    rare = (
        "mcode.images.formats",
        "mcode.images.picture",
        "mcode.wiring.status_line",
        "mcode.wiring.subagent",
    )
    code = f"import sys, mcode.wiring.workbench; print(*(set({rare!r}) & set(sys.modules)))"
    ran = subprocess.run(
        (sys.executable, "-c", code), capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.split() == []
