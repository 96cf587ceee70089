"""Servers that really run in tests: the hostile one with a fault, or any program."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.call import Call
from mcode.mcp.entries import ServerEntry
from mcode.mcp.server import Surroundings
from mcode.mcp.servers import Servers
from mcode.tool import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from mcode.catalog.servers import ServerStatus
    from mcode.mcp.adapt import ForeignTool
    from mcode.mcp.server import Server
    from mcode.tool import Question, ToolResult

HOSTILE = Path(__file__).with_name("hostile_server.py")


def hostile(fault: str = "none", *arguments: str, name: str = "h", **more: Any) -> ServerEntry:
    """The entry of the hostile server with a fault."""
    args = ("-S", str(HOSTILE), fault, *arguments)  # without site packages it starts sooner
    written = {"command": sys.executable, "args": list(args)}
    return ServerEntry(
        name, "stdio", "user", None, command=sys.executable, args=args, written=written, **more
    )


@dataclass
class FakeServices:
    """What a running call may use; answers questions with `answers`, in order."""

    directory: Path
    answers: list[tuple[tuple[str, ...], ...] | None] = field(default_factory=list[Any])
    lines: list[str] = field(default_factory=list[str])
    asked: list[Question] = field(default_factory=list["Question"])
    call: Call = field(default_factory=lambda: Call("call-1", "mcp", {}))

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.directory)

    def progress(self, line: str) -> None:
        self.lines.append(line)

    def spill_path(self, suffix: str) -> Path:
        return self.directory / f"spill-{len(list(self.directory.iterdir()))}{suffix}"

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        raise NotImplementedError

    async def note_left(self, path: Path, new: bytes) -> None:
        raise NotImplementedError

    async def ask(self, questions: Sequence[Question]) -> tuple[tuple[str, ...], ...] | None:
        self.asked += questions
        return self.answers.pop(0)


@dataclass
class Live:
    """Servers in a directory of their own, outside any session."""

    root: Path
    servers: Servers
    services: FakeServices
    changes: list[str] = field(default_factory=list[str])
    """Names of servers whose tools have changed, one for each time."""

    def status(self, name: str = "h") -> ServerStatus:
        return next(each for each in self.servers.statuses() if each.name == name)

    def server(self, name: str = "h") -> Server:
        server = self.servers.get(name)
        assert server is not None
        return server

    def tools(self, name: str = "h") -> dict[str, ForeignTool]:
        """By the server's own name."""
        return {tool.definition.own_name: tool for tool in self.servers.tools(name, self.servers, 100_000)}

    async def call(self, tool: str, server: str = "h", /, **arguments: Any) -> ToolResult:
        return await self.tools(server)[tool].run(arguments, self.services)

    async def connected(self, name: str = "h") -> ServerStatus:
        """Connect and wait; the server must come up."""
        await self.servers.settle(60)
        status = self.status(name)
        assert status.state == "connected", status
        return status


@asynccontextmanager
async def live(
    root: Path, *entries: ServerEntry, environment: dict[str, str] | None = None, **around: Any
) -> AsyncGenerator[Live]:
    """Servers with their files in `root`; all are gone when the block ends."""
    project = root / "project"
    spills = root / "spills"
    for directory in (project, spills):
        directory.mkdir(parents=True, exist_ok=True)
    surroundings = Surroundings(
        start=project,
        environment={"PATH": os.environ["PATH"], "HOME": str(root), **(environment or {})},
        state=root / "state",
        logs=root / "logs",
        **around,
    )
    servers = Servers(entries, surroundings)
    servers.load()
    opened = Live(root, servers, FakeServices(spills))
    servers.listen(opened.changes.append)
    try:
        yield opened
    finally:
        await servers.close()


def runs(pid: int) -> bool:
    """Whether a process lives; one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
