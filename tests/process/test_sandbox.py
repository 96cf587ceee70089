"""The sandbox: real commands behind each wall that this system offers."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from mcode.process.environment import child_environment, find_program
from mcode.process.run import ProcessResult, ProcessSpec, run_process
from mcode.process.sandbox import BUBBLEWRAP, LANDLOCK, Availability, Sandbox, sandbox_availability

NO_BWRAP = os.pathsep.join(
    entry for entry in os.environ["PATH"].split(os.pathsep) if not Path(entry, "bwrap").exists()
)


def _kinds() -> list[Availability]:
    """Every wall that can be tried here: bubblewrap, Landlock with namespaces, and Landlock alone."""
    found = sandbox_availability()
    kinds = [found] if found.method == BUBBLEWRAP else []
    plain = sandbox_availability(NO_BWRAP)
    if plain.method == LANDLOCK:
        kinds.append(plain)
        if plain.namespace:
            kinds.append(Availability(LANDLOCK))
    return kinds


KINDS = _kinds()

pytestmark = pytest.mark.skipif(not KINDS, reason=f"no sandbox here: {sandbox_availability().why_not}")

every_kind = pytest.mark.parametrize(
    "found", KINDS, ids=lambda found: f"{found.method}{'-namespaces' if found.namespace else ''}"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / ".git" / "config").write_text("[core]\n")
    (tmp_path / "work" / "src").mkdir()
    (tmp_path / "tmp").mkdir()
    return tmp_path / "work"


async def _run(
    found: Availability, workspace: Path, command: str, *, network: bool = False, timeout: float = 30
) -> ProcessResult:
    sandbox = Sandbox(found, (workspace,), network)
    bash = find_program("bash", os.environ["PATH"])
    assert bash is not None
    argv = sandbox.wrap((str(bash), "--norc", "-c", command), workspace, workspace.parent / "tmp")
    environment = child_environment(os.environ, {"TMPDIR": str(workspace.parent / "tmp")})
    return await run_process(ProcessSpec(argv=argv, cwd=workspace, env=environment, timeout=timeout))


@every_kind
async def test_a_command_writes_in_the_workspace_and_in_its_temporary_directory(
    found: Availability, workspace: Path
) -> None:
    result = await _run(
        found, workspace, "echo a > src/new && mkdir src/deep && mktemp >/dev/null && cat src/new"
    )
    assert (result.exit_code, result.stdout.data) == (0, b"a\n"), result.stderr.data
    assert (workspace / "src" / "deep").is_dir()


@every_kind
@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../PWN",
        "ln -s ../.. src/out; echo x > src/out/PWN",
        "echo x > .git/PWN",
        "echo x >> .git/config",
        "mv .git src/git && echo x > src/git/PWN",
        "rm -rf .git",
        "bash -c 'setsid bash -c \"echo x > ../PWN\"'",
        "umount .git 2>/dev/null; echo x > .git/PWN",
    ],
)
async def test_a_command_writes_nowhere_else(found: Availability, workspace: Path, command: str) -> None:
    await _run(found, workspace, command)
    assert not list(workspace.parent.rglob("PWN"))
    assert (workspace / ".git" / "config").read_text() == "[core]\n"


@every_kind
async def test_what_lies_outside_can_be_read_but_neither_emptied_nor_removed(
    found: Availability, workspace: Path
) -> None:
    outside = workspace.parent / "outside.txt"
    outside.write_text("kept")
    result = await _run(found, workspace, f"cat {outside}; truncate -s 0 {outside}; rm -f {outside}")
    assert result.stdout.data == b"kept"
    assert outside.read_text() == "kept"


@every_kind
async def test_without_network_no_connection_is_made_and_with_it_one_is(
    found: Availability, workspace: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        closed = await _run(found, workspace, command)
        opened = await _run(found, workspace, command, network=True)
    assert (closed.exit_code == 0, opened.exit_code) == (False, 0), opened.stderr.data


@every_kind
async def test_a_time_limit_ends_everything_inside(found: Availability, workspace: Path) -> None:
    result = await _run(
        found, workspace, "trap '' TERM; (trap '' TERM; sleep 97) & sleep 97; echo end", timeout=1
    )
    assert result.timed_out
    assert result.duration < 10
    assert result.left_running == 0


@every_kind
async def test_an_exit_code_is_the_commands_own(found: Availability, workspace: Path) -> None:
    assert (await _run(found, workspace, "exit 7")).exit_code == 7


async def test_bounds_that_cannot_be_set_up_run_nothing(workspace: Path) -> None:
    """The wall's own program ends before the command where a part of the wall is missing."""
    child = Path(sys.modules[Sandbox.__module__].__file__ or "").with_name("sandbox_child.py")
    bounds = f'{{"writable": [], "read_only": ["{workspace}/gone"], "network": true, "namespace": true}}'
    spec = ProcessSpec(
        argv=(sys.executable, "-I", "-S", str(child), bounds, "/bin/sh", "-c", "echo ran"),
        cwd=workspace,
        env=child_environment(os.environ),
        timeout=30,
    )
    result = await run_process(spec)
    assert (result.exit_code, result.stdout.data) == (125, b"")
    assert b"nothing was run" in result.stderr.data


def test_a_program_of_the_workspace_is_not_taken_for_bubblewrap(workspace: Path) -> None:
    trap = workspace / "bwrap"
    trap.write_text(f"#!/bin/sh\ntouch {workspace}/PWN\n")
    trap.chmod(0o755)
    found = sandbox_availability(f"{workspace}:{NO_BWRAP}", (workspace,))
    assert found.program != trap
    assert not (workspace / "PWN").exists()


def test_a_missing_sandbox_says_why() -> None:
    missing = Availability("", "the kernel offers nothing")
    assert not missing.available
    assert missing.described == "none: the kernel offers nothing"
