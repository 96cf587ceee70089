"""A job of the real program ends with it, however the program ends."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.model.script import parse_script
from tests.e2e.binary import PATIENCE
from tests.stage import use
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.binary import Machine

JOB = "(setsid sh -c 'echo $$ > child.pid; sleep 300; :' &); echo $$ > job.pid; sleep 301; :"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know too little of orphans")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_b_05_a_job_never_outlives_the_program(machine: Machine, number: signal.Signals) -> None:
    replies = (
        {
            "blocks": [use("Bash", "j", command="sh job.sh", run_in_background=True)],
            "stop_reason": "tool_use",
        },
        {"blocks": [use("Bash", "w", command="sleep 200")], "stop_reason": "tool_use"},
    )
    script = parse_script({"turns": [{"reply": reply} for reply in replies]}, "test")
    machine.settings({"permissions": {"allow": ["Bash(sh job.sh)", "Bash(sleep 200)"]}})
    (machine.project / "job.sh").write_text(JOB)
    files = [machine.project / name for name in ("job.pid", "child.pid")]
    with running_server(script) as server:
        run = machine.start("-p", "go", server=server)
        try:
            assert _soon(lambda: run.poll() is not None or all(map(_is_written, files)), PATIENCE)
            assert run.poll() is None
            pids = [int(file.read_text()) for file in files]
            assert all(map(_lives, pids))
        finally:
            run.send_signal(number)
            _, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode in {-signal.SIGKILL, 129}, errors.decode()
    assert _soon(lambda: not any(map(_lives, pids)), PATIENCE)


def test_a_run_that_ends_takes_its_job_along_and_its_last_line_is_its_result(machine: Machine) -> None:
    replies = (
        {
            "blocks": [use("Bash", "j", command="sh job.sh", run_in_background=True)],
            "stop_reason": "tool_use",
        },
        {"blocks": [use("Bash", "w", command="sh wait.sh")], "stop_reason": "tool_use"},
        {"blocks": [use("TaskOutput", "t", task_id="b1", block=False)], "stop_reason": "tool_use"},
        "bye",
    )
    script = parse_script({"turns": [{"reply": reply} for reply in replies]}, "test")
    machine.settings({"permissions": {"allow": ["Bash(sh job.sh)", "Bash(sh wait.sh)"]}})
    (machine.project / "job.sh").write_text("echo $$ | tee job.pid; touch begun; sleep 301; :")
    (machine.project / "wait.sh").write_text("until [ -e begun ]; do sleep 0.02; done")
    with running_server(script) as server:
        ran = machine.run("-p", "go", "--output-format", "stream-json", server=server)
    assert ran.code == 0, ran.err
    assert ran.lines[-1]["type"] == "result"
    (shown,) = [
        line["tool_use_result"]
        for line in ran.lines
        if "TaskOutput" not in str(line.get("message")) and "status" in str(line.get("tool_use_result"))
    ]
    assert shown["status"] == "running"
    job = int((machine.project / "job.pid").read_text())
    assert _soon(lambda: not _lives(job), PATIENCE)


def _is_written(file: Path) -> bool:
    return file.exists() and file.read_text().endswith("\n")


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def _soon(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
