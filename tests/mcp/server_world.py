"""A home, an administrator's directory and a project, with files of servers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.load import load_settings
from mcode.config.places import Places
from mcode.config.trust import TrustStore
from mcode.mcp.scopes import gather

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.settings import Settings
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.scopes import Gathered, Wanted

STDIO = {"command": "server"}


@dataclass
class ServerWorld:
    """The directories of one test, and short ways to fill them and to gather servers from them."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    claude_directory: Path | None = None
    """Another agent's directory, where it is not the usual one."""

    @classmethod
    def fresh(cls, root: Path) -> ServerWorld:
        world = cls(root.resolve())
        world.project.mkdir(parents=True)
        return world

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.home / "src" / "app"

    @property
    def places(self) -> Places:
        etc = self.root / "etc"
        managed = (etc / "mcode", etc / "claude-code")
        return Places(
            self.home, self.home / ".mcode", self.claude_directory or self.home / ".claude", managed
        )

    def write(self, name: str, content: object) -> Path:
        """Write a file beneath the root: text as it is, anything else as JSON."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return path

    def project_servers(self, **servers: object) -> Path:
        return self.write("home/src/app/.mcp.json", {"mcpServers": servers})

    def user_servers(self, **servers: object) -> Path:
        return self.write("home/.mcode/mcp.json", {"mcpServers": servers})

    def claude(self, **content: object) -> Path:
        return self.write("home/.claude.json", content)

    def settings(self, start: Path | None = None) -> Settings:
        return load_settings(self.places, start or self.project)

    def gather(
        self, wanted: Wanted | None = None, *, start: Path | None = None, trust: TrustStore | None = None
    ) -> Gathered:
        return gather(
            self.places,
            start or self.project,
            self.settings(start),
            environment=self.environment,
            trust=trust or TrustStore(self.places),
            wanted=wanted,
        )

    def one(self, entry: object) -> tuple[ServerEntry | None, list[str]]:
        """Read one entry of the user's, and what is said about it."""
        self.user_servers(one=entry)
        gathered = self.gather()
        return next(iter(gathered.entries), None), said(gathered)


def said(gathered: Gathered) -> list[str]:
    """The problems, each as `severity key: text`."""
    return [f"{problem.severity} {problem.key}: {problem.text}" for problem in gathered.problems]
