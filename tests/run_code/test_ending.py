"""Programs that somebody ends: the user, a hook, the system; and what is told of what they had done."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import FailureKind, Status
from mcode.errors import StorageError
from tests.children import is_alive, living, wait_until
from tests.run_code.workplace import QUICK, Failed, outcome_of
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult
    from tests.run_code.workplace import Ran, Workplace


async def cancelled(task: asyncio.Task[Ran]) -> ToolResult:
    """Cancel a program as Esc does; returns what it leaves for the model's record."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as stopped:
        (result,) = stopped.args
        return result
    raise AssertionError("the program was not cancelled")


async def hang(_: JsonObject) -> str:
    await asyncio.sleep(60)
    return "never"


async def test_30_a_spinning_program_is_cancelled_and_leaves_no_process(place: Workplace) -> None:
    before = living()
    place.limits = replace(QUICK, cpu=20.0)
    task = place.start("while (true) {}")
    await until(lambda: bool(living() - before))
    await asyncio.sleep(0.1)
    result = await cancelled(task)
    assert result.data["status"] == "cancelled"
    assert "cancelled when the user stopped the turn" in result.text
    await place.close()
    assert wait_until(lambda: living() <= before)


async def test_r_06_a_program_is_cancelled_while_its_calls_run_and_says_what_is_done(
    place: Workplace,
) -> None:
    place.tool("Write", lambda _: "written", reads=False)
    place.tool("Bash", hang, reads=False)
    task = place.start(
        "await tools.Write({file_path: 'a'});\n"
        "const one = tools.Bash({command: 'sleep'});\n"
        "const two = tools.Bash({command: 'later'});\n"
        "await one"
    )
    await until(lambda: place.running == 1 and len(place.calls) == 2)
    result = await cancelled(task)
    assert place.running == 0
    assert result.text.startswith("failed (cancelled): 3 calls, 1 cancelled, 1 not started")
    assert '- Write {"file_path":"a"} (call 1, line 1): done' in result.text
    assert '- Bash {"command":"sleep"} (call 2, line 2): cancelled, and may have had effects' in result.text
    assert 'never started:\n- Bash {"command":"later"} (call 3, line 3)' in result.text
    assert len(place.calls) == 2
    assert (await place.run("1 + 1")).value == "2"


async def test_30_a_program_whose_worker_is_killed_from_outside_says_so(place: Workplace) -> None:
    place.tool("Write", lambda _: "written", reads=False)
    before = living()
    task = place.start("await tools.Write({});\nawait sleep(60_000)")
    await until(lambda: len(place.calls) == 1)
    await asyncio.sleep(0.1)
    killed = living() - before  # the program's, and the spare where it is there already
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    ran = await task
    assert ran.status == "worker_died"
    assert "The engine's process died (SIGKILL)" in ran.text
    assert "- Write {} (call 1, line 1): done" in ran.text
    assert wait_until(lambda: not any(map(is_alive, killed)))
    assert (await place.run("1 + 1")).value == "2"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
async def test_r_06_a_crash_of_the_engine_is_an_error_with_the_list_of_calls(
    place: Workplace, number: signal.Signals
) -> None:
    before = living()
    place.tool("Edit", lambda _: "done", reads=False)
    task = place.start("await tools.Edit({}); while (true) await sleep(1)")
    await until(lambda: len(place.calls) == 1)
    for pid in living() - before:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    ran = await task
    assert ran.status == "worker_died"
    assert number.name in ran.text
    assert "- Edit {}" in ran.text


async def test_a_dead_spare_is_replaced_unnoticed(place: Workplace) -> None:
    before = living()
    await place.run("1")
    await until(lambda: len(living() - before) == 1)
    await asyncio.sleep(0.1)
    spares = living() - before  # on a slow machine the used one may be there still
    for spare in spares:
        with contextlib.suppress(ProcessLookupError):
            os.kill(spare, signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, spares)))
    assert (await place.run("6")).value == "6"


async def test_one_call_is_cancelled_and_the_program_goes_on(place: Workplace) -> None:
    place.tool("Bash", hang, reads=False)
    task = place.start("const r = await tools.Bash({});\nreturn [r.ok, r.error.kind, r.error.message]")
    await until(lambda: place.running == 1)
    assert place.run_code.cancel_call(place.calls[0].id)
    ran = await task
    assert ran.value == '[false,"cancelled","Bash was cancelled while it ran; it may have had effects"]'
    assert ran.text.startswith("ok: 1 call, 1 cancelled")
    assert not place.run_code.cancel_call(place.calls[0].id)


