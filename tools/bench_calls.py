"""A long session of tool calls: what mcode adds to each call, and whether requests and memory grow as they should.

    python -m tools.bench_calls [--calls N] [--rounds N]

A scripted model makes N Read calls, one a message. Afterwards a bare loop over the SDK sends the very same
bodies and reads the same answers; the difference of the medians is what a call costs beside the SDK's own time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.request import strip_cache_marks
from mcode.model.script import parse_script
from tools.bench_start import quiet_environment
from tools.measure import Figure, report, resident_memory
from tools.messages_server import running_server

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.script import Script
    from tools.messages_server import Recorded, RunningServer

BARE_LOOP = """\
import json, sys
from anthropic import Anthropic
client = Anthropic(api_key="none", base_url=sys.argv[2], max_retries=0)
with open(sys.argv[1]) as bodies:
    for line in bodies:
        body = json.loads(line)
        body.pop("stream")
        for event in client.messages.create(**body, stream=True):
            pass
"""

FILE_LINES = 40
"""Lines of the file that is read again and again: about 2 KB."""

MEMORY_LIMIT = 1.10
"""Growth of memory over the second half of the session, beside what the history itself needs."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3, help="how often both sessions run, in turn")
    options = parser.parse_args()
    ours: list[float] = []
    bare: list[float] = []
    growth: list[float] = []
    requests: list[Recorded] = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(options.rounds):
            directory = Path(scratch) / str(number)
            directory.mkdir()
            requests, memory = _run_mcode(options.calls, directory)
            ours += _gaps(requests)
            growth.append(memory)
            bare += _gaps(_run_bare(requests, options.calls, directory))
        appended = _grows_only_by_appending(requests)
    difference = (statistics.median(ours) - statistics.median(bare)) * 1000
    detail = f"{statistics.median(ours) * 1000:.1f} ms against {statistics.median(bare) * 1000:.1f} ms"
    return report(
        f"{options.calls} Read calls",
        [
            Figure("a call above the bare SDK loop, median", difference, 5.0, "ms", detail),
            Figure("memory at the last call against half-way", statistics.median(growth), MEMORY_LIMIT),
            Figure("requests whose prefix changed", float(appended), 0.0, "requests"),
        ],
    )


def script_of_reads(calls: int, path: Path) -> Script:
    """A model that reads one file again and again, then ends."""
    turns = [
        {"reply": {"blocks": [_read(number, path)], "stop_reason": "tool_use"}} for number in range(calls)
    ]
    return parse_script({"turns": [*turns, {"reply": "Done."}]}, "bench")


def _read(number: int, path: Path) -> JsonObject:
    return {"type": "tool_use", "id": f"toolu_{number:06}", "name": "Read", "input": {"file_path": str(path)}}


def _run_mcode(calls: int, scratch: Path) -> tuple[list[Recorded], float]:
    """The requests of the session, and memory at its end over memory half-way."""
    project = scratch / "project"
    project.mkdir()
    path = project / "notes.txt"
    path.write_text(
        "\n".join(f"line {number}: forty-eight characters of something" for number in range(FILE_LINES))
    )
    with running_server(script_of_reads(calls, path)) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "mcode", "-p", "read", "--model", "m", "--base-url", server.url],
            env=quiet_environment(scratch / "home"),
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        half = _memory_at(server, calls // 2, process.pid)
        full = _memory_at(server, calls, process.pid)
        process.wait()
        return server.message_requests, full / half


def _memory_at(server: RunningServer, count: int, process: int) -> float:
    server.wait_for(count, timeout=120)
    return resident_memory(process)


def _run_bare(requests: list[Recorded], calls: int, scratch: Path) -> list[Recorded]:
    bodies = scratch / "bodies.jsonl"
    bodies.write_text("".join(jsontext.dump(request.json) + "\n" for request in requests))
    with running_server(script_of_reads(calls, scratch / "project" / "notes.txt")) as server:
        subprocess.run(
            [sys.executable, "-c", BARE_LOOP, str(bodies), server.url],
            env=quiet_environment(scratch / "home"),
            check=True,
        )
        return server.message_requests


def _gaps(requests: list[Recorded]) -> list[float]:
    """Seconds from each request to the next."""
    times = [request.received for request in requests]
    return [later - earlier for earlier, later in itertools.pairwise(times[1:])]


def _grows_only_by_appending(requests: list[Recorded]) -> int:
    """How many requests do not begin with everything that the one before had sent."""
    broken = 0
    for earlier, later in itertools.pairwise(requests):
        before, after = strip_cache_marks(earlier.json), strip_cache_marks(later.json)
        same = all(before[key] == after[key] for key in ("model", "system", "tools"))
        messages = json.dumps(before["messages"])[:-1]
        broken += not (same and json.dumps(after["messages"]).startswith(messages))
    return broken


if __name__ == "__main__":
    sys.exit(main())
