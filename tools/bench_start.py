"""Start-up figures: `mcode --version`, and a headless run up to its first request.

    python -m tools.bench_start [--runs N]

Both are ratios of CPU time within one run: against `python -c pass`, and against the shortest script that
imports the SDK and sends the same request.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.model.script import parse_script
from tools.measure import Figure, alternate, child_cpu, compile_package, ratio, report, running_cpu
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tools.messages_server import RunningServer

SHORTEST = """\
import json, sys
from anthropic import Anthropic
body = json.load(open(sys.argv[1]))
client = Anthropic(api_key="none", base_url=sys.argv[2], max_retries=0)
body.pop("stream")
for event in client.messages.create(**body, stream=True):
    pass
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9, help="repetitions of each measurement")
    runs = parser.parse_args().runs
    compile_package()
    with tempfile.TemporaryDirectory() as scratch:
        figures = [_version(max(runs, 15)), _first_request(runs, Path(scratch))]
    return report("start", figures)


def _version(runs: int) -> Figure:
    mcode = str(Path(sys.executable).with_name("mcode"))
    command = [mcode] if Path(mcode).exists() else [sys.executable, "-m", "mcode"]
    base, ours = alternate(
        runs,
        lambda: child_cpu([sys.executable, "-c", "pass"]),
        lambda: child_cpu([*command, "--version"]),
    )
    low, high = statistics.median(base), statistics.median(ours)
    detail = f"{high * 1000:.0f} ms against {low * 1000:.0f} ms"
    return Figure("mcode --version against python -c pass, CPU", ratio(ours, base), 2.5, detail=detail)


def _first_request(runs: int, scratch: Path) -> Figure:
    script = parse_script({"turns": [{"repeat": True, "reply": "Done."}]}, "bench")
    project = scratch / "project"
    project.mkdir()
    environment = quiet_environment(scratch / "home")
    with running_server(script) as server:
        command = [sys.executable, "-m", "mcode", "-p", "hello", "--model", "m", "--base-url", server.url]
        cpu_to_first_request(command, server, environment, project)
        body = scratch / "body.json"
        body.write_text(json.dumps(server.bodies[0]))
        shortest = [sys.executable, "-c", SHORTEST, str(body), server.url]
        base, ours = alternate(
            runs,
            lambda: cpu_to_first_request(shortest, server, environment, project),
            lambda: cpu_to_first_request(command, server, environment, project),
        )
        same = server.bodies[-1] == server.bodies[-2]
    low, high = statistics.median(base), statistics.median(ours)
    detail = f"{high:.2f} s against {low:.2f} s, same request: {'yes' if same else 'NO'}"
    name = "headless start to first request against the SDK alone, CPU"
    return Figure(name, ratio(ours, base), 1.15, detail=detail)


def cpu_to_first_request(
    command: list[str], server: RunningServer, environment: dict[str, str], cwd: Path
) -> float:
    """CPU seconds that the command has used when the server has received its first request."""
    before = len(server.message_requests)
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
            raise SystemExit(f"{command[:4]} ended without a request, exit code {process.returncode}")
        time.sleep(0.001)
    used = running_cpu(process.pid)
    process.wait()
    return used


def quiet_environment(home: Path) -> dict[str, str]:
    """An environment without keys, proxies and settings of the person who measures."""
    home.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(Path(__file__).parent.parent)}


if __name__ == "__main__":
    sys.exit(main())
