"""Sub-agents of `isolation: worktree`: they work in a git worktree of their own, and the session's files stay."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.call import FailureKind, Status
from mcode.events import ApprovalRequested, Notice, ToolStarted
from mcode.process.sandbox import sandbox_availability
from tests.agent.test_skills import write
from tests.agent.test_subagents import told
from tests.commands.typing import typed
from tests.mcp.live import HOSTILE
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from tests.stage import Stage

KIND = "---\nname: apart\ndescription: A\nisolation: worktree\npermissionMode: acceptEdits\n---\nWork."
CALL = use("Agent", "toolu_a", prompt="w", description="d", subagent_type="apart")


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ("git", *identity, *arguments)
    return subprocess.run(
        command, cwd=directory, env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit, a change that is not committed, and a kind that works apart."""
    write(tmp_path / "home/.claude/agents/apart.md", KIND)
    project = tmp_path / "project"
    for name in ("a.txt", "secret/key.txt", "lib/b.txt"):
        write(project / name, "old\n")
    write(project / "lib/AGENTS.md", "Weld it.")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    write(project / "a.txt", "not committed\n")
    return project


def trees(project: Path) -> list[Path]:
    """The worktrees but for the project itself."""
    lines = git(project, "worktree", "list", "--porcelain").splitlines()
    return [Path(line[9:]) for line in lines if line.startswith("worktree ")][1:]


def branches(project: Path) -> list[str]:
    return git(project, "branch", "--format=%(refname:short)", "--list", "mcode/*").split()


def hook(project: Path, out: Path) -> None:
    """Git's own hook, which mcode's runs of git must not start."""
    path = project / ".git/hooks/post-checkout"
    write(path, f"#!/bin/sh\ntouch {out}\n")
    path.chmod(0o755)


async def test_what_it_changes_stays_in_its_worktree_and_the_answer_names_path_and_branch(
    tmp_path: Path, project: Path
) -> None:
    hook(project, tmp_path / "hooked")
    calls = [
        use("Read", "toolu_r", file_path="a.txt"),
        use("Write", "toolu_w", file_path="a.txt", content="new\n"),
        use("Bash", "toolu_p", command="pwd"),
    ]
    async with stage(tmp_path, turns(CALL, *calls, "Done.", "End."), new_prefixes=2) as here:
        await here.say("go")
        read, wrote, where, outer = here.outcomes
        opening, answer = told(here, 1), told(here, -1)
        notices = [event.text for event in here.of(Notice)]
        assert here.agent.workspace.start == project.resolve()
    (tree,), (branch,) = trees(project), branches(project)
    assert tree.parent == tmp_path.resolve() / "home/.mcode/worktrees"
    assert (tree / "a.txt").read_text() == "new\n"
    assert (project / "a.txt").read_text() == "not committed\n"
    assert git(project, "status", "--porcelain").strip() == "M a.txt"
    assert "old" in read.text
    assert wrote.status is Status.OK
    assert where.text.strip() == str(tree)
    assert f"Working directory: {tree}" in opening
    assert f"on the branch {branch}" in opening
    assert "Files that git ignores are lost when you end" in opening
    assert outer.text.startswith("Done.")
    assert f"has changes and stays: {tree}, branch {branch}" in answer
    assert any(str(tree) in text for text in notices)
    assert not (tmp_path / "hooked").exists()


async def test_an_unchanged_worktree_goes_with_its_branch_and_nothing_is_said(
    tmp_path: Path, project: Path
) -> None:
    calls = turns(CALL, use("Read", "toolu_r", file_path="lib/b.txt"), "Seen.", "End.")
    async with stage(tmp_path, calls, new_prefixes=2) as here:
        await here.say("go")
        assert here.outcomes[-1].text == "Seen."
        assert "Weld it." in told(here, 2)  # what the directory brings in
        (shown,) = [each for each in (await typed(here, "/agents")).data["agents"] if each["name"] == "apart"]
    assert (shown["isolation"], shown["unused"]) == ("worktree", [])
    assert (trees(project), branches(project)) == ([], [])
    assert not list((tmp_path / "home/.mcode/worktrees").iterdir())


async def test_what_it_commits_is_a_change(tmp_path: Path, project: Path) -> None:
    commit = "git -c user.name=t -c user.email=t@t.invalid commit -q --allow-empty -m more"
    settings = {"permissions": {"allow": [f"Bash({commit})"]}}
    replies = turns(CALL, use("Bash", "toolu_c", command=commit), "Done.", "End.")
    async with stage(tmp_path, replies, settings=settings, new_prefixes=2) as here:
        await here.say("go")
        assert "has changes and stays" in here.outcomes[-1].text
    (branch,) = branches(project)
    assert git(project, "log", "--format=%s", branch).split() == ["more", "first"]
    assert git(project, "log", "--format=%s").split() == ["first"]


