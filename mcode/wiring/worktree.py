"""A git worktree for one sub-agent: made before it begins, and removed at its end where git sees no change in it.

Files that git ignores, such as what a build makes, keep no worktree: they go with it, which the sub-agent is told. What
a killed run leaves behind is removed in the same way at a later start in the same repository.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.agent.inert_git import InertGit
from mcode.config.repository import git_directory
from mcode.errors import UsageError
from mcode.files import FileLock, private_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.tool import Workspace

LIMIT = 120.0
"""Seconds for one run of git: making a worktree writes every file of the commit."""

LOCK = ".lock"
"""Ends the name of the file that whoever works in a worktree keeps locked, beside the worktree."""

_NAME_LIMIT = 40
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=dirty")


@dataclass(slots=True)
class AgentTree:
    """The worktree of one sub-agent, on a branch of its own."""

    top: Path
    """Of the work tree that it was made from: absolute and resolved."""
    path: Path
    branch: str
    base: str
    """The commit that it began with, in hexadecimal."""
    git: InertGit
    lock: FileLock | None = None
    """Held as long as somebody works in it; it goes with the process, and what is left is for `prune_trees`."""
    _left: str | None = None

    def workspace(self, above: Workspace) -> Workspace:
        """The working directories of the session, those in its work tree as they are here. Looks at the disk."""
        additional = tuple(
            self._here(each) if each.is_relative_to(self.top) else each
            for each in above.additional
            if not each.is_relative_to(self.top) or self._is_plain(self._here(each))
        )
        start = self._here(above.start)
        return replace(
            above, start=start, current=start, additional=additional, tree=self.path, origin=self.top
        )

    def make_start(self, start: Path) -> bool:
        """Have the session's start directory here too; False where the commit has something else in its place."""
        here = self._here(start)
        if here.resolve() != here:
            return False
        try:
            here.mkdir(parents=True, exist_ok=True)
        except OSError:
            return False
        return True

    def _here(self, path: Path) -> Path:
        return self.path / path.relative_to(self.top)

    def _is_plain(self, path: Path) -> bool:
        return path.is_dir() and path.resolve() == path

    @property
    def told(self) -> str:
        """What the sub-agent should know of it."""
        return (
            f"It belongs to a git worktree of your own, {self.path} on the branch {self.branch}. It holds the last "
            f"commit and nothing that was not committed. Work in there; leave {self.top} as it is. Files that "
            "git ignores are lost when you end, unless something else in there has changed."
        )

    async def end(self) -> str:
        """Remove it where it is unchanged; otherwise where it is and how to take it over, in a sentence or two."""
        if self._left is None:
            self._left = await self._end()
            self._let_go()
        return self._left

    def _let_go(self) -> None:
        if self.lock is not None:
            self.lock.path.unlink(missing_ok=True)
            self.lock.release()

    async def _end(self) -> str:
        status, fault = await _answer(self.git, self.path, *_STATUS)
        if not fault:
            tips, fault = await _answer(self.git, self.path, "rev-parse", "HEAD", f"refs/heads/{self.branch}")
            if not fault and not status and tips.split() == [self.base, self.base]:
                fault = await self._remove()
                if not fault:
                    return ""
        state = f"could not be removed ({fault})" if fault else "has changes and stays"
        return (
            f"The sub-agent worked in a git worktree of its own, which {state}: {self.path}, branch {self.branch}, "
            f"made from {self.base[:12]}. To take it over, commit there and `git merge {self.branch}` here; to be rid "
            f"of it, `git worktree remove --force {self.path}` and `git branch -D {self.branch}`."
        )

    async def _remove(self) -> str:
        """Why it could not be removed. Git itself refuses where there is a change meanwhile."""
        _, fault = await _answer(self.git, self.top, "worktree", "remove", str(self.path))
        return fault or await self._forget_branch()

    async def _forget_branch(self) -> str:
        _, fault = await _answer(
            self.git, self.top, "update-ref", "-d", f"refs/heads/{self.branch}", self.base
        )
        return fault

    async def discard(self) -> None:
        """Remove what was made of it, before anything worked in it."""
        await _answer(self.git, self.top, "worktree", "remove", "--force", "--force", str(self.path))
        await self._forget_branch()
        self._let_go()


