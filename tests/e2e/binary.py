"""Driving the real program: a home of its own, a copy of the fixture project, and the loopback server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.nursery import Order, Piped, nursery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.messages_server import RunningServer

ROOT = Path(__file__).parents[2]
FIXTURE = Path(__file__).parent / "fixture_project"
PATIENCE = 120.0
"""Seconds that a busy machine may take for one run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How one run of mcode ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's machine: a home directory and one project."""

    home: Path
    project: Path

    @classmethod
    def fresh(cls, directory: Path) -> Machine:
        """A new home, and a copy of the fixture project."""
        home, project = directory / "home", directory / "project"
        home.mkdir()
        shutil.copytree(FIXTURE, project)
        return cls(home, project)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home), "PWD": str(self.project), "PYTHONPATH": str(ROOT)}

    @property
    def sessions(self) -> list[Path]:
        """Journals of all sessions, oldest first."""
        found = (self.home / ".mcode" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def settings(self, value: dict[str, Any]) -> None:
        """Write the user's settings file."""
        path = self.home / ".mcode" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mcode", *arguments]

    def run(
        self,
        *arguments: str,
        server: RunningServer | None = None,
        stdin: str = "",
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        """Run mcode to its end; with a server, as its keyless endpoint and with a model's name.

        It is forked from a process that has everything loaded (see `nursery`), unless the environment says how
        Python itself starts.
        """
        around = {**self.environment, **(environment or {})}
        given = [*arguments, *endpoint(server)]
        if not any(name.startswith("PYTHON") for name in environment or {}):
            order = Order(given, cwd or self.project, around)
            return Ran(*nursery().run(order, stdin.encode(), PATIENCE))
        ended = subprocess.run(
            self.command(*given),
            cwd=cwd or self.project,
            env=around,
            input=stdin.encode(),
            capture_output=True,
            timeout=PATIENCE,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def start(
        self,
        *arguments: str,
        server: RunningServer | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        closed: Sequence[int] = (),
    ) -> Piped:
        """Start mcode, forked likewise, and return at once; `closed`: streams that it has not."""
        order = Order([*arguments, *endpoint(server)], self.project, self.environment, closed=closed)
        return nursery().begin(order, stdin, stdout)


def endpoint(server: RunningServer | None) -> Sequence[str]:
    return () if server is None else ("--model", "scripted-1", "--base-url", server.url)
