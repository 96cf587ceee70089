"""M-10: no server survives mcode, however it clings to life."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcode.mcp.screen import Screen
from mcode.mcp.server_log import ServerLog
from mcode.mcp.stdio import Launch, StdioTransport
from mcode.model.script import parse_script
from tests.e2e.binary import Machine
from tests.mcp.live import HOSTILE, hostile, live, runs
from tests.waiting import until
from tools.messages_server import running_server

ROOT = Path(__file__).parents[2]


def pids_in(log: str) -> list[int]:
    """The processes that a log of a server names."""
    return [int(line.rpartition(" ")[2]) for line in log.splitlines() if "started as process" in line]


async def test_m_10_twenty_servers_some_ignoring_signals_and_one_with_an_orphan_are_all_gone(
    tmp_path: Path,
) -> None:
    orphan = tmp_path / "orphan"
    faults = ["ignore", "ignore", "grandchild", *["none"] * 17]
    entries = [
        hostile(fault, *([str(orphan)] if fault == "grandchild" else []), name=f"s{number}")
        for number, fault in enumerate(faults)
    ]
    async with live(tmp_path, *entries) as servers:
        await servers.servers.settle(40)
        states = {status.state for status in servers.servers.statuses()}
        assert states == {"connected"}
        pids = [
            pid for server in range(20) for pid in pids_in(servers.server(f"s{server}").log.path.read_text())
        ]
        grandchild = int(orphan.read_text())
        assert len(pids) == 20
        assert all(runs(pid) for pid in [*pids, grandchild])
        await asyncio.wait_for(servers.servers.close(), 60)
    await until(lambda: not [pid for pid in [*pids, grandchild] if runs(pid)])


async def test_m_10_what_a_server_leaves_behind_when_it_dies_is_swept_up(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("orphan")) as servers:
        await servers.connected()
        left = int((await servers.call("spawn")).text)
        assert runs(left)
        (pid,) = pids_in(servers.server().log.path.read_text())
        import os

        os.kill(pid, signal.SIGKILL)
        await until(lambda: not runs(left))
        assert servers.status().state in ("failed", "connecting", "connected")


PROGRAM = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.mcp.live import hostile, live

async def main():
    async with live(Path({directory!r}), hostile("ignore"), hostile("grandchild", {orphan!r}, name="g")) as servers:
        await servers.servers.settle(60)
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_m_10_servers_end_with_mcode_even_when_it_is_killed(tmp_path: Path) -> None:
    orphan = tmp_path / "orphan"
    program = PROGRAM.format(root=str(ROOT), directory=str(tmp_path), orphan=str(orphan))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as mcode:
        assert mcode.stdout is not None
        assert await asyncio.to_thread(mcode.stdout.readline) == "ready\n"
        logs = (tmp_path / "logs" / "mcp").glob("*.log")
        pids = [pid for log in logs for pid in pids_in(log.read_text())]
        assert len(pids) == 2
        mcode.kill()
    await until(lambda: not any(runs(pid) for pid in pids))
    # The orphan of a killed mcode is beyond its reach; nobody may be left of the servers themselves.
    grandchild = int(orphan.read_text())
    if runs(grandchild):
        import os

        os.kill(grandchild, signal.SIGKILL)


async def test_m_10_no_server_survives_a_signal_that_ends_mcode_in_the_middle_of_a_turn(
    tmp_path: Path,
) -> None:
    script = parse_script({"turns": [{"reply": {"blocks": ["late"], "delay": 60}}]}, "test")
    machine = Machine.fresh(tmp_path)
    entry = {"command": sys.executable, "args": ["-S", str(HOSTILE), "ignore"], "alwaysLoad": True}
    (machine.home / ".mcode").mkdir()
    (machine.home / ".mcode" / "mcp.json").write_text(json.dumps({"mcpServers": {"h": entry}}))
    with running_server(script) as endpoint:
        process = machine.start("-p", "hello", server=endpoint)
        await until(lambda: endpoint.message_requests)
        (pid,) = pids_in((machine.home / ".mcode" / "logs" / "mcp" / "h.log").read_text())
        assert runs(pid)
        process.send_signal(signal.SIGHUP)  # SIGTERM ends it the same way
        await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == 129
    assert not runs(pid)


def test_m_10_a_headless_run_leaves_no_server(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    entry = {"command": sys.executable, "args": [str(HOSTILE), "ignore"], "alwaysLoad": True}
    (machine.home / ".mcode").mkdir()
    (machine.home / ".mcode" / "mcp.json").write_text(json.dumps({"mcpServers": {"h": entry}}))
    ran = machine.run("-p", "--demo", "hello")
    assert ran.code == 0, ran.err
    pids = pids_in((machine.home / ".mcode" / "logs" / "mcp" / "h.log").read_text())
    assert pids
    assert not [pid for pid in pids if runs(pid)]


async def test_the_log_of_a_server_that_cannot_be_started_says_so_and_is_closed(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "logs" / "far.log", str)
    screen = Screen(frozenset(), lambda _: None)
    with pytest.raises(FileNotFoundError):
        async with StdioTransport(Launch((str(tmp_path / "nothing"),), tmp_path, {}), screen, log):
            pass
    log.note("after that")
    assert "could not be started" in log.path.read_text()
    assert "after that" not in log.path.read_text()  # nothing goes into a closed log
