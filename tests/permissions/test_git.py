"""git without a question: listed subcommands and options, and only where the repository's configuration is inert."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mcode.permissions.git_config import keys_of, obstacle
from mcode.permissions.verdict import Behavior
from tools.guard_cases import GIT, Scratch

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from mcode.permissions.verdict import Verdict

ALL = "git -c core.fsmonitor=false -c core.hooksPath=/dev/null --no-pager --no-optional-locks"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("git"))


def judged(scratch: Scratch, line: str) -> Verdict:
    return scratch.judge(line, scratch.policy())


@contextmanager
def configured(scratch: Scratch, key: str) -> Generator[None]:
    """The repository with one more key in its own configuration."""
    file = scratch.folder / ".git/config"
    before = file.read_bytes()
    section, _, name = key.rpartition(".")
    head, _, subsection = section.partition(".")
    header = f'[{head} "{subsection}"]' if subsection else f"[{head}]"
    file.write_bytes(before + f"{header}\n\t{name} = x\n".encode())
    try:
        yield
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("line", "runs_as"),
    [
        ("git status", f"{ALL} status --ignore-submodules=dirty"),
        (
            "git diff HEAD~1 -- src",
            f"{ALL} diff --no-ext-diff --no-textconv --ignore-submodules=dirty HEAD~1 -- src",
        ),
        ("git log --oneline -3", f"{ALL} log --no-ext-diff --no-textconv --oneline -3"),
        ("git show HEAD:src/a.py", f"{ALL} show --no-ext-diff --no-textconv HEAD:src/a.py"),
        ("git -C src status -sb", f"git -C src {ALL[4:]} status --ignore-submodules=dirty -sb"),
        ("git branch", f"{ALL} branch"),
        ("git rev-parse --short HEAD", f"{ALL} rev-parse --short HEAD"),
        ("git ls-files -m", f"{ALL} ls-files -m"),
        ("git blame -L 1,2 a.txt", f"{ALL} blame -L 1,2 a.txt"),
        ("git describe --tags --always", f"{ALL} describe --tags --always"),
        (
            "git --no-pager log -n1 --format='%h %s'",
            f"{ALL} log --no-ext-diff --no-textconv -n1 '--format=%h %s'",
        ),
        ("git shortlog -sn HEAD", f"{ALL} shortlog -sn HEAD"),
    ],
)
def test_p_12_reading_runs_of_git_run_with_nothing_configured(
    scratch: Scratch, line: str, runs_as: str
) -> None:
    verdict = judged(scratch, line)
    assert verdict.run_as == runs_as, verdict.reason
    ran = subprocess.run(
        ["bash", "-c", runs_as], cwd=scratch.folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "line",
    [
        "git -c core.pager=x log",
        "git -p log",
        "git --paginate log",
        "git --git-dir=x status",
        "git --work-tree=x status",
        "git --exec-path=x status",
        "git --config-env=a=b status",
        "git -C .. status",
        "git -C /etc log",
        "git log --output=PWN",
        "git diff -Oorder",
        "git diff --ext-diff",
        "git show --textconv",
        "git diff --no-index a.txt b.txt",
        "git diff a.txt /etc/hostname",
        "git diff a.txt ../x",
        "git log --show-signature",
        "git log --format=%G?",
        "git log --pretty='format:%GG'",
        "git blame --contents=/etc/hostname a.txt",
        "git show HEAD:.env",
        "git diff -- .env",
        "git log -L1,3:.env",
        "git log -s -L :main:.env -L1,2:a.txt",
        "git branch new",
        "git branch -D main",
        "git tag v1",
        "git stash list",
        "git add .",
        "git commit -m x",
        "git checkout .",
        "git fetch",
        "git remote -v",
        "git status *",
        "git lo",
        "git",
        "git 'status'x",
        "git diff --submodule=diff",
    ],
)
def test_p_12_every_other_run_of_git_asks(scratch: Scratch, line: str) -> None:
    verdict = judged(scratch, line)
    assert verdict.behavior is Behavior.ASK
    assert verdict.reason


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor",
        "core.hooksPath",
        "core.pager",
        "core.sshCommand",
        "core.worktree",
        "core.attributesFile",
        "core.alternateRefsCommand",
        "filter.x.clean",
        "diff.external",
        "diff.y.textconv",
        "alias.status",
        "include.path",
        "includeIf.gitdir:/.path",
        "gpg.program",
        "log.showSignature",
        "remote.origin.uploadpack",
        "remote.origin.promisor",
        "pager.log",
        "credential.helper",
        "unknown.key",
    ],
)
def test_p_12_a_key_that_is_not_inert_asks_and_is_named(scratch: Scratch, key: str) -> None:
    with configured(scratch, key):
        verdict = judged(scratch, "git status")
        assert verdict.behavior is Behavior.ASK
        assert key in verdict.reason
        assert str(scratch.folder / ".git/config") in verdict.reason
    assert judged(scratch, "git status").behavior is Behavior.ALLOW


def test_p_12_an_ordinary_clone_is_inert(scratch: Scratch, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(scratch.folder), str(tmp_path / "c")], check=True)
    for key in (
        "user.signingkey",
        "pull.rebase",
        "push.default",
        "color.ui",
        "branch.x.merge",
        "init.defaultBranch",
    ):
        subprocess.run(["git", "config", key, "x"], cwd=tmp_path / "c", check=True)
    assert obstacle(str((tmp_path / "c").resolve())) == ""


def test_p_12_a_worktree_is_judged_by_the_repository_that_it_belongs_to(
    scratch: Scratch, tmp_path: Path
) -> None:
    tree = tmp_path.resolve() / "tree"
    subprocess.run([*GIT, "worktree", "add", "-q", str(tree)], cwd=scratch.folder, check=True)
    assert obstacle(str(tree)) == ""
    with configured(scratch, "core.fsmonitor"):
        assert "core.fsmonitor" in obstacle(str(tree))
    subprocess.run(["git", "worktree", "remove", str(tree)], cwd=scratch.folder, check=True)


def test_p_12_worktree_configuration_counts(scratch: Scratch) -> None:
    file = scratch.folder / ".git/config.worktree"
    file.write_text("[core]\n\tfsmonitor = x\n")
    try:
        assert "fsmonitor" in judged(scratch, "git status").reason
    finally:
        file.unlink()


def test_p_12_a_bare_repository_or_a_broken_git_file_on_the_way_asks(
    scratch: Scratch, tmp_path: Path
) -> None:
    here = tmp_path.resolve()
    subprocess.run(["git", "init", "-q", "--bare", str(here / "b")], check=True)
    assert "bare repository" in obstacle(str(here / "b"))
    (here / "c").mkdir()
    (here / "c/.git").write_text("nonsense\n")
    assert "could not be followed" in obstacle(str(here / "c"))
    (here / "d").mkdir()
    os.mkfifo(here / "d/.git")
    assert "could not be followed" in obstacle(str(here / "d"))


def test_p_12_a_directory_with_a_repository_of_its_own_is_judged_by_that(scratch: Scratch) -> None:
    nested = scratch.folder / "nested"
    subprocess.run(["git", "init", "-q", str(nested)], check=True)
    subprocess.run(["git", "config", "core.fsmonitor", "./x"], cwd=nested, check=True)
    assert judged(scratch, "git status").behavior is Behavior.ALLOW
    for line in ("cd nested && git status", "git -C nested status"):
        assert "core.fsmonitor" in judged(scratch, line).reason


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", ()),
        ('[core]\n\tbare = false\n[remote "o"]\n\turl = x ; y\n', ("core.bare", "remote.o.url")),
        ("[core] fsmonitor = x\n", ("core.fsmonitor",)),
        ("[a]\n# b = c\n; d = e\nf\n", ("a.f",)),
        ('[Branch "a b.c"]\nMerge=x\n', ("Branch.a b.c.Merge",)),
        ("\ufeff[a]\nb=1\r\n", ("a.b",)),
    ],
)
def test_p_12_keys_of_a_configuration_file(text: str, keys: tuple[str, ...]) -> None:
    assert keys_of(text) == keys


@pytest.mark.parametrize(
    "text", ["a = b\n", "[a]\nb = c\\\nfsmonitor = x\n", "[a\n", "[a][b]\n", "[a]\n= x\n", '[a "x]\nb=1\n']
)
def test_p_12_what_is_not_plain_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        keys_of(text)
