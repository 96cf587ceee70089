"""The user is asked about servers of the project: at the desk, in a terminal, and not at all where nobody is."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.command_line import parse
from mcode.config.trust import TrustStore
from mcode.events import Notice, QuestionAsked
from mcode.wiring.item_question import APPROVE, NEVER, NOT_NOW
from mcode.wiring.options import Options
from tests.commands.typing import typed
from tests.e2e.binary import Machine
from tests.e2e.terminal import BinaryTerminal
from tests.mcp.server_world import ServerWorld
from tests.stage import Stage, stage
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.mcp.entries import ServerEntry

HOSTILE = Path(__file__).with_name("hostile_server.py")

QUIET: dict[str, list[object]] = {"turns": []}


def name_servers(directory: Path, **servers: object) -> None:
    (directory / "project").mkdir(exist_ok=True)
    (directory / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


async def asked(opened: Stage) -> QuestionAsked:
    opened.agent.desk.attach()
    await opened.agent.start("startup")
    for _ in range(3_000):
        if opened.of(QuestionAsked):
            return opened.of(QuestionAsked)[0]
        await asyncio.sleep(0.01)
    raise AssertionError("nobody was asked")


def notices(opened: Stage) -> str:
    return "\n".join(notice.text for notice in opened.of(Notice))


async def noticed(opened: Stage, text: str) -> None:
    for _ in range(3_000):
        if text in notices(opened):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{text!r} is not in {notices(opened)!r}")


async def test_w_02_each_server_is_asked_about_with_everything_that_it_is(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    name_servers(
        tmp_path,
        files={
            "command": "npx",
            "args": ["-y", "server files"],
            "env": {"API_TOKEN": token, "DEPTH": "${DEPTH}"},
        },
        web={"type": "http", "url": "https://tools.example/mcp", "headersHelper": "./h \u202e.sh"},
    )
    async with stage(tmp_path, QUIET, start=False) as opened:
        first, second = (await asked(opened)).questions
    assert 'a server "files", which mcode would start' in first.text
    assert '  runs: npx -y "server files"' in first.text
    assert "environment DEPTH: DEPTH=${DEPTH}" in first.text
    assert "reads your variables: DEPTH" in first.text
    assert token not in first.text
    assert "environment API_TOKEN: API_TOKEN=" in first.text
    assert 'a server "web", which mcode would contact' in second.text
    assert "contacts: https://tools.example/mcp" in second.text
    assert "\u202e" not in second.text
    assert "U+202E" in second.text
    assert [choice.label for choice in first.choices] == [NOT_NOW, APPROVE, NEVER], "No stands first"


async def test_answers_are_stored_and_approved_servers_are_handed_on(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a"}, b={"command": "b"}, c={"command": "c"})
    approved: list[ServerEntry] = []
    async with stage(tmp_path, QUIET, start=False) as opened:
        opened.bench.server_trust.approved = approved.append
        question = await asked(opened)
        assert opened.agent.desk.answer(question.question_id, ((APPROVE,), (NEVER,), ("well, yes, use it",)))
        await noticed(opened, '"c" of this project was not approved')
        assert [entry.name for entry in approved] == ["a"]
    async with stage(tmp_path, QUIET) as later:
        by_name = {entry.name: entry for entry in later.bench.servers.entries}
        assert not by_name["a"].needs_approval
        assert by_name["b"].disabled
        assert by_name["c"].needs_approval
        assert [entry.name for entry in later.bench.servers.asking] == ["c"]


async def test_an_approved_server_is_started_in_the_same_session(tmp_path: Path) -> None:
    name_servers(tmp_path, good={"command": sys.executable, "args": [str(HOSTILE), "none"]})
    async with stage(tmp_path, QUIET, start=False) as opened:
        question = await asked(opened)
        assert [status.state for status in opened.bench.pool.statuses()] == ["needs approval"]
        opened.agent.desk.answer(question.question_id, ((APPROVE,),))
        await noticed(opened, "is approved")
        await opened.bench.pool.settle(60)
        assert [status.state for status in opened.bench.pool.statuses()] == ["connected"]


async def test_a_server_that_was_left_for_later_is_approved_by_name_in_the_session(tmp_path: Path) -> None:
    name_servers(tmp_path, good={"command": sys.executable, "args": [str(HOSTILE), "none"]})
    async with stage(tmp_path, QUIET) as opened:
        said = await typed(opened, "/mcp approve good")
        assert said.text == 'The server "good" of this project is approved.'
        await opened.bench.pool.settle(60)
        assert [status.state for status in opened.bench.pool.statuses()] == ["connected"]
        again = await typed(opened, "/mcp approve good")
        assert again.failed
        assert "Those that do: none" in again.text
    async with stage(tmp_path, QUIET) as later:
        assert not later.bench.servers.asking


async def test_w_03_a_changed_server_asks_again_and_shows_what_changed(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a", "args": ["--read"]})
    async with stage(tmp_path, QUIET, start=False) as opened:
        question = await asked(opened)
        opened.agent.desk.answer(question.question_id, ((APPROVE,),))
        await noticed(opened, "is approved")
    name_servers(tmp_path, a={"command": "a", "args": ["--write"]})
    async with stage(tmp_path, QUIET, start=False) as later:
        text = (await asked(later)).questions[0].text
    assert "It is not as it was" in text
    assert "  - runs: a --read" in text
    assert "  + runs: a --write" in text


async def test_declining_approves_nothing_and_stores_nothing(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a"})
    async with stage(tmp_path, QUIET, start=False) as opened:
        question = await asked(opened)
        opened.agent.desk.answer(question.question_id, None)
        await noticed(opened, "was not approved")
    assert not (tmp_path / "home" / ".mcode" / "trust.json").exists()


async def test_a_session_that_is_left_withdraws_the_question_and_the_next_one_asks(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a"})
    async with stage(tmp_path, QUIET, start=False) as opened:
        await asked(opened)
        new = await opened.bench.open_agent("clear")
        questions: list[QuestionAsked] = []
        new.events.subscribe(
            lambda event: questions.append(event) if isinstance(event, QuestionAsked) else None
        )
        new.desk.attach()
        await opened.agent.close("clear")
        assert opened.agent.desk.waiting == ()
        await new.start("clear")
        await until(lambda: bool(questions))
        await asyncio.sleep(0.05)
        assert len(questions) == 1
        await new.close("other")


async def test_w_02_without_anybody_to_ask_one_line_says_so(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a"}, b={"command": "b"})
    async with stage(tmp_path, QUIET) as opened:
        lines = [line for line in notices(opened).splitlines() if "not approved" in line]
    assert len(lines) == 1
    assert "a, b" in lines[0]
    assert "--trust" in lines[0]


async def test_w_02_trust_for_one_run_asks_nothing_and_stores_nothing(tmp_path: Path) -> None:
    name_servers(tmp_path, a={"command": "a"})
    async with stage(tmp_path, QUIET, options=Options(trust=True)) as opened:
        assert not opened.bench.servers.entries[0].needs_approval
        assert "not approved" not in notices(opened)
    assert not (tmp_path / "home" / ".mcode" / "trust.json").exists()


def test_in_a_terminal_the_question_waits_for_an_empty_line_and_takes_no_text_of_the_draft(
    tmp_path: Path,
) -> None:
    machine = Machine.fresh(tmp_path)
    (machine.project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"files": {"command": "no-such-server"}}})
    )
    with BinaryTerminal(machine, "--plain", "--demo") as terminal:
        terminal.wait_for_row("\u203a")
        terminal.type("2")
        terminal.pump(2.0)
        assert not (machine.home / ".mcode" / "trust.json").exists()
        terminal.type("\x7f")
        terminal.wait_for("runs: no-such-server")
        terminal.wait_for_row("answer?")
        terminal.say("2")
        terminal.wait_for("is approved")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
    world = ServerWorld(tmp_path.resolve())
    content = json.loads((machine.home / ".mcode" / "trust.json").read_text())
    assert (
        content["folders"][str(machine.project.resolve())]["items"]["mcp-server"]["files"]["answer"]
        == "approved"
    )
    assert TrustStore(world.places).fault == ""


def test_w_02_headless_nothing_of_the_folder_counts_unless_it_is_trusted_for_the_run(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    entry = {"command": "/bin/sh", "args": ["-c", "touch started"]}
    (machine.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"files": entry}}))
    settings = machine.project / ".mcode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash(make test)"]}}))
    usual = machine.run("-p", "--demo", "hello")
    assert usual.code == 0
    assert "this folder is not trusted" in usual.err
    assert "A server of this project is not approved and stays off: files" in usual.err
    assert not (machine.project / "started").exists()
    trusted = machine.run("-p", "--demo", "--trust", "hello")
    assert trusted.code == 0
    assert trusted.err == ""


async def test_the_command_line_can_name_servers_for_one_run(tmp_path: Path) -> None:
    name_servers(tmp_path, files={"command": "x"})
    config = '{"mcpServers": {"given": {"command": "y"}, "broken": {"command": ""}}}'
    options = parse(["-p", "--strict-mcp-config", "--mcp-config", config, "hello"])
    async with stage(tmp_path, QUIET, options=options) as opened:
        assert [entry.name for entry in opened.bench.servers.entries] == ["given"]
        assert '"command" is missing' in notices(opened)
        assert "not approved" not in notices(opened)
