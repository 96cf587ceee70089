"""Servers that others wrote, from the package registries: connect, list, call, cancel, time out, kill, restart.

They are installed once into a cache outside the repository; where that cannot be done the tests are skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.call import FailureKind
from mcode.mcp.entries import ServerEntry
from tests.mcp.live import Live, live
from tests.mcp.test_shutdown import pids_in
from tests.surroundings import OUTSIDE
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Generator

CACHE = (
    Path(OUTSIDE.get("XDG_CACHE_HOME") or Path(OUTSIDE.get("HOME", "/")) / ".cache")
    / "mcode-tests/mcp-servers"
)

NPM = {
    "filesystem": ("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem"),
    "everything": ("@modelcontextprotocol/server-everything", "mcp-server-everything"),
    "memory": ("@modelcontextprotocol/server-memory", "mcp-server-memory"),
    "playwright": ("@playwright/mcp", "playwright-mcp"),
}
PIP = ("mcp-server-git", "mcp-server-time")

INSTALL_TIME = 120
"""Seconds that a registry may take for one server."""

ANSWER_TIME = 20
"""Seconds within which it must say at all whether it has it."""


@contextlib.contextmanager
def _alone() -> Generator[None]:
    """Install in one process of the suite at a time."""
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        lock = (CACHE / "lock").open("w")
    except OSError as error:
        pytest.skip(f"no place to install servers in: {error}")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _npm_program(name: str) -> str:
    """The program of a server from npm, installed where it is not."""
    package, program = NPM[name]
    place = CACHE / "npm"
    path = place / "node_modules" / ".bin" / program
    if not path.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        _reach(package, "npm", "view", "--fetch-retries=0", package, "version")
        place.mkdir(exist_ok=True)
        if not (place / "package.json").exists():  # or npm takes a directory above for the project
            (place / "package.json").write_text("{}")
        _install(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", package], place)
    assert path.exists(), f"{package} has no program {program}"
    return str(path)


def _pip_program(name: str) -> str:
    """The program of a server from the Python index, in an environment of its own."""
    path = CACHE / "py" / "bin" / name
    if not path.exists():
        python = str(CACHE / "py" / "bin" / "python")
        if not Path(python).exists():
            _install([sys.executable, "-m", "venv", str(CACHE / "py")])
        _reach(
            name,
            python,
            "-m",
            "pip",
            "download",
            "--retries=0",
            "--no-deps",
            "-q",
            "-d",
            str(CACHE / "asked"),
            name,
        )
        _install([python, "-m", "pip", "install", "-q", *PIP])
    return str(path)


def _reach(package: str, *command: str) -> None:
    """Ask a registry for one package, once, without trying again; skip where it cannot be asked from here.

    What it says is the reason: nobody there, a certificate that this machine does not know, a proxy that forbids.
    One such answer counts for all servers of that registry.
    """
    program = command[:3] if command[1:3] == ("-m", "pip") else command[:1]
    reason = _unreachable.get(program)
    if reason is None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_TIME, env=OUTSIDE)
        except subprocess.TimeoutExpired:
            reason = f"no answer within {ANSWER_TIME} s"
        else:
            reason = "" if done.returncode == 0 else done.stderr.strip()[-300:]
        _unreachable[program] = reason
    if reason:
        pytest.skip(f"{package} cannot be had from a registry here: {reason}")


_unreachable: dict[tuple[str, ...], str] = {}
"""Why a registry cannot be asked, by the program that asks it; an empty text where it can."""


def _install(command: list[str], place: Path = CACHE) -> None:
    """Any failure is one of the test: the registry has answered before. Only slowness is not.

    In its place, and not by npm's `--prefix`, which turns off what this machine has set for npm.
    """
    try:
        done = subprocess.run(
            command, cwd=place, capture_output=True, text=True, timeout=INSTALL_TIME, env=OUTSIDE
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"no registry gave {command[-1]} within {INSTALL_TIME} s")
    assert done.returncode == 0, f"{command[-1]} could not be installed: {done.stderr.strip()[-500:]}"


def real(name: str, *arguments: str) -> ServerEntry:
    """The entry of a real server."""
    with _alone():
        command = _npm_program(name) if name in NPM else _pip_program(name)
    return ServerEntry(
        name, "stdio", "user", None, command=command, args=arguments,
        written={"command": name, "args": list(arguments)}, startup_timeout=60,
    )  # fmt: skip


async def _kill(servers: Live, name: str) -> None:
    *_, pid = pids_in(servers.server(name).log.path.read_text())
    os.kill(pid, signal.SIGKILL)
    await until(lambda: servers.status(name).state != "connected")


async def test_server_filesystem_reads_within_its_directories_and_comes_back_after_a_kill(
    tmp_path: Path,
) -> None:
    place = tmp_path / "files"
    place.mkdir()
    (place / "note.txt").write_text("buy milk")
    async with live(tmp_path, real("filesystem", str(place))) as servers:
        await servers.connected("filesystem")
        assert {"read_text_file", "list_directory"} <= servers.tools("filesystem").keys()
        read = await servers.call("read_text_file", "filesystem", path=str(place / "note.txt"))
        assert "buy milk" in read.text
        outside = await servers.call("read_text_file", "filesystem", path="/etc/hostname")
        assert outside.failure is FailureKind.TOOL_ERROR
        await _kill(servers, "filesystem")
        again = await servers.call("read_text_file", "filesystem", path=str(place / "note.txt"))
        assert "buy milk" in again.text


async def test_server_everything_progresses_is_cancelled_times_out_and_says_what_it_has(
    tmp_path: Path,
) -> None:
    async with live(tmp_path, real("everything")) as servers:
        await servers.connected("everything")
        assert (await servers.call("echo", "everything", message="hi")).text == "Echo: hi"
        name = "trigger-long-running-operation"
        assert "completed" in (await servers.call(name, "everything", duration=1, steps=5)).text
        assert servers.services.lines
        call = asyncio.ensure_future(servers.call(name, "everything", duration=20, steps=20))
        await asyncio.sleep(0.3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        connection = servers.server("everything").connection
        connection.limits = type(connection.limits)(start=10, call=0.5, most=0.5)
        late = await servers.call(name, "everything", duration=5, steps=5)
        assert late.failure is FailureKind.TIMEOUT
        connection.limits = type(connection.limits)()
        assert (await servers.call("echo", "everything", message="after")).text == "Echo: after"
        extras = servers.servers.extras
        await until(lambda: extras.prompts() and extras.resources())
        first = extras.resources()[0]
        text, _ = await extras.read("everything", first.uri, servers.services.spill_path)
        assert text


async def test_server_memory_keeps_what_it_is_told_and_answers_in_structure(tmp_path: Path) -> None:
    entry = real("memory")
    object.__setattr__(entry, "env", {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")})
    async with live(tmp_path, entry) as servers:
        await servers.connected("memory")
        entity = {"name": "mcode", "entityType": "program", "observations": ["is a terminal agent"]}
        await servers.call("create_entities", "memory", entities=[entity])
        found = await servers.call("search_nodes", "memory", query="terminal")
        assert found.data["entities"][0]["name"] == "mcode"


async def test_playwright_lists_its_tools(tmp_path: Path) -> None:
    async with live(tmp_path, real("playwright", "--headless")) as servers:
        assert (await servers.connected("playwright")).tools > 10
        assert "browser_navigate" in servers.tools("playwright")


async def test_the_python_servers_of_git_and_time_answer(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    entries = real("mcp-server-git", "--repository", str(repository)), real("mcp-server-time")
    async with live(tmp_path, *entries) as servers:
        await servers.servers.settle(60)
        assert {status.state for status in servers.servers.statuses()} == {"connected"}
        status = await servers.call("git_status", "mcp-server-git", repo_path=str(repository))
        assert "No commits yet" in status.text
        time = await servers.call("get_current_time", "mcp-server-time", timezone="Europe/Zurich")
        assert "Europe/Zurich" in time.text
        assert servers.server("mcp-server-time").connection.protocol >= "2025-06-18"
