"""Figures of the full screen: keys, flushes, resizing, memory, rest, first frame.

    python -m tools.bench_ui [--runs N] [--only WORD]

Ratios within one run: against a bare Textual app that the same terminal starts, or against a key press in an
empty transcript. `--only` measures the groups whose name holds the word: frame, rest, long, old, stream, paced, work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pexpect

from mcode.model.script import parse_script
from mcode.ui.tui.old_blocks import KEPT
from tests.e2e.binary import Machine, endpoint
from tests.ui.tui.terminal import READY, ScreenTerminal
from tools import transcript_memory, ui_screen
from tools.measure import Figure, alternate, calibrate, compile_package, ratio, report, running_cpu
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import Callable

STEADY = 0.15
"""Share by which the calibration may vary over the run; a machine that varies more cannot be measured on."""

LATE = ("anthropic", "mcp", "pydantic", "httpx2", "quickjs", "tree_sitter")

TELL = """
import json, os, sys, time
def tell():
    if not os.path.exists(os.environ["TOLD"]):
        spent = time.process_time()
        modules = sorted({name.split(".")[0] for name in sys.modules})
        with open(os.environ["TOLD"] + ".new", "w") as file:
            json.dump([spent, modules], file)
        os.rename(os.environ["TOLD"] + ".new", os.environ["TOLD"])
"""

BASE = f"""{TELL}
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import Static, TextArea
class Bare(App):
    def compose(self):
        with VerticalScroll():
            yield Static("ready")
        yield TextArea()
    def post_display_hook(self):
        tell()
Bare().run()
"""

OURS = f"""{TELL}
from mcode.ui.tui import app
app.McodeApp.post_display_hook = lambda self: tell()
from mcode.__main__ import main
main()
"""

LINES = f"""{TELL}
from prompt_toolkit import renderer
render = renderer.Renderer.render
def told(self, *arguments, **options):
    render(self, *arguments, **options)
    tell()
renderer.Renderer.render = told
from mcode.__main__ import main
main()
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9, help="starts of each kind")
    parser.add_argument("--only", default="", help="a word of the groups to measure")
    options = parser.parse_args()
    groups: dict[str, Callable[[Path], list[Figure]]] = {
        "frame": lambda scratch: _first_frame(options.runs, scratch),
        "rest": _rest,
        "long": _long_session,
        "old": _old_texts,
        "stream": _streaming,
        "paced": _paced,
        "work": _working,
    }
    if not any(options.only in name for name in groups):
        parser.error(f"--only {options.only}: no group has that in its name; there are {', '.join(groups)}")
    compile_package()
    figures: list[Figure] = []
    first = calibrate()
    with tempfile.TemporaryDirectory() as scratch:
        for name, measure in groups.items():
            if options.only in name:
                figures += measure(Path(scratch) / name)
    steady = max(first, last := calibrate()) / min(first, last) - 1
    for figure in figures:
        row = {
            "figure": figure.name,
            "value": figure.value,
            "limit": figure.limit,
            "calibration": [first, last],
            "load": os.getloadavg()[0],
            "python": platform.python_version(),
            "textual": version("textual"),
        }
        print(json.dumps(row))
    code = report("ui", figures)
    if steady > STEADY:
        print(f"The machine was not steady: its speed varied by {steady:.0%}. These figures prove nothing.")
        return 2
    return code


def _first_frame(runs: int, scratch: Path) -> list[Figure]:
    scratch.mkdir()
    machine = Machine.fresh(scratch)
    with running_server(parse_script({"turns": []}, "bench")) as server:
        arguments = endpoint(server)
        modules: list[str] = []

        def ours() -> float:
            spent, found = _told(machine, OURS, *arguments)
            modules[:] = found
            return spent

        base, screen, plain = alternate(
            runs,
            lambda: _told(machine, BASE)[0],
            ours,
            lambda: _told(machine, LINES, *arguments, screen="0")[0],
        )
    high, lines = statistics.median(screen), statistics.median(plain)
    late = sorted(set(modules) & set(LATE))
    return [
        Figure("first frame against a bare app", ratio(screen, base), 1.5, detail=f"{high * 1000:.0f} ms"),
        Figure("slow libraries at the first frame", len(late), 0, "of them", ", ".join(late)),
        Figure("plain prompt against a bare app", ratio(plain, base), 0.75, detail=f"{lines * 1000:.0f} ms"),
    ]


def _told(machine: Machine, program: str, *arguments: str, screen: str = "1") -> tuple[float, list[str]]:
    """CPU seconds up to the first frame, as the child tells, and its modules."""
    told = machine.home / "told.json"
    told.unlink(missing_ok=True)
    child: Any = cast("Any", pexpect.spawn)(
        sys.executable,
        ["-c", program, *arguments],
        cwd=str(machine.project),
        env={
            **machine.environment,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "MCODE_SCREEN": screen,
            "TOLD": str(told),
        },
        dimensions=(30, 100),
    )
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with suppress(pexpect.TIMEOUT, pexpect.EOF):
            child.read_nonblocking(65536, 0.05)
        if told.exists() and told.stat().st_size:
            break
    child.kill(signal.SIGKILL)
    child.wait()
    spent, modules = json.loads(told.read_text())
    return spent, modules


