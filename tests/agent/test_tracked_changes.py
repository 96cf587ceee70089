"""What git can tell of files that shell commands changed since a moment (U-03)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from mcode.agent import tracked_changes as module
from mcode.agent.tracked_changes import TrackedChanges, tracked_changes
from mcode.session.undo import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAMES = ("a.txt", "b.txt", "gone.txt", "sub/c.txt")


def git(top: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    environment = {"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(("git", *identity, *arguments), cwd=top, env=environment, check=True, capture_output=True)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git may take its time on a busy machine."""
    monkeypatch.setattr("mcode.agent.tracked_changes.LIMIT", 30.0)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one commit, its files written a moment ago."""
    top = tmp_path / "repository"
    (top / "sub").mkdir(parents=True)
    for name in NAMES:
        (top / name).write_text("old\n")
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return top


def moment() -> float:
    """Now, with time enough on both sides for the file system's clock."""
    time.sleep(0.05)
    now = time.time()
    time.sleep(0.05)
    return now


async def names(top: Path, since: float, left: Mapping[str, str] | None = None) -> list[str]:
    found = await tracked_changes(top, os.environ, since, left or {})
    assert found.unknown == ""
    return [os.path.relpath(path, top) for path in found.paths]


async def test_u_03_changed_and_deleted_files_are_found_and_untracked_ones_are_not(top: Path) -> None:
    (top / "b.txt").write_text("the user's, from before\n")
    since = moment()
    (top / "a.txt").write_text("new\n")
    (top / "gone.txt").unlink()
    (top / "sub/c.txt").write_text("new\n")
    (top / "untracked.txt").write_text("new\n")
    assert await names(top, since) == ["a.txt", "gone.txt", "sub/c.txt"]
    assert await names(top / "sub", since) == ["../a.txt", "../gone.txt", "c.txt"]


async def test_u_03_what_was_committed_since_counts_too(top: Path) -> None:
    since = moment()
    (top / "a.txt").write_text("new\n")
    await asyncio.sleep(1.1)  # the record of commits has whole seconds
    git(top, "commit", "-qam", "second")
    assert await names(top, (top / "a.txt").stat().st_ctime + 0.5) == []
    assert await names(top, since) == ["a.txt"]


async def test_u_03_files_as_the_tools_left_them_do_not_count(top: Path) -> None:
    since = moment()
    for name in ("a.txt", "b.txt"):
        (top / name).write_text("by a tool\n")
    (top / "gone.txt").unlink()
    by_tool = hashlib.sha256(b"by a tool\n").hexdigest()
    left = {str(top / "a.txt"): by_tool, str(top / "b.txt"): by_tool, str(top / "gone.txt"): ABSENT}
    assert await names(top, since, left) == []
    (top / "b.txt").write_text("then by the shell\n")
    assert await names(top, since, left) == ["b.txt"]


async def test_u_03_a_repository_without_a_commit_is_compared_with_its_index(top: Path) -> None:
    shutil.rmtree(top / ".git")
    git(top, "init", "-q")
    git(top, "add", "a.txt")
    since = moment()
    (top / "a.txt").write_text("new\n")
    assert await names(top, since) == ["a.txt"]


async def test_u_03_where_git_cannot_tell_the_reason_is_the_answer(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unknown(directory: Path, environment: Mapping[str, str] = os.environ) -> str:
        found = await tracked_changes(directory, environment, time.time(), {})
        assert found == TrackedChanges(unknown=found.unknown)
        return found.unknown

    assert "in no git work tree" in await unknown(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "was not found outside" in await unknown(top, {**os.environ, "PATH": str(empty)})
    own = top / "bin" / "git"
    own.parent.mkdir()
    own.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    own.chmod(0o755)
    assert "was not found outside" in await unknown(top, {**os.environ, "PATH": str(own.parent)})
    slow = empty / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setattr(module, "LIMIT", 0.2)
    assert "had not answered after 0.2 s" in await unknown(top, {**os.environ, "PATH": str(empty)})
    monkeypatch.undo()
    git(top, "config", "filter.x.clean", f"touch {tmp_path}/ran; cat")
    (top / ".gitattributes").write_text("* filter=x\n")
    (top / "a.txt").write_text("new\n")
    assert "filter.x.clean" in await unknown(top)
    assert not (tmp_path / "ran").exists(), "nothing that the repository configures is run"
