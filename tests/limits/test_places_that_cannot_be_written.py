"""Places that cannot be read or written, with the real program: it says which, why, and what to do; nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.binary import Machine, Ran

if TYPE_CHECKING:
    from pathlib import Path

AS_ANYBODY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Takes from root what the permissions of files do not bind."""

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write in every directory"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.fresh(tmp_path)


def run(
    machine: Machine, *arguments: str, words: tuple[str, ...] = ("-p", "--demo"), **environment: str
) -> Ran:
    """Run mcode, by default the offline guide, as somebody whom permissions bind."""
    before = AS_ANYBODY if os.geteuid() == 0 else ()
    ended = subprocess.run(
        [*before, *machine.command(*words, *arguments)],
        cwd=machine.project,
        env={**machine.environment, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    ran = Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert "Traceback" not in ran.out + ran.err
    return ran


def test_l_01_a_home_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.home.chmod(0o500)
    ran = run(machine, "hello")
    machine.home.chmod(0o700)
    assert (ran.code, ran.out) == (1, "")
    assert f"{machine.home}/.mcode" in ran.err
    assert "permission denied" in ran.err
    assert "Nothing was changed" in ran.err
    assert f"Give yourself the right to write in {machine.home}, then try again" in ran.err


def test_l_01_the_doctor_names_a_home_that_cannot_be_written_and_looks_at_the_rest(machine: Machine) -> None:
    machine.home.chmod(0o500)
    ran = run(machine, words=("doctor", "--offline"))
    machine.home.chmod(0o700)
    assert (ran.code, ran.err) == (1, "")
    assert f"Nothing can be kept in the directory: {machine.home}/.mcode (permission denied)" in ran.out
    assert f"Give yourself the right to write in {machine.home}" in ran.out
    assert "sandbox" in ran.out


def test_l_01_a_file_in_the_place_of_the_state_directory_is_named_and_kept(machine: Machine) -> None:
    (machine.home / ".mcode").write_text("mine")
    ran = run(machine, "hello")
    assert ran.code == 1
    assert f"{machine.home}/.mcode is no directory: move it away" in ran.err
    assert (machine.home / ".mcode").read_text() == "mine"


def test_l_01_a_log_that_cannot_be_written_lets_nothing_run_and_says_so(machine: Machine) -> None:
    logs = machine.home / ".mcode" / "logs"
    logs.mkdir(parents=True)
    logs.chmod(0o500)
    ran = run(machine, "hello")
    logs.chmod(0o700)
    assert ran.code == 1
    assert f"{logs}/verdicts.jsonl" in ran.err
    assert "A call whose decision is not recorded does not run; nothing was changed" in ran.err
    assert f"Give yourself the right to write in {logs}, then try again" in ran.err


def test_j_06_settings_that_cannot_be_used_are_said_and_left_as_they_are(machine: Machine) -> None:
    path = machine.home / ".mcode" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"permissions": {"deny": ["Bash(rm *)"]')
    ran = run(machine, "/status")
    assert ran.code == 0
    assert f"{path}: this file is not valid JSON" in ran.err
    assert "it is skipped, all other files count. Mend it and start again" in ran.err
    assert path.read_text() == '{"permissions": {"deny": ["Bash(rm *)"]'
