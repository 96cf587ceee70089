"""Starting where starting is hard, with the real program: it works, or says why."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.binary import PATIENCE, ROOT, Machine

if TYPE_CHECKING:
    from pathlib import Path


WITNESS = """
import os, sys
seen = os.open({seen!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def write_down(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.posix_spawn"):
        os.write(seen, f"{{event}} {{arguments!r}}\\n".encode("utf-8", "replace"))

sys.addaudithook(write_down)
"""
"""Python text that runs at its start and writes down what is opened, listed and started."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.fresh(tmp_path)


def test_l_01_a_folder_with_many_files_delays_nothing(machine: Machine) -> None:
    """Its files are not looked at before they are asked for."""
    crowd = machine.project / "crowd"
    for group in range(20):
        (crowd / str(group)).mkdir(parents=True)
        for number in range(50):
            (crowd / str(group) / f"file-{number}.py").touch()
    witness, seen = machine.home / "witness", machine.home / "seen"
    witness.mkdir()
    (witness / "sitecustomize.py").write_text(WITNESS.format(seen=str(seen)))
    around = {"PYTHONPATH": f"{witness}{os.pathsep}{ROOT}"}
    assert machine.run("-p", "--demo", "/status", environment=around).code == 0
    told = seen.read_text()
    assert f"{machine.project}/" in told, "it would be seen"
    assert str(crowd) not in told
    started = {line for line in told.splitlines() if not line.startswith(("open", "os."))}
    assert not [line for line in started if "rg" in line or "find" in line]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every directory")
def test_l_01_a_folder_without_permission_is_named(machine: Machine) -> None:
    closed = machine.project / "closed"
    closed.mkdir()
    closed.chmod(0o300)
    ran = machine.run("-p", "--demo", "/status", cwd=closed)
    closed.chmod(0o700)
    assert ran.code == 2
    assert "cannot be read" in ran.err


def test_l_01_a_folder_that_was_deleted_is_named(machine: Machine) -> None:
    gone = machine.project / "gone"
    gone.mkdir()
    command = shlex.join(machine.command("-p", "--demo", "/status"))
    ran = subprocess.run(
        ["bash", "-c", f"cd {gone} && rmdir {gone} && exec {command}"],
        env=machine.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "directory" in ran.stderr


def test_l_01_without_a_home_it_works_or_says_what_to_set(machine: Machine) -> None:
    ran = machine.run("-p", "--demo", "/status", environment={"HOME": str(machine.home / "missing")})
    assert ran.code in (0, 1, 2)
    assert "Traceback" not in ran.err
    assert ran.code == 0 or str(machine.home / "missing") in ran.err


def test_l_01_a_home_that_is_a_file_is_named(machine: Machine) -> None:
    odd = machine.project / "file"
    odd.write_text("")
    ran = machine.run("-p", "--demo", "/status", environment={"HOME": str(odd)})
    assert ran.code in (1, 2)
    assert str(odd) in ran.err
    assert "Traceback" not in ran.err


def test_l_06_a_message_of_more_than_ten_megabytes_is_refused_with_the_limit(machine: Machine) -> None:
    ran = machine.run("-p", "--demo", stdin="words of mine\n" * 800_000)
    assert ran.code == 2
    assert "over the limit of 10485760 bytes" in ran.err
    assert "put it in a file" in ran.err
    assert not machine.sessions or len(machine.sessions[-1].read_bytes()) < 100_000


def test_l_06_a_message_with_nul_and_control_characters_reaches_the_session_and_breaks_nothing(
    machine: Machine,
) -> None:
    ran = machine.run("-p", "--demo", stdin="a\0b\x1b[31m\x07 hello")
    assert ran.code == 0, ran.err
    records = [json.loads(line) for line in machine.sessions[-1].read_text("utf-8").splitlines()]
    (user,) = [record["body"] for record in records if record["type"] == "user"]
    assert "hello" in user["text"]
    again = machine.run("-p", "--demo", "--continue", "still there?")
    assert again.code == 0, again.err


def test_l_06_a_thousand_mentions_are_bounded(machine: Machine) -> None:
    for number in range(1000):
        (machine.project / f"m{number}.txt").write_text(f"content {number}\n")
    message = " ".join(f"@m{number}.txt" for number in range(1000))
    ran = machine.run("-p", "--demo", stdin=message)
    assert "Traceback" not in ran.err
    assert ran.code == 0 or ran.err


def test_l_07_records_and_fields_of_a_newer_version_are_kept(machine: Machine) -> None:
    assert machine.run("-p", "--demo", "hello").code == 0
    journal = machine.sessions[-1]
    lines = journal.read_text("utf-8").splitlines()
    last = json.loads(lines[-1])
    newer = {**last, "seq": last.get("seq", 0) + 1, "type": "from_the_future", "body": {"field": "kept"}}
    for name in ("sequence", "n"):
        if name in last:
            newer[name] = last[name] + 1
    journal.write_text("\n".join((*lines, json.dumps(newer))) + "\n")
    ran = machine.run("-p", "--demo", "--continue", "go on")
    assert ran.code == 0, ran.err
    assert '"from_the_future"' in journal.read_text("utf-8")
