"""A home, an administrator's directories and a project in a scratch directory."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mcode.config.load import SETTING_SOURCES, load_settings
from mcode.config.places import Places

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.settings import Problem, Settings


@dataclass(frozen=True)
class World:
    """The directories of one test, and short ways to fill them."""

    root: Path
    places: Places
    project: Path

    def write(self, name: str, content: object) -> Path:
        """Write a file beneath the root: text as it is, anything else as JSON."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return path

    def load(
        self,
        *,
        flag: str | None = None,
        sources: frozenset[str] = SETTING_SOURCES,
        trusted: bool = False,
        start: Path | None = None,
    ) -> Settings:
        return load_settings(self.places, start or self.project, flag=flag, sources=sources, trusted=trusted)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run the real git in the project, without anybody's configuration."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "test",
            "GIT_AUTHOR_EMAIL": "test@example.invalid",
            "GIT_COMMITTER_NAME": "test",
            "GIT_COMMITTER_EMAIL": "test@example.invalid",
        }
        command = ["git", *arguments]
        ran = subprocess.run(
            command, cwd=cwd or self.project, env=environment, capture_output=True, text=True, check=True
        )
        return ran.stdout


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path.resolve()
    (root / "home/src/app").mkdir(parents=True)
    home = root / "home"
    places = Places(home, home / ".mcode", home / ".claude", (root / "etc/mcode", root / "etc/claude-code"))
    return World(root, places, home / "src/app")


def texts(settings: Settings, behavior: str) -> set[str]:
    """The rules of one behaviour."""
    return {rule.text for rule in settings.rules if rule.behavior == behavior}


def messages(settings: Settings, severity: str | None = None) -> str:
    """All problems (of one severity) as text."""
    return "\n".join(problem.message for problem in of_severity(settings, severity))


def of_severity(settings: Settings, severity: str | None) -> list[Problem]:
    return [problem for problem in settings.problems if severity in (None, problem.severity)]
