"""Background jobs as the model and the user meet them: started, looked at, announced, ended with mcode."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.builtins.bash import Bash
from mcode.builtins.jobs import Jobs
from mcode.call import Call, Origin
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.events import Notice, TodosChanged
from mcode.process.environment import child_environment
from mcode.process.output import SPILL_LIMIT
from mcode.process.secrets import SecretFilter
from mcode.tool import Workspace
from mcode.wiring.options import Options
from tests.builtins.conftest import Services
from tests.children import no_process_left, wait_until
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.stage import Stage

KEY = "zq-" + "0123456789" + "abcdefghij"


BYPASS = Options(skip_permissions=True)


@pytest.fixture(autouse=True)
def _nothing_left() -> Generator[None]:
    with no_process_left():
        yield


def job(command: str, identifier: str = "", **more: Any) -> dict[str, Any]:
    return use("Bash", identifier, command=command, run_in_background=True, **more)


def file_of(here: Stage, number: int = 1) -> Path:
    return here.agent.jobs.find(f"b{number}").file


async def slash(here: Stage, line: str) -> Any:
    context = CommandContext(here.agent, here.bench.surroundings(), standard_registry())
    return await context.registry.run(line, context)


# --- starting and announcing


async def test_b_05_a_job_goes_on_while_the_conversation_does_and_its_end_is_told_once(
    tmp_path: Path,
) -> None:
    command = "echo begun; until [ -e go ]; do sleep 0.02; done; echo done"
    async with stage(
        tmp_path, turns(job(command), "it runs", "I know", "nothing new"), options=BYPASS
    ) as here:
        await here.say("build it")
        started = here.outcomes[0]
        assert "background job b1" in started.text
        assert started.data["backgroundTaskId"] == "b1"
        assert here.agent.jobs.find("b1").running
        (here.project / "go").touch()
        await here.agent.jobs.wait(here.agent.jobs.find("b1"), 30)
        assert any("b1 has ended: exit 0" in notice.text for notice in here.of(Notice))
        await here.say("and now?")
        await here.say("and now?")
        sent = [str(request["messages"]) for request in here.client.requests]
        said = f"Background job b1 (`{command}`) has ended: exit 0"
        assert said not in sent[1]
        assert said in sent[2]
        assert sent[3].count(said) == 1
        assert file_of(here).read_text() == "begun\ndone\n"
        assert file_of(here).stat().st_mode & 0o777 == 0o600


async def test_a_job_that_fails_at_once_is_told_with_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcode.builtins.jobs.FIRST_LOOK", 30.0)
    async with stage(tmp_path, turns(job("nosuchprogram_x"), "oh", "quiet"), options=BYPASS) as here:
        await here.say("go")
        assert "has ended already: exit 127" in here.result().text
        assert "nosuchprogram_x: command not found" in here.result().text
        await here.say("and?")
        assert "Background job b1 (" not in str(here.client.requests[-1]["messages"])


async def test_the_job_does_not_move_the_directory_and_obeys_a_given_time_limit(tmp_path: Path) -> None:
    script = turns(job("mkdir sub; cd sub; sleep 30", timeout=300), "ok")
    async with stage(tmp_path, script, options=BYPASS) as here:
        await here.say("go")
        await here.agent.jobs.wait(here.agent.jobs.find("b1"), 30)
        assert here.agent.jobs.find("b1").state == "timed out"
        assert here.agent.workspace.current == here.project


async def test_a_program_is_refused_and_told_to_wait(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    call = Call("c1", "Bash", {}, Origin.PROGRAM, parent="p1")
    tool = Bash(lambda _: child_environment(os.environ), jobs=Jobs())
    result = await tool.run({"command": "touch x", "run_in_background": True}, Services(call, workspace))
    assert result.failure is not None
    assert "a program simply waits" in result.text
    assert "Nothing was run" in result.text
    assert not (tmp_path / "x").exists()


async def test_a_rule_can_forbid_the_background_alone(tmp_path: Path) -> None:
    rules = {"permissions": {"deny": ["Bash(run_in_background:true)"]}}
    script = turns(job("true", "a"), "no", use("Bash", "b", command="true"), "yes")
    async with stage(tmp_path, script, settings=rules) as here:
        here.answer("once")
        await here.say("one")
        await here.say("two")
        assert [outcome.is_error for outcome in here.outcomes] == [True, False]
        assert "Bash(run_in_background:true)" in here.outcomes[0].text


async def test_the_user_sees_that_a_command_would_run_in_the_background() -> None:
    preview = await Bash(lambda _: {}).preview(
        {"command": "make\n", "run_in_background": True}, Workspace(Path("/w"))
    )
    assert (preview.title, preview.body) == ("make (in the background)", "make\n")


# --- looking and ending


async def test_task_output_waits_shows_what_is_new_and_task_stop_ends_everything(tmp_path: Path) -> None:
    script = turns(
        job("echo one; until [ -e go ]; do sleep 0.02; done; echo two; (setsid sleep 60 &); sleep 60"),
        "ok",
        use("TaskOutput", "t1", task_id="b1", block=False),
        "ok",
        use("TaskOutput", "t2", task_id="b1", timeout=200),
        "ok",
        use("TaskStop", "t3", task_id="b1"),
        "ok",
        use("TaskOutput", "t4", task_id="b7"),
        "ok",
    )
    async with stage(tmp_path, script) as here:
        here.answer("once")
        for text in "abcde":
            await here.say(text)
            if text == "a":
                await until(lambda: "one" in file_of(here).read_text())
            elif text == "b":
                (here.project / "go").touch()
                await until(lambda: "two" in file_of(here).read_text())
        _, first, second, third, missing = here.outcomes
        assert first.text.startswith("Job b1 is running")
        assert first.data["output"] == "one"
        assert second.data["output"] == "two"
        assert third.data["status"] == "stopped"
        assert third.data["output"] == ""
        assert "There is no background job 'b7' (jobs of this session: b1)" in missing.text


async def test_tasks_lists_shows_and_ends_jobs(tmp_path: Path) -> None:
    script = turns([job("echo hello; sleep 60", "j1"), job("sleep 61", "j2")], "ok", "ok")
    async with stage(tmp_path, script, options=BYPASS) as here:
        assert (await slash(here, "/tasks")).text == "No background jobs in this session."
        await here.say("go")
        listed = (await slash(here, "/tasks")).text
        await until(lambda: "hello" in file_of(here).read_text())
        assert "2 background jobs, 2 running" in listed
        assert "b1  running" in listed
        shown = await slash(here, "/tasks b1")
        assert "hello" in shown.text
        assert "Ended b1" in (await slash(here, "/tasks stop b1")).text
        assert "b1  stopped" in (await slash(here, "/tasks")).text
        assert (await slash(here, "/tasks stop all")).data == {"stopped": ["b2"]}
        assert (await slash(here, "/tasks b9")).failed
        assert (await slash(here, "/tasks stop")).failed
        await here.say("and?")
        assert "has ended: stopped" in str(here.client.requests[-1]["messages"])


# --- the end of mcode


async def test_b_05_jobs_end_with_the_session_and_a_resumed_one_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(job("sleep 60; echo never"), "ok"), options=BYPASS) as here:
        await here.say("go")
        session = here.agent.session.id
    assert any("ended with the session: sleep 60" in notice.text for notice in here.of(Notice))
    async with stage(
        tmp_path, turns(job("true"), "I see", "ok"), options=BYPASS, source="resume", reference=session
    ) as again:
        await again.say("well?")
        assert "b1 (`sleep 60; echo never`) of the earlier run was ended together with mcode" in str(
            again.client.requests[0]["messages"]
        )
        assert again.outcomes[-1].data["backgroundTaskId"] == "b2"


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from mcode.builtins.bash import Bash
from mcode.builtins.jobs import Jobs
from mcode.call import Call
from mcode.process.environment import child_environment
from mcode.tool import Workspace
from tests.builtins.conftest import Services

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it (nohup)

async def main():
    place = Path(sys.argv[1])
    tool = Bash(lambda _: child_environment(os.environ), jobs=Jobs())
    command = "(setsid bash -c 'echo $$ > grandchild; sleep 300; :' &); env -i sleep 301 & echo $! > bare; wait; :"
    services = Services(Call("c", "Bash", {}), Workspace(place))
    left = "(setsid bash -c 'echo $$ > left; sleep 302; :' > /dev/null 2>&1 &)"
    await tool.run({"command": left}, services)
    await tool.run({"command": command, "run_in_background": True}, services)
    files = [place / name for name in ("grandchild", "bare", "left")]
    async with asyncio.timeout(60):
        while not all(file.exists() and file.read_text().endswith("\\n") for file in files):
            await asyncio.sleep(0.01)
    print("ready", flush=True)
    await asyncio.sleep(300)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know too little of orphans")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_b_05_a_killed_mcode_takes_its_jobs_with_it(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        pids = [int((tmp_path / name).read_text()) for name in ("grandchild", "bare", "left")]
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        run.send_signal(number)
        run.wait(30)
    assert wait_until(lambda: not any(_lives(pid) for pid in pids))


KILLED_AT_THE_START = """
import asyncio, os, signal, sys, time
from pathlib import Path
from mcode.process import tree
from mcode.builtins.bash import Bash
from mcode.builtins.jobs import Jobs
from mcode.call import Call
from mcode.process.environment import child_environment
from mcode.tool import Workspace
from tests.builtins.conftest import Services

