"""What servers cost at the start: a headless run up to its first request, with and without them.

    python -m tools.bench_servers [--runs N]

One server has 3,000 tools in the cache, another hangs when it is asked who it is. Ratios of CPU time within one run,
and of the time until the request arrives.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.mcp.cache import CatalogueCache
from mcode.mcp.definitions import Catalogue, read_definitions
from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from tools.bench_search import entries
from tools.bench_start import quiet_environment
from tools.local_session import local_workbench
from tools.measure import Figure, report, running_cpu
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.messages_server import RunningServer

TOOLS = 3_000

LIMIT = 1.1

SLEEPER = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
"""A server that is started and says nothing."""

KINDS = ("none", "cached", "hanging")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9, help="repetitions of each measurement")
    runs = parser.parse_args().runs
    script = parse_script({"turns": [{"repeat": True, "reply": "Done."}]}, "bench")
    with tempfile.TemporaryDirectory() as scratch, running_server(script) as server:
        places = {kind: _place(Path(scratch) / kind, kind) for kind in KINDS}
        samples: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
        _to_first_request(server, *places["none"])  # fills the file caches
        for _ in range(runs):
            for kind, place in places.items():
                samples[kind].append(_to_first_request(server, *place))
    return report("servers", [figure for kind in KINDS[1:] for figure in _figures(kind, samples)])


def _figures(kind: str, samples: Mapping[str, list[tuple[float, float]]]) -> list[Figure]:
    figures: list[Figure] = []
    for index, what in enumerate(("CPU", "time")):
        low = statistics.median(sample[index] for sample in samples["none"])
        high = statistics.median(sample[index] for sample in samples[kind])
        name = {"cached": f"a server with {TOOLS:,} tools cached", "hanging": "a server that hangs"}[kind]
        detail = f"{high * 1000:.0f} ms against {low * 1000:.0f} ms"
        figures.append(
            Figure(f"start to first request with {name}, {what}", high / low, LIMIT, detail=detail)
        )
    return figures


def _place(root: Path, kind: str) -> tuple[dict[str, str], Path]:
    """A home with or without a server, and a project."""
    root.mkdir()
    environment = quiet_environment(root / "home")
    project = root / "project"
    project.mkdir()
    state = root / "home" / ".mcode"
    state.mkdir()
    if kind != "none":
        (state / "mcp.json").write_text(json.dumps({"mcpServers": {"all": SLEEPER}}))
    if kind == "cached":
        client = ScriptedClient(parse_script({"turns": []}, "bench"))
        (entry,) = local_workbench(root, client).servers.entries
        listed = [
            {"name": each.bare_name, "description": each.description, "inputSchema": each.input_schema}
            for each in entries([], TOOLS)
        ]
        definitions, _ = read_definitions(entry.name, listed)
        kept = Catalogue(definitions=definitions, title="Everything")
        CatalogueCache(state / "cache" / "mcp").save(entry.hash, kept)
    return environment, project


def _to_first_request(server: RunningServer, environment: dict[str, str], cwd: Path) -> tuple[float, float]:
    """CPU seconds and seconds until the server has received the first request of a run."""
    before = len(server.message_requests)
    command = [sys.executable, "-m", "mcode", "-p", "hello", "--model", "m", "--base-url", server.url]
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(server.message_requests) == before:
        if process.poll() is not None:
            raise SystemExit(f"mcode ended without a request, exit code {process.returncode}")
        time.sleep(0.001)
    took, used = time.monotonic() - began, running_cpu(process.pid)
    process.terminate()
    process.wait()
    return used, took


if __name__ == "__main__":
    sys.exit(main())
