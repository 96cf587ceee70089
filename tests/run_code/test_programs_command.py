"""/programs, `mcode programs` and kept programs: what has run is there to be read, and may be run again by hand."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from mcode.call import Origin
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.errors import UsageError
from mcode.events import ToolFinished, ToolStarted
from mcode.subcommands.programs import main as programs_main
from mcode.subcommands.run import main as run_main
from mcode.ui.completion import Completer
from mcode.ui.file_names import FileNames
from mcode.ui.tui.own_commands import with_own_commands
from tests.run_code.sessions import project, session
from tests.stage import use
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.commands.registry import CommandResult
    from mcode.ui.tui.app import McodeApp
    from tests.stage import Stage

COUNT = (
    "// counts lines\n"
    "const names = ['a.txt', 'b.txt'];\n"
    "const all = await Promise.all(names.map(file_path => tools.Read({file_path})));\n"
    "return all.map(r => r.value.lines)"
)
ACCEPT = {"permissions": {"defaultMode": "acceptEdits"}}


async def command(here: Stage, line: str) -> CommandResult:
    registry = standard_registry()
    return await registry.run(line, CommandContext(here.agent, here.bench.surroundings(), registry))


async def test_programs_are_listed_and_one_is_shown_with_its_calls_beside_its_lines(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\ntwo\n", b_txt="three\n")
    async with session(tmp_path, COUNT, "return 1") as here:
        assert "No program has run" in (await command(here, "/programs")).text
        await here.say("go")
        listed = await command(here, "/programs")
        assert "#1" in listed.text
        assert "counts lines" in listed.text
        assert "2 programs, 2 calls" in listed.text
        assert "2 programs this session: " in (await command(here, "/tools Read")).text
        assert listed.data["programs"][0]["kept_out"] > 0
        assert listed.data["programs"][0]["peak_bytes"] > 1_000_000
        shown = (await command(here, "/programs 1")).text.split("\n")
        assert " MB of memory, " in shown[0]
        at = next(index for index, line in enumerate(shown) if "tools.Read" in line)
        assert shown[at + 1].split()[:3] == ["1", "ok", "Read"]
        assert re.search(r"  \d+ B  ", shown[at + 1])  # what the call brought in
        assert "(reads in the workspace)" in shown[at + 2]
        assert shown[-1] == "[2,1]"
        context = await command(here, "/context")
        assert "kept out of the context by programs this session" in context.text
        assert context.data["programs"]["calls"] == 2
        whole = json.loads((await command(here, "/programs export 1")).text)
        assert [record["type"] for record in whole["records"]] == ["start", "call", "call", "end"]
        assert (await command(here, "/programs 7")).failed
        await command(here, "/programs export 1 out.json")
        assert json.loads((here.project / "out.json").read_text())["number"] == 1


async def test_why_a_call_failed_stands_beside_its_line(tmp_path: Path) -> None:
    project(tmp_path)
    async with session(tmp_path, "await tools.Read({file_path: 'none.txt'}); return 1") as here:
        await here.say("go")
        shown = (await command(here, "/programs 1")).text.split("\n")
        (row,) = [line for line in shown if "failed" in line]
        assert row.split()[:3] == ["1", "failed", "Read"]
        assert "none.txt" in row.partition(" s  ")[2], row


async def test_a_kept_program_runs_by_its_name_with_arguments_and_without_a_model(tmp_path: Path) -> None:
    root = project(tmp_path, a_txt="one\ntwo\n", b_txt="three\n")
    async with session(tmp_path, COUNT) as here:
        await here.say("go")
        kept = await command(here, "/programs save count-lines")
        path = root / ".mcode/programs/count-lines.js"
        assert kept.data == {"path": str(path), "needs": ["Read"]}
        assert "// needs: Read\n" in path.read_text()
        path.write_text(
            path.read_text().replace("['a.txt', 'b.txt']", "args.names").replace("lines)", "lines * args.by)")
        )
        requests = len(here.client.requests)
        ran = await command(here, "/count-lines 'names=[\"a.txt\"]' by=10")
        assert ran.text == "ok: 1 call\n\n[20]"
        assert ran.on_card
        assert (await command(here, "/programs")).data["programs"][-1]["title"] == "count-lines"
        assert len(here.client.requests) == requests
        origins = [(each.call.tool, each.call.origin) for each in here.outcomes[-2:]]
        assert origins == [("Read", Origin.PROGRAM), ("run_code", Origin.USER)]
        assert here.journal[-1]["body"]["content"].startswith("I ran my program count-lines myself:")
        assert "count-lines" in (await command(here, "/programs kept")).text
        assert (await command(here, "/programs save count-lines")).failed
        assert "is a command of mcode" in (await command(here, "/programs save help")).text
        assert (await command(here, "/count-lines names")).failed
        assert "/count-lines [key=value ...]  counts lines" in (await command(here, "/help")).text
        registry = standard_registry()
        context = CommandContext(here.agent, here.bench.surroundings(), registry)
        completer = Completer(lambda: context, FileNames(lambda: (root,)))
        assert [each.text for each in await completer.matching("/count")] == ["/count-lines"]
        assert "mode first" in [each.text for each in await completer.matching("/programs mo")]


async def test_a_kept_program_says_which_tool_is_missing_and_nothing_runs(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".mcode/programs").mkdir(parents=True)
    (root / ".mcode/programs/lost.js").write_text("// needs: mcp__gone__list, Read\nreturn 1\n")
    async with session(tmp_path) as here:
        ran = await command(here, "/lost")
        assert ran.failed
        assert "needs mcp__gone__list, which this session does not have" in ran.text
        assert here.of(ToolStarted) == []


async def test_a_front_end_with_commands_of_its_own_runs_kept_programs_too(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".mcode/programs").mkdir(parents=True)
    (root / ".mcode/programs/short.js").write_text("return 2")
    front = cast("McodeApp", None)  # no command of it is run
    registry = with_own_commands(standard_registry(), front)
    async with session(tmp_path) as here:
        ran = await registry.run("/short", CommandContext(here.agent, here.bench.surroundings(), registry))
        assert ran.text == "ok: no calls\n\n2"


async def test_errors_of_a_kept_program_name_the_lines_of_its_file(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".mcode/programs").mkdir(parents=True)
    (root / ".mcode/programs/bad.js").write_text("// needs: no tools\n\nthrow new Error('here')\n")
    (root / ".mcode/programs/short.js").write_text("return args.a + 1")
    async with session(tmp_path) as here:
        assert "at line 3, column" in (await command(here, "/bad")).text
        assert (await command(here, "/short a=1")).text == "ok: no calls\n\n2"


async def test_esc_stops_a_kept_program(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".mcode/programs").mkdir(parents=True)
    text = "await tools.Glob({pattern: '*'});\nawait sleep(60000)"
    (root / ".mcode/programs/wait.js").write_text(text)
    async with session(tmp_path) as here:
        running = asyncio.create_task(command(here, "/wait"))
        await until(lambda: any(event.outcome.call.tool == "Glob" for event in here.of(ToolFinished)))
        assert here.agent.interrupt()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, 30)
        assert "The program was cancelled" in here.outcomes[-1].text
        assert not here.agent.interrupt()


async def test_one_call_is_cancelled_and_a_program_is_stopped_by_the_command(tmp_path: Path) -> None:
    project(tmp_path)
    code = "const r = await tools.Bash({command: 'sleep 60'});\nawait sleep(60000);\nreturn r.error.kind"
    settings = {"permissions": {"allow": ["Bash(sleep 60)"]}}
    async with session(tmp_path, code, settings=settings) as here:
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: any(event.call.tool == "Bash" for event in here.of(ToolStarted)))
        assert not (await command(here, "/programs cancel prog_1")).failed
        await until(lambda: any(event.outcome.call.tool == "Bash" for event in here.of(ToolFinished)))
        assert (await command(here, "/programs cancel prog_1")).failed
        assert not (await command(here, "/programs stop")).failed
        await asyncio.wait_for(turn, 30)
        assert "stopped_by_user" in here.outcomes[-1].text
        assert (await command(here, "/programs stop")).failed


async def test_a_switch_begins_a_new_prefix_that_is_in_the_journal(tmp_path: Path) -> None:
    project(tmp_path)
    async with session(tmp_path, prefixes=1) as here:
        await here.say("one")
        await command(here, "/programs mode first")
        await here.say("two")
        before, after = ([tool["name"] for tool in body["tools"]] for body in here.client.requests)
        assert "Read" in before
        assert "Read" not in after
        reasons = [record["body"]["reason"] for record in here.journal if record["type"] == "prefix"]
        assert reasons == ["start", "programs"]


async def test_first_moves_what_programs_can_call_out_of_the_request(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\n")
    direct = use("Read", "direct", file_path="a.txt")
    settings = {"mcode": {"programs": "first"}}
    async with session(tmp_path, direct, settings=settings) as here:
        await here.say("read it")
        names = [tool["name"] for tool in here.client.requests[0]["tools"]]
        assert "run_code" in names
        assert not {"Read", "Edit", "Bash", "Grep"} & set(names)
        (refused,) = here.outcomes
        assert "Use run_code with this program" in refused.text
        assert 'return await tools.Read({"file_path":"a.txt"});' in refused.text


async def test_a_session_goes_on_in_the_mode_it_was_switched_to(tmp_path: Path) -> None:
    project(tmp_path)
    async with session(tmp_path) as here:
        assert (await command(here, "/programs mode")).data == {"mode": "beside"}
        assert "begins anew" in (await command(here, "/programs mode first")).text
        assert (await command(here, "/programs mode sideways")).failed
        identifier = here.agent.session.id
        assert [record["body"] for record in here.journal if record["type"] == "programs"] == [
            {"mode": "first"}
        ]
    async with session(tmp_path, source="resume", reference=identifier) as here:
        assert (await command(here, "/programs mode")).data == {"mode": "first"}
        await command(here, "/programs mode off")
        await here.say("hello")
        assert "run_code" not in [tool["name"] for tool in here.client.requests[0]["tools"]]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """A subcommand without a process of its own; gives its exit code and what it prints."""
    commands = {"programs": programs_main, "run": run_main}

    def run(word: str, *words: str) -> tuple[int, str]:
        for name, value in environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("MCODE_CONFIG_DIR", raising=False)
        monkeypatch.chdir(tmp_path / "project")
        monkeypatch.setenv("PWD", str(tmp_path / "project"))
        code = commands[word](list(words))
        return code, capsys.readouterr().out

    return run


def environment(tmp_path: Path) -> dict[str, str]:
    root = Path(__file__).parents[2]
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": str(root)}


def from_the_shell(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The real program, run to its end in the project."""
    return subprocess.run(
        [sys.executable, "-m", "mcode", *words],
        cwd=tmp_path / "project",
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_mcode_run_and_mcode_programs_from_the_shell(
    tmp_path: Path, typed: Callable[..., tuple[int, str]]
) -> None:
    root = project(tmp_path, a_txt="one\ntwo\n")
    (tmp_path / "home").mkdir()
    (root / ".mcode/programs").mkdir(parents=True)
    (root / ".mcode/programs/lines.js").write_text(
        "// needs: Read, Write\n"
        "const {lines} = await must(tools.Read({file_path: args.file}));\n"
        "const w = await tools.Write({file_path: 'n.txt', content: `${lines}`});\n"
        "return [lines, w.ok ? 'written' : w.error.kind]\n"
    )
    ran = from_the_shell(tmp_path, "run", "lines", "--arg", "file=a.txt")
    assert (ran.returncode, ran.stdout) == (0, '[2,"denied"]\n'), ran.stderr
    wrong = from_the_shell(tmp_path, "run", "other")
    assert (wrong.returncode, wrong.stdout) == (2, ""), wrong.stderr
    (line,) = wrong.stderr.splitlines()
    assert "Kept there: lines." in line
    _, out = typed("run", "lines", "--arg", "file=a.txt", "--permission-mode", "acceptEdits", "--json")
    assert json.loads(out)["program"]["calls"] == 2
    assert (root / "n.txt").read_text() == "2"
    assert typed("run", "lines", "--arg", "file=none.txt")[0] == 1
    with pytest.raises(UsageError, match=r"Kept there: lines\."):
        typed("run", "other")
    listed = json.loads(typed("programs", "list", "--json")[1])
    assert [each["status"] for each in listed["programs"]] == ["exception"]
    assert "failed  Read" in typed("programs", "show", "1")[1]
    exported = json.loads(typed("programs", "export", "1")[1])
    assert exported["records"][0]["type"] == "start"
    with pytest.raises(UsageError, match="none is 4"):
        typed("programs", "show", "4")