place = Path(sys.argv[1])

def die(*_):
    signal.alarm(50)
    while not ((place / "job").exists() and (place / "job").read_text().endswith("\\n")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

tree.Family.begin = die
tool = Bash(lambda _: child_environment(os.environ), jobs=Jobs())
command = "setsid bash -c 'echo $$ > job; sleep 303; :'"
services = Services(Call("c", "Bash", {}), Workspace(place))
asyncio.run(tool.run({"command": command, "run_in_background": True}, services))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know too little of orphans")
def test_b_05_a_job_ends_with_an_mcode_that_is_killed_right_behind_its_start(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED_AT_THE_START, str(tmp_path)], timeout=60)
    assert run.returncode == -signal.SIGKILL
    pid = int((tmp_path / "job").read_text())
    assert wait_until(lambda: not _lives(pid))


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def test_the_guard_goes_with_the_last_job(tmp_path: Path) -> None:
    jobs = Jobs()
    tool = Bash(lambda _: child_environment(os.environ), jobs=jobs)
    services = Services(Call("c", "Bash", {}), Workspace(tmp_path))
    command = "until [ -e go ]; do sleep 0.02; done"
    await tool.run({"command": command, "run_in_background": True}, services)
    (running,) = jobs.running
    (tmp_path / "go").touch()
    await jobs.wait(running, 30)
    assert running.state == "exit 0"  # and the fixture finds no guard left