def _rest(scratch: Path) -> list[Figure]:
    scratch.mkdir()
    machine = Machine.fresh(scratch)
    with (
        running_server(parse_script({"turns": [{"reply": "Done."}]}, "bench")) as server,
        ScreenTerminal(machine, *endpoint(server)) as terminal,
    ):
        terminal.wait_for(READY)
        terminal.say("hello")
        terminal.wait_for("Done.")
        terminal.pump(4.0)
        written, spent = len(terminal.written), running_cpu(terminal.child.pid)
        terminal.pump(10.0)
        share = (running_cpu(terminal.child.pid) - spent) / 10
        bytes_written = len(terminal.written) - written
    woken = asyncio.run(ui_screen.wakings(scratch / "wakings"))
    told = f"{woken['ours']} callbacks in 5 s, a bare app {woken['bare']}"
    return [
        Figure("CPU at rest", share * 100, 1, "% of a core"),
        Figure("bytes written at rest", bytes_written, 0, "bytes"),
        Figure("wakings at rest by mcode", max(0, woken["ours"] - woken["bare"]), 0, "of them", told),
    ]


def _long_session(scratch: Path) -> list[Figure]:
    found = asyncio.run(ui_screen.long_session(scratch))
    key = found["idle key"]
    drawn = asyncio.run(ui_screen.resuming(scratch / "drawn"))
    resumed = asyncio.run(ui_screen.resumed(scratch / "resumed"))
    listed = asyncio.run(ui_screen.many_tools(scratch / "tools"))
    wall = f"{resumed['wall']:.2f} s by the clock"
    return [
        Figure(
            "key at 20,000 messages", found["key at 20,000"] / key, 1.3, "keys", f"{key * 1000:.1f} ms idle"
        ),
        Figure("append at 20,000 against at 100", found["append at 20,000"] / found["append at 100"], 2),
        Figure("resize at 20,000", found["resize at 20,000"] / key, 10, "keys"),
        Figure("focus in or out at 20,000", found["focus at 20,000"] / key, 4, "keys"),
        Figure("page up at 20,000", found["scroll at 20,000"] / key, 10, "keys"),
        Figure("memory of 1,000 messages", found["memory"], 1, "MiB over twice the text"),
        Figure("paste of 10,000 lines", found["paste"] / key, 60, "keys"),
        Figure("screen of 2,000 resumed messages", drawn, 2, "s of CPU"),
        Figure("journal, agent and screen of 2,000 messages", resumed["resumed"], 2, "s of CPU", wall),
        Figure("key in the resumed session", resumed["key"] / key, 1.3, "keys"),
        Figure("page up in it", resumed["scroll"] / key, 10, "keys"),
        Figure("resize of it", resumed["resize"] / key, 10, "keys"),
        Figure(
            "/tools with 2,000 tools, to its first rows", listed / key, 10, "keys", f"{listed * 1000:.0f} ms"
        ),
    ]


def _old_texts(scratch: Path) -> list[Figure]:
    """10,000 blocks with long outputs: as they are, against a run in which no text leaves the memory."""
    del scratch
    moved, whole = transcript_memory.in_own_process(KEPT), transcript_memory.in_own_process(10**9)
    told = f"{moved['taken'] / 2**20:.0f} MiB against {whole['taken'] / 2**20:.0f}"
    return [
        Figure(
            "memory of 10,000 blocks against all in memory", moved["taken"] / whole["taken"], 0.4, detail=told
        ),
        Figure("page of old texts against one in memory", moved["page"] / whole["page"], 1.5),
        Figure("longest step of putting texts away", moved["step"] * 1000, 50, "ms of CPU"),
    ]


def _streaming(scratch: Path) -> list[Figure]:
    found = asyncio.run(ui_screen.streaming(scratch))
    ratio = found["last fifth"] / found["first fifth"]
    detail = f"{found['first fifth'] * 1000:.1f} ms at first"
    return [
        Figure("flush at the end of 200 KB against at first", ratio, 1.3, detail=detail),
        Figure("bytes of a flush against its changed rows", found["bytes"], 1.2),
        Figure("bytes of 20 flushes when scrolled away", found["bytes away"], 0, "bytes"),
    ]


def _paced(scratch: Path) -> list[Figure]:
    fast = asyncio.run(ui_screen.paced(scratch / "fast"))
    slow = asyncio.run(ui_screen.paced(scratch / "slow", letters=80, seconds=10.0))
    return [
        Figure("CPU at 2,000 tokens a second, 200 KB", fast["share"] * 100, 35, "% of a core"),
        Figure("characters not shown at its end", fast["backlog"], 0, "characters"),
        Figure("key while that runs, 95th percentile", fast["key"], 5, "keys"),
        Figure("the same in CPU time", fast["key seconds"] * 1000, 16, "ms"),
        Figure("key at 200 tokens a second, 95th percentile", slow["key"], 5, "keys"),
    ]


def _working(scratch: Path) -> list[Figure]:
    found = asyncio.run(ui_screen.working(scratch))
    return [
        Figure("CPU while a call runs", found["at 10"] * 100, 3, "% of a core"),
        Figure("the same after 1,000 messages", found["at 1000"] * 100, 3, "% of a core"),
        Figure("after 1,000 messages against after 10", found["at 1000"] / found["at 10"], 1.3),
    ]


if __name__ == "__main__":
    sys.exit(main())