async def make_tree(
    kind: str, above: Workspace, state: Path, environment: Mapping[str, str]
) -> tuple[AgentTree, Workspace]:
    """A worktree of the last commit for a sub-agent of this kind, in mcode's directory `state`, and its workspace.

    `environment` is mcode's own. Raises UsageError with what to do where there can be none; nothing is left then.
    """
    top = await asyncio.to_thread(_work_tree, above.start)
    if top is None:
        raise _refusal(kind, f"{above.start} is in no git repository", "Make one and commit")
    git = InertGit.outside(above.roots, environment)
    if git is None:
        raise _refusal(kind, "git was not found outside the workspace", "Install it")
    base, fault = await _answer(git, top, "rev-parse", "--verify", "HEAD^{commit}")
    if fault:
        raise _refusal(kind, f"the last commit of {top} is not known ({fault})", "See to that")
    name = f"{_NOT_IN_A_NAME.sub('-', kind)[:_NAME_LIMIT].strip('-') or 'agent'}-{secrets.token_hex(4)}"
    directory = await asyncio.to_thread(lambda: private_directory(state.resolve() / "worktrees"))
    lock = FileLock(directory / f"{name}{LOCK}")
    lock.acquire()
    tree = AgentTree(top, directory / name, f"mcode/{name}", base.strip(), git, lock)
    try:
        words = ("worktree", "add", "--quiet", "--no-track", "-b", tree.branch, str(tree.path), tree.base)
        _, fault = await _answer(git, top, *words)
        if not fault and not await asyncio.to_thread(tree.make_start, above.start):
            fault = f"{above.start} is no plain directory in the last commit"
        if not fault:
            return tree, await asyncio.to_thread(tree.workspace, above)
    except asyncio.CancelledError:
        await tree.discard()
        raise
    await tree.discard()
    raise _refusal(kind, f"none could be made of {top} ({fault})", "See to that")


async def prune_trees(start: Path, state: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Remove what killed runs have left of worktrees of the repository around `start`; returns which.

    Only what nobody works in, has no change, and holds no commit of its own. What cannot be told stays.
    """
    directory = state.resolve() / "worktrees"
    left = await asyncio.to_thread(_left_behind, directory)
    top = await asyncio.to_thread(_work_tree, start) if left else None
    git = InertGit.outside((top,), environment) if top is not None else None
    if top is None or git is None:
        return ()
    listed, _ = await _answer(git, top, "worktree", "list", "--porcelain")
    removed: list[Path] = []
    for entry in listed.split("\n\n"):
        path, tip, branch = (_field(entry, name) for name in ("worktree", "HEAD", "branch"))
        lock = FileLock(Path(f"{path}{LOCK}"))
        tree = AgentTree(top, Path(path), branch.removeprefix("refs/heads/"), tip, git, lock)
        if tree.path not in left or tree.branch != f"mcode/{tree.path.name}":
            continue
        holding, _ = await _answer(git, top, "for-each-ref", "--format=%(refname)", f"--contains={tip}")
        if set(holding.split()) - {branch} and not await tree.end():
            removed.append(tree.path)
    return tuple(removed)


def _left_behind(directory: Path) -> frozenset[Path]:
    """The worktrees that no running mcode works in. Locks of those that are gone are removed."""
    found: set[Path] = set()
    with contextlib.suppress(OSError):
        for path in directory.iterdir():
            lock = FileLock(path if path.suffix == LOCK else path.with_name(f"{path.name}{LOCK}"))
            if lock.is_taken():
                continue
            if path.suffix != LOCK:
                found.add(path)
            elif not path.with_suffix("").exists():
                path.unlink(missing_ok=True)
    return frozenset(found)


def _field(entry: str, name: str) -> str:
    return next((line[len(name) + 1 :] for line in entry.splitlines() if line.startswith(f"{name} ")), "")


async def _answer(git: InertGit, directory: Path, *words: str) -> tuple[str, str]:
    """What it wrote; and why it failed, empty where it did not."""
    answer = await git.answer(directory, *words, timeout=LIMIT)
    return answer.text, answer.fault


def _refusal(kind: str, why: str, advice: str) -> UsageError:
    return UsageError(
        f"The agent {kind} works in a git worktree of its own (isolation: worktree), and {why}. It was not started; "
        f"nothing was changed. {advice}, or use a kind of agent without `isolation`."
    )


def _work_tree(directory: Path) -> Path | None:
    return next((each for each in (directory, *directory.parents) if git_directory(each) is not None), None)