# --- the file


async def test_b_05_the_file_has_a_cap_and_says_so(tmp_path: Path) -> None:
    jobs = Jobs()
    tool = Bash(lambda _: child_environment(os.environ), jobs=jobs)
    services = Services(Call("c", "Bash", {}), Workspace(tmp_path))
    command = f"head -c {SPILL_LIMIT + 1000} /dev/zero; sleep 0.3"
    await tool.run({"command": command, "run_in_background": True}, services)
    found = jobs.find("b1")
    await jobs.wait(found, 30)
    assert found.file.stat().st_size == SPILL_LIMIT
    assert "holds the first 64 MB only" in found.notes[0]


async def test_l_03_a_job_that_floods_without_end_costs_little(tmp_path: Path) -> None:
    jobs = Jobs()
    tool = Bash(lambda _: child_environment(os.environ), jobs=jobs)
    services = Services(Call("c", "Bash", {}), Workspace(tmp_path))
    await tool.run({"command": "yes", "run_in_background": True}, services)
    (flood,) = jobs.running
    await until(lambda: flood.file.stat().st_size >= SPILL_LIMIT, "a full file")
    used, began = time.process_time(), time.monotonic()
    await asyncio.sleep(0.5)
    assert time.process_time() - used < 0.4 * (time.monotonic() - began)
    await jobs.stop(flood)
    assert flood.state == "stopped"


@pytest.mark.parametrize("background", [False, True])
async def test_k_03_output_files_hold_no_key_even_one_that_comes_in_pieces(
    tmp_path: Path, background: bool
) -> None:
    half = len(KEY) // 2
    jobs = Jobs()
    tool = Bash(
        lambda _: child_environment(os.environ),
        jobs=jobs,
        output_limit=2000,
        secrets=((KEY.encode(), b"MARK"),),
    )
    services = Services(Call("c", "Bash", {}), Workspace(tmp_path))
    command = (
        f"printf '{KEY[:half]}'; sleep 0.1; echo err >&2; printf '{KEY[half:]}x'; seq 1000; "
        f"printf '{KEY}' >&2; printf '{KEY[:-1]}'"
    )
    await tool.run({"command": command, "run_in_background": background}, services)
    for each in jobs:
        await jobs.wait(each, 30)
    text = (tmp_path / "spill.txt").read_text()
    assert KEY not in text
    assert text.count("MARK") == 2
    assert KEY[:-1] in text  # the beginning of a key is no key


def test_a_filter_passes_everything_else_byte_for_byte() -> None:
    data = bytes(range(256)) * 3 + KEY.encode() + b"tail" + KEY.encode()[:5]
    for size in (1, 2, 7, 1000):
        stream = SecretFilter(((KEY.encode(), b"M"), (b"tail-never", b"N")))
        out = (
            b"".join(stream.feed(data[at : at + size]) for at in range(0, len(data), size)) + stream.finish()
        )
        assert out == bytes(range(256)) * 3 + b"Mtail" + KEY.encode()[:5]


# --- beside


async def test_todos_changed_is_emitted_behind_the_call(tmp_path: Path) -> None:
    todos = [{"content": "a", "status": "pending"}]
    async with stage(tmp_path, turns(use("TodoWrite", todos=todos), "ok")) as here:
        await here.say("plan")
        await asyncio.sleep(0)
        assert here.of(TodosChanged)[-1].todos == tuple(todos)


async def test_deferred_tools_are_in_no_first_request_and_still_run_when_called(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("hello")) as here:
        await here.say("hi")
        names = {tool["name"] for tool in here.client.requests[0]["tools"]}
        assert not names & {"TaskOutput", "TaskStop", "WebFetch", "NotebookEdit", "MemoryNote"}