async def test_the_user_stops_a_program(place: Workplace) -> None:
    place.tool("Write", lambda _: "written", reads=False)
    place.tool("Bash", hang, reads=False)
    task = place.start("await tools.Write({}); await tools.Bash({}); await tools.Write({})")
    await until(lambda: place.running == 1 and len(place.calls) == 2)
    assert place.run_code.stop("p1", "this goes the wrong way")
    ran = await task
    assert ran.status == "stopped_by_user"
    assert ran.result.failure is FailureKind.DENIED
    assert "The user stopped the program: this goes the wrong way. Ask before going on." in ran.text
    assert "- Write {} (call 1, line 1): done" in ran.text
    assert [call["state"] for call in ran.calls] == ["ok", "cancelled"]
    assert not place.run_code.stop("p1", "again")


async def test_three_denials_in_a_row_stop_a_program(place: Workplace) -> None:
    denied = Failed(FailureKind.DENIED, "the user said no: not there", Status.DENIED)
    place.tool("Write", lambda _: denied, reads=False)
    ran = await place.run("for (let n = 0; n < 9; n++) await tools.Write({n});\nreturn 'done'")
    assert ran.status == "stopped_by_user"
    assert "3 calls in a row were denied" in ran.text
    assert ran.text.startswith("failed (stopped_by_user): 3 calls, 3 denied")
    ruled = Failed(FailureKind.DENIED, "denied by the rule Write", Status.DENIED)
    place.tool("Edit", lambda _: ruled, reads=False)
    ran = await place.run("for (let n = 0; n < 9; n++) await tools.Edit({n});\nreturn 'done'")
    assert ran.value == "done"


async def test_an_approval_in_between_begins_the_count_anew(place: Workplace) -> None:
    def write(arguments: JsonObject) -> Any:
        call = place.calls[-1]
        if arguments["n"] % 3 == 2:
            return replace(outcome_of(call, "written"), decision="approved by you")
        return Failed(FailureKind.DENIED, "the user said no: not there", Status.DENIED)

    place.tool("Write", write, reads=False)
    ran = await place.run("for (let n = 0; n < 8; n++) await tools.Write({n});\nreturn 'done'")
    assert ran.value == "done"
    assert ran.text.startswith("ok: 8 calls, 6 denied")


async def test_a_hook_that_ends_the_turn_ends_the_program(place: Workplace) -> None:
    def write(_: JsonObject) -> Any:
        return replace(outcome_of(place.calls[-1], "written"), stop_turn="enough for today")

    place.tool("Write", write, reads=False)
    ran = await place.run("while (true) await tools.Write({})")
    assert ran.status == "stopped_by_hook"
    assert "A hook stopped the program: enough for today" in ran.text
    assert len(place.calls) == 1
    assert "- Write {} (call 1, line 1): done" in ran.text


async def test_a_session_whose_disk_fails_ends_program_and_call(place: Workplace) -> None:
    def write(_: JsonObject) -> str:
        raise StorageError("the disk is full")

    place.tool("Write", write, reads=False)
    with pytest.raises(StorageError, match="the disk is full"):
        await place.run("await tools.Write({}); while (true) {}")
    assert (await place.run("1 + 1")).value == "2"


async def test_waiting_for_a_call_is_never_charged(place: Workplace) -> None:
    async def slow(_: JsonObject) -> str:
        await asyncio.sleep(4 * QUICK.cpu)
        return "at last"

    place.tool("Write", slow, reads=False)
    ran = await place.run("return (await tools.Write({})).value")
    assert ran.value == "at last"
    assert ran.audit[-1]["wall_ms"] > 4000 * QUICK.cpu
    assert ran.audit[-1]["cpu_ms"] < 50


async def test_two_programs_of_one_message_run_one_after_the_other(place: Workplace) -> None:
    async def slow(_: JsonObject) -> str:
        await asyncio.sleep(0.02)
        return "x"

    place.tool("Write", slow, reads=False)
    code = "for (let n = 0; n < 3; n++) await tools.Write({n})"
    await asyncio.gather(place.run(code), place.run(code))
    assert place.most_running == 1
    assert [call.parent for call in place.calls] == ["p1"] * 3 + ["p2"] * 3


async def test_a_worker_that_stops_answering_is_ended_by_the_watch(place: Workplace) -> None:
    place.limits = replace(QUICK, watch_extra=0.2)
    before = living()
    place.tool("Read", lambda _: "it runs")
    task = place.start("await tools.Read({}); while (true) await sleep(5)")
    await until(lambda: len(place.calls) == 1)
    for pid in living() - before:
        os.kill(pid, signal.SIGSTOP)
    ran = await asyncio.wait_for(task, 30)
    assert ran.status == "cpu_limit"
    assert "it did not answer for" in ran.text
