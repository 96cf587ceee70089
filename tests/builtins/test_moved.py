"""A command that runs is moved to the background by the user: the turn goes on, and so does the command."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import Status
from mcode.wiring.options import Options
from tests.builtins.test_jobs import slash
from tests.children import no_process_left
from tests.stage import stage, turns, use
from tests.waiting import let_pass, until

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.stage import Stage

BYPASS = Options(skip_permissions=True)


@pytest.fixture(autouse=True)
def _nothing_left() -> Generator[None]:
    with no_process_left():
        yield


async def begun(here: Stage, text: str = "go") -> asyncio.Task[Any]:
    """A turn whose command has printed its first word."""
    turn = asyncio.create_task(here.say(text))
    await until(
        lambda: "begun" in str([event for event in here.events if "Progress" in type(event).__name__])
    )
    return turn


def gate(tmp_path: Path, then: str = "echo done") -> str:
    """A command that waits for a file named `open`."""
    return f"echo begun; until [ -e {tmp_path}/open ]; do sleep 0.02; done; {then}"


async def test_a_moved_command_goes_on_and_the_model_is_told_its_job(tmp_path: Path) -> None:
    script = turns(use("Bash", command=gate(tmp_path)), "it goes on", "it has ended", "nothing new")
    async with stage(tmp_path, script, options=BYPASS) as here:
        turn = await begun(here)
        (job,) = here.agent.jobs.move()
        assert (await turn).text == "it goes on"
        outcome = here.result()
        assert outcome.status is Status.OK
        assert "The user moved this command to the background" in outcome.text
        assert "background job b1" in outcome.text
        assert "begun" in outcome.text
        assert outcome.data["backgroundTaskId"] == "b1"
        assert job.running
        shown = await slash(here, "/tasks b1")
        assert "running" in shown.text
        assert "begun" in shown.text
        (tmp_path / "open").touch()
        await here.agent.jobs.wait(job, 30)
        assert job.state == "exit 0"
        assert job.file.read_text() == "begun\ndone\n"
        await here.say("and now?")
        await here.say("and now?")
        sent = [str(request["messages"]) for request in here.client.requests]
        assert [text.count("Background job b1 (") for text in sent[-2:]] == [1, 1]


async def test_a_moved_command_has_no_limit_of_time_any_more(tmp_path: Path) -> None:
    script = turns(use("Bash", command=gate(tmp_path), timeout=600_000), "it goes on")
    async with stage(tmp_path, script, options=BYPASS) as here:
        turn = await begun(here)
        (job,) = here.agent.jobs.move()
        await turn
        let_pass(601)
        await asyncio.sleep(0.3)
        assert job.running
        (tmp_path / "open").touch()
        await here.agent.jobs.wait(job, 30)
        assert job.state == "exit 0"


async def test_an_interrupt_behind_the_move_leaves_the_command_alone(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Bash", command=gate(tmp_path)), "x"), options=BYPASS) as here:
        turn = await begun(here)
        (job,) = here.agent.jobs.move()
        here.agent.interrupt()
        await turn
        assert job.running
        await here.agent.jobs.stop(job)
        assert job.state == "stopped"


async def test_b_06_an_interrupt_still_ends_a_command_that_was_not_moved(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Bash", command=gate(tmp_path)), "x"), options=BYPASS) as here:
        turn = await begun(here)
        here.agent.interrupt()
        assert (await turn).reason == "interrupted"
        outcome = here.result()
        assert outcome.status is Status.CANCELLED
        assert "begun" in outcome.text
        assert not here.agent.jobs.move()
        assert not list(here.agent.jobs)


async def test_the_users_own_command_can_be_moved_too(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("I see that it runs."), options=BYPASS) as here:
        own = asyncio.create_task(here.agent.shell(gate(tmp_path)))
        await until(lambda: bool(here.agent.jobs.movable))
        (job,) = here.agent.jobs.move()
        assert "background job b1" in (await own).text
        (tmp_path / "open").touch()
        await here.agent.jobs.wait(job, 30)
        assert job.state == "exit 0"


async def test_inside_a_program_a_command_simply_waits(tmp_path: Path) -> None:
    program = f"return (await tools.Bash({{command: {gate(tmp_path)!r}}})).value.stdout"
    async with stage(tmp_path, turns(use("run_code", code=program), "done"), options=BYPASS) as here:
        turn = await begun(here)
        assert not here.agent.jobs.move()
        (tmp_path / "open").touch()
        await turn
        assert "done" in here.result().text


async def test_what_was_moved_ends_with_mcode(tmp_path: Path) -> None:
    async with stage(
        tmp_path, turns(use("Bash", command=gate(tmp_path)), "it goes on"), options=BYPASS
    ) as here:
        turn = await begun(here)
        (job,) = here.agent.jobs.move()
        await turn
    await until(lambda: not job.running)


async def test_b_07_what_was_printed_before_and_after_the_move_is_whole_in_the_file(tmp_path: Path) -> None:
    command = gate(tmp_path, "seq 20001 40000")
    script = turns(use("Bash", command=f"seq 1 20000; {command}"), "it goes on")
    async with stage(tmp_path, script, options=BYPASS) as here:
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: here.agent.jobs.movable)
        (job,) = here.agent.jobs.move()
        await turn
        (tmp_path / "open").touch()
        await here.agent.jobs.wait(job, 20)
        lines = job.file.read_text().replace("begun\n", "").splitlines()
        assert lines == [str(number) for number in range(1, 40_001)]
