"""The one road to a run of git that nobody has asked for."""

from __future__ import annotations

import os
from pathlib import Path

import mcode
from mcode.agent.inert_git import InertGit
from tests.agent.test_worktrees import git


async def test_it_runs_nothing_of_the_repository_and_says_why_it_fails(tmp_path: Path) -> None:
    top, ran = tmp_path / "repository", tmp_path / "ran"
    top.mkdir()
    git(top, "init", "-q")
    monitor = top / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch {ran}\n")
    monitor.chmod(0o755)
    inert = InertGit.outside((top,), os.environ)
    assert inert is not None
    whole = await inert.answer(top, "status", "--porcelain")
    assert (whole.text, whole.fault, whole.is_whole) == ("?? monitor\n", "", True)
    assert not (await inert.answer(top, "status", "--porcelain", output_limit=2)).is_whole
    assert "git rev-parse failed: fatal: " in (await inert.answer(top, "rev-parse", "--verify", "HEAD")).fault
    git(top, "config", "core.fsmonitor", str(monitor))
    refused = await inert.answer(top, "status", "--porcelain")
    assert refused.data == b""
    assert refused.fault.startswith("git is not run unasked there: ")
    assert "core.fsmonitor" in refused.fault
    assert not ran.exists()


async def test_a_git_of_the_repository_itself_is_none(tmp_path: Path) -> None:
    own = tmp_path / "git"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert InertGit.outside((tmp_path,), {**os.environ, "PATH": str(tmp_path)}) is None


def test_there_is_no_second_road_to_git() -> None:
    package = Path(mcode.__file__).parent
    users = [
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if any(word in file.read_text("utf-8") for word in ('find_program("git"', "import INERT_RUN"))
    ]
    assert users == ["agent/inert_git.py"]
