"""Standard input that never ends, standard output that cannot be written, and faults of mcode's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.script import parse_script
from tests.e2e.binary import PATIENCE, endpoint
from tools.messages_server import running_server

if TYPE_CHECKING:
    from mcode.model.script import Script
    from tests.e2e.binary import Machine

ENDING = 30.0
"""Seconds within which a signal ends mcode on a busy machine; a joined thread would never end."""


def saying(*replies: Any) -> Script:
    return parse_script({"turns": [{"reply": reply} for reply in replies]}, "test")


def message(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def shell(machine: Machine, line: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which "$@" is mcode."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *machine.command(*arguments)],
        cwd=machine.project,
        env=machine.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )


def catches_sigterm(process: int) -> bool:
    """Whether a process has set itself up for the signals that end it."""
    status = Path(f"/proc/{process}/status")
    if status.exists():
        (caught,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt"))
    else:
        told = subprocess.run(["ps", "-o", "caught=", "-p", str(process)], capture_output=True, text=True)
        caught = told.stdout.strip() or "0"
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize(
    ("arguments", "number", "code"),
    [
        (("-p",), signal.SIGTERM, 143),
        (("-p", "--input-format", "stream-json"), signal.SIGINT, 130),
    ],
)
def test_a_signal_ends_a_run_that_waits_for_standard_input(
    machine: Machine, arguments: tuple[str, ...], number: signal.Signals, code: int
) -> None:
    with running_server(saying("unused")) as server:
        process = subprocess.Popen(
            machine.command(*arguments, *endpoint(server)),
            cwd=machine.project,
            env=machine.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + PATIENCE
        while not catches_sigterm(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        try:
            assert process.wait(timeout=ENDING) == code
        finally:
            process.kill()
            process.communicate()
        assert server.bodies == []


def test_a_message_goes_out_although_an_inherited_pipe_stays_silent_and_that_is_said(
    machine: Machine,
) -> None:
    inherited, ours = os.pipe()
    try:
        with running_server(saying("Here.")) as server:
            process = machine.start("-p", "hello", server=server, stdin=inherited)
            out, err = process.communicate(PATIENCE)
    finally:
        os.close(inherited)
        os.close(ours)
    assert (process.returncode, out) == (0, b"Here.\n")
    assert b"Standard input is open but said nothing for 3 s" in err


def test_a_file_on_standard_input_is_read_to_its_end(machine: Machine) -> None:
    with running_server(saying("Seen.")) as server:
        ran = machine.run("-p", "read", stdin="x" * 200_000, server=server)
        sent = server.bodies[0]["messages"][0]["content"][-1]["text"]
    assert ran.code == 0, ran.err
    assert sent == "read\n\n" + "x" * 200_000


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_a_full_standard_output_is_exit_code_1_and_one_line(machine: Machine) -> None:
    with running_server(saying("lost")) as server, open("/dev/full", "wb") as full:
        run = machine.start("-p", "hello", server=server, stdout=full.fileno())
        _, errors = run.communicate(PATIENCE)
    version = shell(machine, '"$@" >/dev/full', "--version")
    assert (run.returncode, version.returncode) == (1, 1)
    for err in (errors, version.stderr):
        assert b"mcode: Standard output could not be written: No space left on device." in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("closed", [(0,), (2,)])
def test_a_stream_that_is_closed_at_the_start_is_no_fault(machine: Machine, closed: tuple[int, ...]) -> None:
    with running_server(saying("Here.")) as server:
        run = machine.start("-p", "hello", server=server, closed=closed)
        out, err = run.communicate(PATIENCE)
        assert len(server.bodies) == 1
    assert (run.returncode, out, err) == (0, b"Here.\n", b"")


@pytest.mark.parametrize(
    ("closed", "code", "out", "words"),
    [(">&-", 2, b"", b"mcode: Standard output is closed"), ("<&- 2>&-", 0, b"Here.\n", b"")],
)
def test_streams_that_are_closed_when_python_starts_are_no_fault_unless_the_answer_is_lost(
    machine: Machine, closed: str, code: int, out: bytes, words: bytes
) -> None:
    with running_server(saying("Here.")) as server:
        ran = shell(machine, f'"$@" {closed}', "-p", "hello", *endpoint(server))
        assert len(server.bodies) == (code == 0)
    assert (ran.returncode, ran.stdout) == (code, out), ran.stderr
    assert ran.stderr.startswith(words)
    assert len(ran.stderr.splitlines()) == bool(words)


def test_characters_that_the_encoding_cannot_show_are_written_as_escapes(machine: Machine) -> None:
    narrow = {"PYTHONIOENCODING": "ascii"}
    with running_server(saying("naïve → 日", "naïve → 😀")) as server:
        text = machine.run("-p", "hello", server=server, environment=narrow)
        body = machine.run("-p", "hello", "--output-format", "json", server=server, environment=narrow)
    assert (text.code, text.out) == (0, "na\\xefve \\u2192 \\u65e5\n"), text.err
    assert body.lines[0]["result"] == "naïve → 😀"


def test_a_reader_that_has_enough_is_no_fault(machine: Machine) -> None:
    with running_server(saying("One.", "Two.")) as server:
        arguments = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        given, giving = os.pipe()
        os.write(giving, (message("1") + message("2")).encode())
        os.close(giving)
        run = machine.start(*arguments, server=server, stdin=given)
        os.close(given)
        first = run.stdout.readline()
        run.stdout.close()
        err = run.errors()
    assert json.loads(first)["subtype"] == "init"
    assert err == b""


def test_a_bad_line_in_mid_run_ends_the_stream_with_a_result(machine: Machine) -> None:
    with running_server(saying("One.")) as server:
        arguments = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        ran = machine.run(*arguments, server=server, stdin=message("1") + "no message\n")
    assert ran.code == 2
    assert "Line 2" in ran.err
    results = [line["subtype"] for line in ran.lines if line["type"] == "result"]
    assert results == ["success", "error_during_execution"]
    assert ran.lines[-1]["type"] == "result"


def test_a_fault_of_our_own_is_one_line_with_an_id_that_the_log_explains(machine: Machine) -> None:
    program = (
        "import sys, mcode.start\n"
        "from mcode.__main__ import main\n"
        "def fail(options): raise KeyError('the cause')\n"
        "mcode.start.run_headless = fail\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "-p", "hello"],
        cwd=machine.project,
        env=machine.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert len(ran.stderr.splitlines()) == 1
    mark = ran.stderr.split("fault ")[1].split(".")[0]
    log = (machine.home / ".mcode" / "logs" / "mcode.log").read_text()
    assert f"fault {mark}" in log
    assert "KeyError: 'the cause'" in log
