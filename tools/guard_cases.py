"""The listed shell lines, and a scratch folder in which they are judged. Nothing of them is run here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.settings import RuleText, Settings, Source
from mcode.permissions.check import shell_call
from mcode.permissions.decide import Policy
from mcode.permissions.modes import Mode
from mcode.tool import Workspace

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from mcode.permissions.verdict import Verdict

LINES = Path(__file__).parents[1] / "tests/permissions/lines"
STUBS = ("pytest", "npm", "ruff", "make", "cargo", "python", "jq", "which")
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com")


@dataclass(frozen=True)
class Case:
    """One listed line."""

    id: str
    line: str
    kind: str = ""
    setup: str = ""
    rules: tuple[str, ...] = ()


def cases(name: str) -> tuple[Case, ...]:
    """The lines of a list: `hostile` or `everyday`."""
    found: list[Case] = []
    for text in (LINES / f"{name}.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(text)
        rules = tuple(entry.get("rules", ()))
        found.append(Case(entry["id"], entry["line"], entry.get("kind", ""), entry.get("setup", ""), rules))
    return tuple(found)


class Scratch:
    """A trusted folder with a repository, as the lists describe it."""

    def __init__(self, root: Path) -> None:
        """`root` is an empty directory; the folder is `root/w`, the home `root/h`, stub programs are in `root/p`."""
        self.root = root.resolve()
        self.folder = self.root / "w"
        self.path = f"{self.root / 'p'}:{os.environ['PATH']}"
        (self.root / "h").mkdir()
        _fill(self.folder)
        _add_stubs(self.root / "p")

    def policy(self, rules: Sequence[str] = (), mode: Mode = Mode.DEFAULT) -> Policy:
        """A policy for the folder with allow rules."""
        source = Source("user", None, self.folder, trusted=True)
        workspace = Workspace(self.folder, home=self.root / "h")
        settings = Settings(env={"PATH": self.path})
        texts = [RuleText(rule, "allow", source) for rule in rules]
        return Policy(settings, workspace, mode, cli_rules=texts, own=(self.root / "h/.mcode",))

    def judge(self, line: str, policy: Policy) -> Verdict:
        """The verdict about a line that the model sends."""
        return policy.decide(*shell_call(line))

    @contextmanager
    def after(self, setup: str) -> Generator[None]:
        """Carry out a case's own setup, and take it back afterwards."""
        kept = self.root / "kept"
        if not setup:
            yield
            return
        shutil.copytree(self.folder, kept, symlinks=True)
        subprocess.run(["bash", "-c", setup], cwd=self.folder, check=True, capture_output=True)
        try:
            yield
        finally:
            shutil.rmtree(self.folder)
            kept.rename(self.folder)


def _fill(folder: Path) -> None:
    for name in ("bin", "sub", "src", "tests"):
        (folder / name).mkdir(parents=True)
    for name in ("evil.sh", "bin/tool"):
        (folder / name).write_text("#!/bin/sh\ntouch PWN\n")
        (folder / name).chmod(0o755)
    for name, text in {
        "a.txt": "1\n2\n3\n",
        "b.txt": "1\n2\n",
        "README.md": "read\n",
        "package.json": "{}\n",
        "src/a.py": "def main():\n    pass  # TODO\n",
        "tests/test_a.py": "\n",
        "big": "".join(f"{number}\n" for number in range(2_000)),
    }.items():
        (folder / name).write_text(text)
    (folder / "-dash-dir").mkdir()
    with tarfile.open(folder / "t.tar", "w") as archive:
        archive.add(folder / "a.txt", "a.txt")
    commands = (
        ("init", "-q"),
        ("add", "a.txt"),
        ("commit", "-qm", "one"),
        ("add", "src"),
        ("commit", "-qm", "two"),
    )
    for command in commands:
        subprocess.run([*GIT, *command], cwd=folder, check=True, capture_output=True)
    for key in ("name", "email"):
        subprocess.run(["git", "config", f"user.{key}", "t@example.com"], cwd=folder, check=True)
    with (folder / "a.txt").open("a") as file:
        file.write("c\n")


def _add_stubs(directory: Path) -> None:
    directory.mkdir()
    for name in STUBS:
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(0o755)