async def asked_about(here: Stage) -> list[str]:
    here.answer("deny")
    await here.say("go")
    return [event.call.id for event in here.of(ApprovalRequested)]


async def test_rules_of_the_project_and_protected_paths_hold_in_the_worktree(
    tmp_path: Path, project: Path
) -> None:
    calls = [
        use("Read", "toolu_secret", file_path="secret/key.txt"),
        use("Read", "toolu_outside", file_path=str(project / "a.txt")),
        use("Write", "toolu_parent", file_path=str(project / "z.txt"), content="x"),
        use("Write", "toolu_claude", file_path=".claude/settings.json", content="{}"),
        use("Bash", "toolu_config", command="touch .git"),
        use("Write", "toolu_plain", file_path="lib/new/c.txt", content="x"),
        use("Bash", "toolu_touch", command="touch lib/d.txt"),
    ]
    settings = {
        "permissions": {"deny": [f"Read(/{project}/secret/**)"], "allow": ["Bash(touch lib/*)"]},
    }
    async with stage(
        tmp_path, turns(CALL, *calls, "Done.", "End."), settings=settings, new_prefixes=2
    ) as here:
        asked = await asked_about(here)
        status = {outcome.call.id: outcome for outcome in here.outcomes}
    assert asked == ["toolu_outside", "toolu_parent", "toolu_claude", "toolu_config"]
    assert "secret" in status["toolu_secret"].text
    assert status["toolu_secret"].failure is FailureKind.DENIED
    assert [status[each].status for each in ("toolu_plain", "toolu_touch")] == [Status.OK, Status.OK]
    assert not (project / "z.txt").exists()
    assert not (project / "lib/new").exists()


async def test_an_allow_rule_for_files_of_the_project_is_one_for_those_of_the_worktree(
    tmp_path: Path, project: Path
) -> None:
    write(tmp_path / "home/.claude/agents/apart.md", KIND.replace("permissionMode: acceptEdits\n", ""))
    calls = [use("Write", f"toolu_{name}", file_path=f"{name}/c", content="x") for name in ("lib", "other")]
    settings = {"permissions": {"allow": [f"Edit(/{project}/lib/**)"]}}
    async with stage(
        tmp_path, turns(CALL, *calls, "Done.", "End."), settings=settings, new_prefixes=2
    ) as here:
        asked = await asked_about(here)
        offered = [choice.label for choice in here.of(ApprovalRequested)[0].choices]
    (tree,) = trees(project)
    assert asked == ["toolu_other"]
    assert any(f"edits under {tree}/other/" in label for label in offered)


async def test_a_path_of_the_worktree_in_a_command_is_not_protected_by_where_that_lies(
    tmp_path: Path, project: Path
) -> None:
    commands = ('touch "$PWD"/../x', "touch {tree}/new.txt", "touch {tree}/../../settings.json")

    async with stage(tmp_path, turns("Done.")) as here:
        policy, session = here.agent.policy, here.agent.workspace
        from mcode.wiring.worktree import make_tree

        tree, workspace = await make_tree("apart", session, here.bench.places.state, here.bench.environment)
        paths = policy.beside(workspace, None).paths
        words = [command.format(tree=tree.path).split()[1] for command in commands]
        below = [paths.below_tree(word) for word in words]
        protected = [paths.protection(paths.locate(word)) is not None for word in words[1:]]
        assert await tree.end() == ""
    assert below == [words[0], "new.txt", words[2]]
    assert protected == [False, True]


async def test_what_a_killed_run_left_unchanged_is_removed_at_the_next_start_and_nothing_else(
    tmp_path: Path, project: Path
) -> None:
    from mcode.wiring.worktree import AgentTree, make_tree, prune_trees

    async with stage(tmp_path, turns("Done.")) as here:
        session, state, environment = here.agent.workspace, here.bench.places.state, here.bench.environment

        async def made() -> AgentTree:
            return (await make_tree("apart", session, state, environment))[0]

        def killed(tree: AgentTree) -> AgentTree:
            assert tree.lock is not None
            tree.lock.release()  # as the system does where the process ends
            return tree

        unchanged, edited, untracked, committed = [killed(await made()) for _ in range(4)]
        at_work = await made()
        (edited.path / "a.txt").write_text("work\n")
        (untracked.path / "new.txt").write_text("work\n")
        git(committed.path, "commit", "-q", "--allow-empty", "-m", "work")
        git(project, "commit", "-q", "--allow-empty", "-m", "the session went on")
        assert await prune_trees(session.start, state, environment) == (unchanged.path,)
        stay = [edited, untracked, committed, at_work]
        assert {tree.path for tree in stay} == set(trees(project))
        assert {tree.branch for tree in stay} == set(branches(project))
        assert not unchanged.path.with_name(f"{unchanged.path.name}.lock").exists()

        git(project, "merge", "-q", committed.branch)
        await here.bench.prune()
        assert committed.path not in trees(project)
        assert await at_work.end() == ""


