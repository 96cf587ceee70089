"""What is read of a git repository, also of one that was prepared to harm."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from mcode.config.repository import BRANCH_LIMIT, branch, git_places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A directory in which `.git` is what git would make of it, as far as mcode reads it."""
    directory = tmp_path.resolve() / "top"
    (directory / ".git").mkdir(parents=True)
    (directory / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (directory / "lib").mkdir()
    return directory


def git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *identity, *arguments), cwd=directory, check=True, capture_output=True)


def test_the_branch_is_that_of_the_nearest_repository(top: Path) -> None:
    assert branch(top) == branch(top / "lib") == "main"
    assert branch(top.parent) is None


def test_of_no_branch_the_beginning_of_the_commit_is_shown(top: Path) -> None:
    (top / ".git/HEAD").write_text("0123456789abcdef" * 2 + "01234567\n")
    assert branch(top) == "0123456789ab"


def test_a_linked_worktree_has_its_own_branch_and_the_git_directory_of_both(tmp_path: Path) -> None:
    main, tree = tmp_path.resolve() / "main", tmp_path.resolve() / "tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", "-b", "topic/Ä-1", str(tree))
    git(main, "config", "core.hooksPath", "hooks-of-ours")
    assert branch(tree) == "topic/Ä-1"
    assert git_places(tree) == (main / ".git/worktrees/tree", main / ".git", tree / "hooks-of-ours")


@pytest.mark.parametrize(
    "name",
    [
        *("a b", "a..b", ".hidden", "a/.b", "a//b", "a.lock", "-x", "/x", "x/", "x.", "a\x1b[2Jb", "a\nb"),
        *("a\u202eb", "x</environment>", "a@{1}", "x" * (BRANCH_LIMIT + 1), ""),
    ],
)
def test_what_no_branch_is_called_is_not_passed_on(top: Path, name: str) -> None:
    (top / ".git/HEAD").write_text(f"ref: refs/heads/{name}\n")
    assert branch(top) is None


def test_a_head_that_says_anything_else_is_not_passed_on(top: Path) -> None:
    for text in ("hello", "ref: refs/remotes/origin/main", "ref: refs/heads/" + "x" * 100_000):
        (top / ".git/HEAD").write_text(text)
        assert branch(top) is None


@pytest.mark.parametrize("name", ["HEAD", "config", "commondir"])
def test_a_pipe_within_the_git_directory_is_not_waited_for(top: Path, name: str) -> None:
    (top / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(top / ".git" / name)
    assert branch(top) == (None if name == "HEAD" else "main")
    assert git_places(top) == (top / ".git",)


def test_a_pipe_called_git_is_not_waited_for(top: Path) -> None:
    os.mkfifo(top / "lib/.git")
    assert branch(top / "lib") == "main"
    assert git_places(top / "lib") == (top / ".git",)


def test_a_git_file_that_leads_to_a_pipe_is_not_waited_for(top: Path) -> None:
    (top / "lib/.git").write_text("gitdir: elsewhere\n")
    (top / "lib/elsewhere").mkdir()
    os.mkfifo(top / "lib/elsewhere/HEAD")
    assert branch(top / "lib") == "main"
    assert git_places(top / "lib") == (top / "lib/elsewhere",)


def test_of_a_huge_config_the_beginning_counts_and_a_huge_pointer_leads_nowhere(top: Path) -> None:
    with (top / ".git/config").open("w") as config:
        config.write("[core]\n\thooksPath = ours\n")
        config.truncate(4 << 30)
    (top / "lib/.git").write_text("gitdir: " + "x/" * 10_000)
    assert git_places(top / "lib") == (top / ".git", top / "ours")