async def test_an_interrupted_one_leaves_no_worktree_where_it_changed_nothing(
    tmp_path: Path, project: Path
) -> None:
    settings = {"permissions": {"allow": ["Bash(sleep *)"]}}
    replies = turns(CALL, use("Bash", "toolu_s", command="sleep 30"))
    async with stage(tmp_path, replies, settings=settings, new_prefixes=1) as here:
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: any(event.call.id == "toolu_s" for event in here.of(ToolStarted)))
        assert len(trees(project)) == 1
        assert here.agent.interrupt()
        assert (await turn).reason == "interrupted"
    assert (trees(project), branches(project)) == ([], [])


async def test_a_server_of_its_own_starts_in_the_worktree(tmp_path: Path, project: Path) -> None:
    line = f"pwd > {tmp_path}/where; exec {sys.executable} {HOSTILE} none"
    entry = f"mcpServers:\n  - own:\n      command: sh\n      args: [-c, '{line}']\n---"
    write(tmp_path / "home/.claude/agents/apart.md", KIND.replace("---\nWork.", f"{entry}\nWork."))
    async with stage(tmp_path, turns(CALL, "Done.", "End."), new_prefixes=2) as here:
        await here.say("go")
        assert here.outcomes[-1].text == "Done."
    assert (tmp_path / "where").read_text().startswith(f"{tmp_path.resolve()}/home/.mcode/worktrees/apart-")
    assert (trees(project), branches(project)) == ([], [])


async def test_where_there_is_no_repository_it_fails_and_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/agents/apart.md", KIND)
    async with stage(tmp_path, turns(CALL, "End."), new_prefixes=0) as here:
        assert (await here.say("go")).text == "End."
        outcome = here.outcomes[-1]
    assert (outcome.failure, outcome.summary) == (FailureKind.TOOL_ERROR, "not started")
    assert "is in no git repository. It was not started; nothing was changed." in outcome.text


async def test_git_is_not_run_where_the_repository_brings_programs_along(
    tmp_path: Path, project: Path
) -> None:
    git(project, "config", "filter.x.smudge", "touch /nowhere")
    background = {**CALL, "input": {**CALL["input"], "run_in_background": True}}
    async with stage(tmp_path, turns(CALL, background, "Meanwhile.", "End.")) as here:
        await here.say("go")
        assert "sets filter.x.smudge" in here.outcomes[0].text
        await until(lambda: "works in a git worktree of its own" in str(here.journal[-6:]))
        await until(lambda: not here.agent.busy)
        assert "an error inside mcode" not in str(here.journal)
    assert (trees(project), branches(project)) == ([], [])


async def test_a_session_below_the_top_has_its_sub_agent_below_the_top_too(
    tmp_path: Path, project: Path
) -> None:
    replies = turns(CALL, use("Write", "toolu_w", file_path="b.txt", content="new\n"), "Done.", "End.")
    replies["turns"].insert(2, turns(use("Read", "toolu_r", file_path="b.txt"))["turns"][0])
    replies["turns"][1], replies["turns"][2] = replies["turns"][2], replies["turns"][1]
    async with stage(tmp_path, replies, new_prefixes=2, project="project/lib") as here:
        await here.say("go")
        assert here.outcomes[-1].text.startswith("Done.")
    (tree,) = trees(project)
    assert (tree / "lib/b.txt").read_text() == "new\n"
    assert (project / "lib/b.txt").read_text() == "old\n"


async def test_a_link_in_the_commit_does_not_lead_its_work_out_of_the_worktree(
    tmp_path: Path, project: Path
) -> None:
    (project / "sub").symlink_to(tmp_path)
    git(project, "add", ".")
    git(project, "commit", "-qm", "link")
    (project / "sub").unlink()
    async with stage(tmp_path, turns(CALL, "End."), project="project/sub") as here:
        await here.say("go")
        assert "is no plain directory in the last commit" in here.outcomes[-1].text
    assert (trees(project), branches(project)) == ([], [])


@pytest.mark.skipif(not sandbox_availability().available, reason="no sandbox on this system")
async def test_in_the_sandbox_its_commands_write_only_in_its_worktree(tmp_path: Path, project: Path) -> None:
    command = f"echo in > inside; echo out > {project}/outside"
    replies = turns(CALL, use("Bash", "toolu_b", command=command), "Done.", "End.")
    async with stage(tmp_path, replies, settings={"mcode": {"sandbox": True}}, new_prefixes=2) as here:
        here.answer("once")
        await here.say("go")
        asked = here.of(ApprovalRequested)[0]
    (tree,) = trees(project)
    assert (tree / "inside").read_text() == "in\n"
    assert not (project / "outside").exists()
    assert str(tree) in asked.sandbox
